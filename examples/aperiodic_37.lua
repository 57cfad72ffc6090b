-- 37 equal isotropic elements, symmetric, on a line of 21.996 wavelengths, ends pinned, spacing at
-- least half a wavelength: the lowest side lobes. The problem of Chen, He and Han, IEEE Trans. AP
-- 54, 2006 (about -20.56 dB). Expected: -21.0919 dB for almost every seed.
local ec = require "eciton"
local job = ec.job{ name = "aperiodic_37", seed = ec.arg("seed", 1) }

local x = job:spaced{ name = "x", count = 37, aperture = 21.996, min_gap = 0.5, symmetric = true }
local array = ec.array{ x = x, wavelength = 1, u = ec.range(0, 1, 401) }

job:minimize("sll_db", array:sll_db{ look_u = 0, exclude_u = 0.0495 })
job:record("x", x)
job:record("min_gap", ec.min_gap(x))
local best = job:solve{ evaluations = 100000, polish = true }

print("side lobes " .. best.objectives.sll_db .. " dB")
print("directivity " .. best:value(array:directivity_db()) .. " dB")
