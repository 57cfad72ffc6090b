-- expect: unknown_method_of_expression.lua:4: expressions have no method 'summ' (did you mean 'sum'?)
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", count = 3, min = 0, max = 1 }
local y = x:summ()
