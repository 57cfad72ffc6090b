-- expect: solve_without_table.lua:6: job:solve: nothing says when to stop
local ec = require "eciton"
local job = ec.job{ name = "a" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:solve()
