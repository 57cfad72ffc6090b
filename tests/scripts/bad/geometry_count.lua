-- expect: geometry_count.lua:3: ec.geometry.rings: key 'counts': 2 values, but radii has 3
local ec = require "eciton"
local g = ec.geometry.rings{ radii = { 0, 1, 2 }, counts = { 1, 6 } }
