-- expect: polish_designs.lua:6: job:solve: key 'polish_designs': 65 is not allowed, it must be at least 1 and at most 64
local ec = require "eciton"
local job = ec.job{ name = "a" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:solve{ generations = 3, polish = true, polish_designs = 65 }
