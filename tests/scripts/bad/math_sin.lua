-- expect: math_sin.lua:4: math.sin wants numbers and got an expression: use ec.sin
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", min = 0, max = 1 }
local y = math.sin(x)
