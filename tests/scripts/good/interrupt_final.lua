-- flags: --set count=8
-- expect: sll_db
-- With the default count a design at final fidelity takes minutes, one of the search a millisecond.
local ec = require "eciton"
local job = ec.job{ name = "heavy" }
local n = ec.arg("count", 100)
local g = ec.geometry.rectangle{ count_x = n, count_y = n, spacing_x = 0.5, spacing_y = 0.5 }
local taper = job:real{ name = "taper", min = 0, max = 1 }
local amplitude = 1 - taper * (ec.constant(g.x) ^ 2 + ec.constant(g.y) ^ 2) / n ^ 2
local array = ec.array{ x = g.x, y = g.y, amplitude = amplitude, wavelength = 1, method = "direct",
    u = ec.range(-0.9, 0.9, 7), v = ec.range(-0.9, 0.9, 7) }
job:minimize("sll_db", array:sll_db{ look_u = 0, exclude_u = 2 / n })
job:solve{ generations = 2, population = 16 }
