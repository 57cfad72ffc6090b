-- expect: nlopt_unknown.lua:6: job:solve: key 'method': unknown method 'nlopt_slsqp' (did you mean 'nlopt_ld_slsqp'?), known are lshade
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x ^ 2)
job:solve{ method = "nlopt_slsqp", evaluations = 100 }
