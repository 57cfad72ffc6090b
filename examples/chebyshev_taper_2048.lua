-- 2,048 equal elements over 1,000 wavelengths for the pattern of a 1,024-element -26 dB
-- Dolph-Chebyshev array of pitch 1000/1023, by their density alone. The weights of that array rise
-- to 19 times the centre's at its ends, which would need spacings far below the smallest one of
-- 0.33; the largest allowed is 1.8. Elements at the quantiles of Taylor's line source (density
-- tapers: W. Doyle, RAND RM-3530, 1963) are the start; a spline then moves them. Expected: side
-- lobes of -26.13 dB after -25.97 dB of the start, at the same width of the beam; first null at
-- 1.022 times that of the Chebyshev array; the smallest spacing is what stops the search. Under a
-- minute on two CPU cores.
local ec = require "eciton"
local n, aperture, null = 2048, 1000, 1.275e-3 -- null: the first zero of the Chebyshev pattern, in u
local edge = 1.2e-3 - 1e-9 -- where the start's main beam has come down to -26 dB: the search keeps that width
local job = ec.job{ name = "chebyshev_taper_2048", seed = ec.arg("seed", 1) }

-- The start: elements at the quantiles of Taylor's line source, which unlike Chebyshev's has no
-- peaks at its ends.
local density = ec.taper.taylor{ count = 20000, sll_db = -26, nbar = 20 }
local start = ec.geometry.quantiles{ count = n, aperture = aperture, density = density, ends = true }
local right, at = {}, {} -- the right half, and where it is from -1 to 1
for i = 1, n // 2 do
    right[i] = start.x[n // 2 + i]
    at[i] = 4 * right[i] / aperture - 1
end

-- What is searched: by how much each element is moved, a spline that is 0 in the middle and at the
-- end.
local shift = job:real{ name = "shift", count = 24, min = -2, max = 2, start = ec.range(0, 0, 24) }
local half = ec.constant(right) + ec.basis.bspline{ coefficients = ec.concat(0, shift, 0), at = at }
local x = ec.mirror(half, { odd = true })
job:subject_to("spacing", half:slice(2, n // 2) - half:slice(1, n // 2 - 1), { min = 0.33, max = 1.8 })
job:subject_to("middle", 2 * half[1], { min = 0.33, max = 1.8 })

local array = ec.array{ x = x, wavelength = 1, u = ec.range(0, 1, 10001) }
job:minimize("sll_db", array:sll_db{ look_u = 0, exclude_u = edge })
job:record("x", x)
local best = job:solve{ population = 64, evaluations = 20000, polish = true, polish_designs = 1, polish_seconds = 150 }

local function report(name, positions)
    local gaps = positions:slice(2, n) - positions:slice(1, n - 1)
    local whole = ec.array{ x = positions, wavelength = 1, u = ec.range(0, 1, 20001), precision = "double" }
    local beam = ec.array{ x = positions, wavelength = 1, u = ec.range(-4 * null, 4 * null, 4001),
        precision = "double" }
    local found = { sll_db = ec.value(whole:sll_db{ look_u = 0, exclude_u = edge }),
        null = math.sin(ec.value(beam:fnbw_deg()) / 2 * ec.deg),
        least = ec.value(gaps:min()), most = ec.value(gaps:max()) }
    print(("%-10s side lobes %.3f dB, first null at u = %.4e (%.3f of Chebyshev's), spacings %.3f to %.3f")
        :format(name, found.sll_db, found.null, found.null / null, found.least, found.most))
    return found
end
report("quantiles", ec.constant(start.x))
local found = report("found", ec.constant(best:value(x)))
assert(found.sll_db <= -25.5 and found.null <= 1.1 * null and found.least >= 0.33 and found.most <= 1.8)
