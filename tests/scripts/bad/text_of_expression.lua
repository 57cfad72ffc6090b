-- expect: text_of_expression.lua:4: an expression has no value while the script runs, so '..' cannot put it into a text
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", min = 0, max = 1 }
print("x is " .. x)
