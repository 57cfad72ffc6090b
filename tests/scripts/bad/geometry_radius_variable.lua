-- expect: geometry_radius_variable.lua:5: ec.geometry.ring: key 'radius': the expression can be 0, it must be above 0
local ec = require "eciton"
local job = ec.job{ name = "ring" }
local radius = job:real{ name = "radius", min = 0, max = 2 }
local g = ec.geometry.ring{ count = 8, radius = radius }
