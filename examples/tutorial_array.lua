-- The tutorial of array synthesis (docs/guide/tutorial_array.md): 16 equal elements at 10 GHz on a line of 240 mm,
-- first evenly spaced, then with positions for the lowest side lobes, with and without a limit on the beam width.
-- Expected: -13.2 dB evenly spaced; -20.8 dB with free positions.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local u = ec.range(-1, 1, 601)

local even = ec.array{ x = ec.geometry.line{ count = 16, spacing = 16*mm }.x, frequency = 10*GHz, u = u }
print(("evenly spaced: side lobes %.2f dB, beam width %.2f degrees"):format(ec.value(even:sll_db(), even:hpbw_deg())))

local job = ec.job{ name = "line16", seed = ec.arg("seed", 1) }
local x = job:spaced{ name = "x", count = 16, aperture = 240*mm, min_gap = 13*mm }
local array = ec.array{ x = x, frequency = 10*GHz, u = u }
job:minimize("sll_db", array:sll_db{ look_u = 0, exclude_u = ec.arg("exclude_u", 0.13) })
job:record("beam_deg", array:hpbw_deg())
local limit = ec.arg("beam_deg", 0)
if limit > 0 then
    job:subject_to("beam width", array:hpbw_deg(), { max = limit })
end
local best = job:solve{ evaluations = ec.quick and 2000 or 60000, polish = true }
print(("free positions: side lobes %.2f dB, beam width %.2f degrees, directivity %.2f dB"):format(
    best.objectives.sll_db, best.recorded.beam_deg, best:value(array:directivity_db())))
