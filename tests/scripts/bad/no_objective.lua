-- expect: no_objective.lua:5: job:solve: the job has no objective: call job:minimize or job:maximize first
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:solve{ generations = 5 }
