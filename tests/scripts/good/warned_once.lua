-- A run plans its pattern several times (the search, the final one, the values) and warns of its grid once.
-- expect: warning: array: the grid has
-- expect: found	true
-- refuse: eciton: warning
local ec = require "eciton"
local job = ec.job{ name = "coarse" }
local x = job:spaced{ name = "x", count = 10, aperture = 9 }
local array = ec.array{ x = x, wavelength = 1, u = ec.range(0, 1, 16) }
job:minimize("sll", array:sll_db{ exclude_u = 0.15 })
print("found", job:solve{ generations = 5, spread = 1 }.found)
