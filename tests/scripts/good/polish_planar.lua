-- expect: the polish lowers side lobes of a plane
-- refuse: time limit
-- long: three searches, two of them polished
-- The polish of many elements on a u-v grid: it is worth decibels, keeps the distances, and gives the same design
-- whenever it is run (its time limit is far away).
local ec = require "eciton"

local function lowest(name, polish)
    local job = ec.job{ name = name, seed = 3 }
    local start = { x = {}, y = {} }
    for i = 0, 39 do
        start.x[i + 1] = -2.7 + 0.6 * (i % 10) + 0.08 * math.sin(7 * i)
        start.y[i + 1] = -1.2 + 0.8 * (i // 10) + 0.1 * math.cos(5 * i)
    end
    local x = job:real{ name = "x", count = 40, min = -3, max = 3, start = start.x }
    local y = job:real{ name = "y", count = 40, min = -1.5, max = 1.5, start = start.y }
    job:subject_to("distance", ec.min_distance{ x = x, y = y }, { min = 0.45 })
    local array = ec.array{ x = x, y = y, wavelength = 1, u = ec.range(-1, 1, 53), v = ec.range(-1, 1, 31) }
    job:minimize("sll_db", array:sll_db{ look_u = 0, look_v = 0, exclude_u = 0.2, exclude_v = 0.4 })
    local best = job:solve{ population = 24, evaluations = 480, polish = polish, polish_designs = 1,
        polish_seconds = 600 }
    assert(best.status ~= "infeasible", name .. " lost the distances")
    return best.objectives.sll_db
end

local searched, polished = lowest("searched", false), lowest("polished", true)
assert(polished < searched - 6, ("%.3f dB from %.3f dB"):format(polished, searched))
assert(lowest("again", true) == polished, "the second run is another")
print("the polish lowers side lobes of a plane")
