-- expect: unknown_search.lua:6: job:solve: key 'method': unknown method 'genetic', known are lshade, rand1bin
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:solve{ method = "genetic", generations = 5 }
