-- 17 equal isotropic elements on a line of 9.744 wavelengths, ends pinned, spacing at least half a
-- wavelength, positions free: the lowest side lobes. The problem of Chen, He and Han, "A modified
-- real GA for the sparse linear array synthesis with multiple constraints", IEEE Trans. AP 54, 2006
-- (about -19.8 dB). Expected: -20.1443 dB for every seed.
local ec = require "eciton"
local job = ec.job{ name = "aperiodic_17", seed = ec.arg("seed", 1) }

local x = job:spaced{ name = "x", count = 17, aperture = 9.744, min_gap = 0.5 }
-- equal weights: the pattern of -u is that of u
local array = ec.array{ x = x, wavelength = 1, u = ec.range(0, 1, 241) }

job:minimize("sll_db", array:sll_db{ look_u = 0, exclude_u = 0.105 })
job:record("x", x)
job:record("min_gap", ec.min_gap(x))
local best = job:solve{ evaluations = 60000, polish = true }

print("side lobes " .. best.objectives.sll_db .. " dB")
print("directivity " .. best:value(array:directivity_db()) .. " dB")
