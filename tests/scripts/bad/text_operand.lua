-- expect: text_operand.lua:4: right side of add: wants a number, a list or an expression, got the text 'one'
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", min = 0, max = 1 }
local y = x + "one"
