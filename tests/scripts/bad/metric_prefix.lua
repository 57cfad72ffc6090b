-- The name of the metric is said once.
-- expect: metric_prefix.lua:5: array:hpbw_deg: a beam width needs a cut, not a u-v grid
local ec = require "eciton"
local grid = ec.array{ x = {0, 0.5}, wavelength = 1, u = ec.range(-1, 1, 21), v = ec.range(-1, 1, 21) }
grid:hpbw_deg()
