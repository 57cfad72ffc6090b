-- flags: --out OUT
-- file: best.csv
-- file: history.csv
-- file: saved.csv
-- file: saved.npy
-- expect: every kind of variable
local ec = require "eciton"
local job = ec.job{ name = "variables", seed = 2 }
local r = job:real{ name = "r", min = -1, max = 1 }
local n = job:integer{ name = "n", count = 2, min = {-3, 2}, max = {3, 6} }
local bits = job:binary{ name = "bits", count = 8, sum = 3 }
local item = job:choice{ name = "item", from = {0.8, 1.6, 3.2} }
local order = job:choice{ name = "order", from = 5, count = 3, distinct = true }
local x = job:spaced{ name = "x", count = 5, aperture = 4, min_gap = 0.5, symmetric = true }
job:maximize("f", item - ec.square(r - 0.5) - ec.sum(ec.abs(n)) + ec.sum(bits * ec.range(1, 8, 8)) + order[1] - x[2])
job:subject_to("r", r, { min = 0.25 })
job:record("x", x)
job:record("gap", ec.min_gap(x))
local best = job:solve{ evaluations = 20000 }
local v = best.variables
assert(math.abs(v.r - 0.5) < 0.2 and v.n[1] == 0 and v.n[2] == 2, tostring(v.n))
assert(v.item == 3 and best:value(item) == 3.2, v.item)
assert(v.order[1] == 5 and v.order[2] ~= v.order[3], tostring(v.order))
assert(v.bits:sum() == 3 and v.bits[8] == 1 and v.bits[6] == 1, tostring(v.bits))
assert(v.x[1] == -2 and v.x[5] == 2 and math.abs(v.x[2] + v.x[4]) < 1e-12 and math.abs(v.x[3]) < 1e-12)
assert(best.recorded.gap >= 0.5 - 1e-12 and best.recorded.x[2] == v.x[2])
assert(best.constraints.r <= 0 and best.violation == 0 and best.seed == 2)
best:save("saved.csv")
v.x:save("saved.npy")
print("every kind of variable")
