-- expect: best is finite
-- Sphere, but NaN for x[1] < 0, and every start lies in the NaN half.
local ec = require "eciton"
local job = ec.job{ name = "half_nan", seed = 1 }
local start = {}
for i = 1, 20 do start[i] = {-i / 20, i / 20, 0.7 - i / 15} end
local x = job:real{ name = "x", count = 3, min = -1, max = 1, start = start }
job:minimize("f", ec.sum(x ^ 2) + 0 * ec.sqrt(x[1]))
local best = job:solve{ method = "rand1bin", population = 20, generations = 200 }
assert(best.failed > 0, "failures are counted")
assert(best.objectives.f == best.objectives.f and best.objectives.f < 0.1, best.objectives.f)
print("best is finite")
