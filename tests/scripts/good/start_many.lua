-- expect: start: 5 designs are given, more than the population of 4: the first 4 are taken
local ec = require "eciton"
local job = ec.job{ name = "many" }
local x = job:real{ name = "x", count = 2, min = 0, max = 1, start = {{0.5, 0.5}, {0, 0}, {0, 1}, {1, 0}, {0.1, 0.1}} }
job:minimize("f", ((x - 0.1)^2):sum())
local best = job:solve{ method = "rand1bin", population = 4, generations = 1 }
assert(math.abs(best.objectives.f - 0.02) < 1e-12)
