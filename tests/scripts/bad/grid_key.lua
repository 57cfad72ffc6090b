-- expect: grid_key.lua:5: array:sll_db: key 'exclude_deg' does not belong to the array's grid, a u cut
local ec = require "eciton"
local array = ec.array{ x = ec.geometry.line{ count = 8, spacing = 0.5 }.x, wavelength = 1, u = ec.range(-1, 1, 101) }
print(array:hpbw_deg{ look_u = 0 })
print(array:sll_db{ exclude_deg = 5 })
