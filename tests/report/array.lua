-- A line with a mask and a constraint, then a surface: cuts, a u-v map, elements; files of two searches.
local ec = require "eciton"
local job = ec.job{ name = "line" }
local x = job:spaced{ name = "x", count = 9, aperture = 5, min_gap = 0.4 }
local line = ec.array{ x = x, wavelength = 1, u = ec.range(-1, 1, 121) }
job:minimize("excess_db", line:excess_db{ mask = { { -1, -0.25, max = -20 }, { 0.25, 1, max = -20 } } })
job:subject_to("gap", ec.min_gap(x), { min = 0.45 })
job:solve{ evaluations = 600, population = 20, keep = "all" }

local other = ec.job{ name = "surface" }
local a = other:real{ name = "amplitude", count = 9, min = 0.2, max = 1 }
local g = ec.geometry.spiral{ count = 9, radius = 1.2 }
local surface = ec.array{ x = g.x, y = g.y, amplitude = a, wavelength = 1, u = ec.range(-1, 1, 41), v = ec.range(-1, 1, 41) }
other:minimize("sll_db", surface:sll_db{ look_u = 0, look_v = 0, exclude_u = 0.5, exclude_v = 0.5 })
other:solve{ evaluations = 200, population = 20 }
