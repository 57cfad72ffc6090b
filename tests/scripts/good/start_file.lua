-- Designs of earlier runs begin a search: tables, best.csv and what best:save writes.
-- flags: --out OUT --data OUT
-- expect: start: 'start_designs.csv': 3 values lie outside of the bounds and moved onto them; the first is r = 7 in line 4 (-1 to 1)
-- expect: start: r = 3 lies outside its bounds, -1 to 1, and is moved to 1
-- expect: variable 'fixed[2]' is fixed at 5, its min and max
-- expect: every layout
local ec = require "eciton"

local function problem(start)
    local job = ec.job{ name = "start", seed = 3 }
    local r = job:real{ name = "r", min = -1, max = 1, start = start }
    local n = job:integer{ name = "n", count = 2, min = -3, max = 6 }
    local bits = job:binary{ name = "bits", count = 4, sum = 2 }
    local item = job:choice{ name = "item", from = 4, count = 3, distinct = true }
    local x = job:spaced{ name = "x", count = 5, aperture = 6, min_gap = 0.5 }
    local fixed = job:real{ name = "fixed", count = 2, min = {0, 5}, max = {1, 5} }
    job:minimize("cost", (r - 0.25)^2 + ((n - ec.constant{1, 4})^2):sum() + bits[1] + bits[3]
        + (item[1] - 3)^2 + item[2] + (x[3] - 1)^2 + fixed[1] + 0 * fixed[2])
    job:record("middle", x[3])
    return job
end

local first = problem():solve{ method = "rand1bin", population = 40, evaluations = 12000 }
first:save("saved.csv")
assert(first.objectives.cost < 1.01)
for _, file in ipairs{"best.csv", "saved.csv"} do
    local again = problem():solve{ method = "rand1bin", population = 8, generations = 1, start = file }
    assert(math.abs(again.objectives.cost - first.objectives.cost) < 1e-9, file)
    for i = 1, 3 do
        assert(again.variables.item[i] == first.variables.item[i], file)
    end
end

local table_ = problem(3):solve{ method = "lshade", population = 6, generations = 1, start = "start_designs.csv" }
assert(table_.objectives.cost < 1e-9 + 1, table_.objectives.cost)
assert(table_.variables.r == 0.25 and table_.variables.n[2] == 4 and table_.variables.bits[2] == 1)
print("every layout")
