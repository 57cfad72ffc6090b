-- expect: f
-- refuse: warning
local ec = require "eciton"
local job = ec.job{ name = "small", seed = ec.arg("seed", 3) }
local x = job:real{ name = "x", count = 2, min = -1, max = 2 }
job:minimize("f", ec.sum(x ^ 2))
local best = job:solve{ population = 20, generations = 60 }
assert(best.objectives.f < 1e-2 and best.status == "feasible" and best.found)
