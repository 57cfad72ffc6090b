-- expect: half_power_off_grid.lua:5: hpbw_deg has no value: a half-power point is off the grid
-- expect: u = ec.range(-1, 1, n)
local ec = require "eciton"
local array = ec.array{ x = ec.geometry.line{ count = 8, spacing = 0.5 }.x, wavelength = 1, u = ec.range(0, 0.05, 51) }
print(ec.value(1 + array:hpbw_deg()))
