-- expect: aco_no_ants.lua:6: job:solve: key 'population': 0 is not allowed
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local b = job:binary{ name = "b", count = 5 }
job:minimize("f", b:sum())
job:solve{ method = "aco", population = 0, generations = 5 }
