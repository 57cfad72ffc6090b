-- expect: bspline_coefficients.lua:5: ec.basis.bspline: 3 coefficients are too few for degree 3: at least 4 are needed
local ec = require "eciton"
local job = ec.job{ name = "spline" }
local c = job:real{ name = "c", count = 3, min = 0, max = 1 }
local x = ec.basis.bspline{ coefficients = c, count = 20 }
