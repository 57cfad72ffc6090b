-- expect: value_of_variable.lua:4: ec.value: the expression has design variables
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", min = 0, max = 1 }
print(ec.value(x))
