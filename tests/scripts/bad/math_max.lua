-- expect: math_max.lua:4: math.max wants numbers and got an expression: use ec.max
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", min = 0, max = 1 }
local y = math.max(x, 3)
