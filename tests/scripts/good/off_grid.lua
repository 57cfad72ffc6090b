-- A beam wider than the grid: the reason is counted, not only told by best:value.
-- expect: a half-power point or a first minimum of the beam is off the grid
local ec = require "eciton"
local job = ec.job{ name = "wide" }
local gap = job:real{ name = "gap", min = 0.05, max = 1 }
local array = ec.array{ x = ec.geometry.line{ count = 4, spacing = 1 }.x * gap, wavelength = 1, u = ec.range(-0.3, 0.3, 121) }
job:minimize("width", array:hpbw_deg())
local best = job:solve{ generations = 3, population = 20 }
assert(best.status == "feasible" and best.failed > 0)
print(best.failures[1].reason)
