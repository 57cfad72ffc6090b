-- expect: scalar_start.lua:4: job:real: key 'start': design 1 has 3 values, but the variable is a single number
local ec = require "eciton"
local job = ec.job{ name = "a" }
job:real{ name = "x", min = 0, max = 1, start = { {0.5, 0.6, 0.7} } }
