-- expect: method 'nlopt_ld_mma' needs the gradient of the objective and the constraints: fnbw_deg has no gradient
-- expect: methods without: lshade
-- expect: nlopt_ln_..., nlopt_gn_... (eciton help nlopt)
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:spaced{ name = "x", count = 8, aperture = 6, min_gap = 0.4 }
job:minimize("beam", ec.array{ x = x, wavelength = 1, u = ec.range(-1, 1, 401) }:fnbw_deg())
job:solve{ method = "nlopt_ld_mma", evaluations = 100 }
