-- expect: sweep_no_goal.lua:5: job:sweep: job 'bad' has nothing to evaluate: no objective, constraint or record
local ec = require "eciton"
local job = ec.job{ name = "bad" }
job:real{ name = "width", min = 1, max = 2 }
job:sweep{ points = { width = 3 } }
