-- expect: cmaes_population.lua:6: job:solve: key 'population': 3 is too small, method 'cmaes' needs at least 4
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:solve{ method = "cmaes", population = 3, generations = 5 }
