-- expect: unknown_option.lua:6: job:solve: unknown key 'populaton' (did you mean 'population'?)
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x * x)
job:solve{ populaton = 20, generations = 5 }
