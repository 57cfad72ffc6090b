-- expect: the smooth metrics lead where the true ones want to go
-- refuse: time limit
-- A p-norm and a soft maximum tend to what they stand for, lie below it, and can be polished as they are.
local ec = require "eciton"
local job = ec.job{ name = "smooth", seed = 5 }
local amplitude = job:real{ name = "amplitude", count = 16, min = 0.2, max = 1 }
local x = {}
for i = 1, 16 do x[i] = 0.5 * i end
local array = ec.array{ x = x, amplitude = amplitude, wavelength = 1, u = ec.range(-1, 1, 401) }
local lobes = { look_u = 0, exclude_u = 0.2 }
local mask = { { -1, -0.2, max = -38 }, { 0.2, 1, max = -42 } }
local function soft(s) return array:sll_db{ look_u = 0, exclude_u = 0.2, soft = s } end
local function norm(p) return array:excess_db{ look_u = 0, mask = mask, p = p } end

job:minimize("soft", soft(1))
job:record("sll", array:sll_db(lobes))
local best = job:solve{ population = 32, evaluations = 320, polish = true, polish_designs = 1, polish_seconds = 600 }
assert(best.recorded.sll < -32, best.recorded.sll)

local sll, excess = best:value(array:sll_db(lobes)), best:value(array:excess_db{ look_u = 0, mask = mask })
local before = -math.huge
for _, s in ipairs{ 4, 2, 1, 0.5, 0.1, 0.02 } do
    local value = best:value(soft(s))
    assert(value > before and value < sll, s)
    before = value
end
assert(sll - before < 0.3)
before = 0
for _, p in ipairs{ 2, 4, 8, 32, 128, 1000 } do
    local value = best:value(norm(p))
    assert(value > before and value < excess + 1e-9, p)
    before = value
end
assert(excess - before < 0.1)
print("the smooth metrics lead where the true ones want to go")
