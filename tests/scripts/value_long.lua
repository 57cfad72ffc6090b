-- A value at final fidelity that takes minutes.
local ec = require "eciton"
local g = ec.geometry.rectangle{ count_x = 100, count_y = 100, spacing_x = 0.5, spacing_y = 0.5 }
local array = ec.array{ x = g.x, y = g.y, wavelength = 1, method = "direct", u = ec.range(-1, 1, 101),
    v = ec.range(-1, 1, 101) }
print(ec.value(array:sll_db{ look_u = 0, exclude_u = 0.1 }))
