-- Sum and difference beams of a monopulse tracker on shared positions: 20 elements on 9.5
-- wavelengths, equal weights for the sum, weights of their own for the difference (odd, at most 14
-- dB apart), all positions free and symmetric. The sum's side lobes are minimised while the
-- difference's stay below -20 dB. On even half wavelengths the equal weights give -13.2 dB;
-- Bayliss' weights (E. T. Bayliss, Bell Syst. Tech. J. 47, 1968) are the even line's difference.
-- Measured for seed 1: sum -19.7 dB, difference -20.0 dB. About 8 s on two CPU cores.
local ec = require "eciton"
local job = ec.job{ name = "monopulse", seed = ec.arg("seed", 1) }
local count, aperture = 20, 9.5

local x = job:spaced{ name = "x", count = count, aperture = aperture, min_gap = 0.4, symmetric = true }
local half = job:real{ name = "difference", count = count // 2, min = 0.1, max = 1 }
local weights = ec.mirror(half, { odd = true })

-- two beams of one array: what they share is computed once
local sum = ec.array{ x = x, wavelength = 1, u = ec.range(-1, 1, 401) }
local difference = sum:with{ amplitude = weights }

-- the difference's main beam is both lobes beside its null
job:minimize("sum_sll_db", sum:sll_db{ exclude_u = 0.1 })
job:subject_to("difference_sll_db", difference:sll_db{ look_u = 0, exclude_u = 0.19 }, { max = -20 })
job:subject_to("dynamic_range_db", difference:dynamic_range_db(), { max = 14 })
job:record("difference_db", difference:sll_db{ look_u = 0, exclude_u = 0.19 })
-- slope of the difference at the null over the steepest that the positions allow
job:record("slope", ec.sum(weights * x) / (ec.norm(weights) * ec.norm(x)))
local best = job:solve{ population = 160, evaluations = 1e5, polish = true }
print(("sum %.2f dB, difference %.2f dB, slope %.3f"):format(best.objectives.sum_sll_db, best.recorded.difference_db,
    best.recorded.slope))

-- an even line with Bayliss' difference weights, beside it
local line = ec.array{ x = ec.geometry.line{ count = count, spacing = 0.5 }.x, wavelength = 1, u = ec.range(-1, 1, 401) }
local bayliss = line:with{ amplitude = ec.taper.bayliss{ count = count, sll_db = -20, nbar = 5 } }
print(("even line: sum %.2f dB, difference %.2f dB"):format(ec.value(line:sll_db{ exclude_u = 0.1 }),
    ec.value(bayliss:sll_db{ look_u = 0, exclude_u = 0.19 })))
