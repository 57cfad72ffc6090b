-- expect: start_missing.lua:6: job:solve: key 'start': 'start_missing.csv' has no column 'x[3]'; expected are x[1] to x[3], n
local ec = require "eciton"
local job = ec.job{ name = "columns" }
local x, n = job:real{ name = "x", count = 3, min = 0, max = 1 }, job:integer{ name = "n", min = 0, max = 9 }
job:minimize("f", x:sum() + n)
job:solve{ generations = 2, start = "start_missing.csv" }
