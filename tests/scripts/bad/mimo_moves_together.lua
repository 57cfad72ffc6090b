-- expect: every design failed (8)
-- expect: 8 x something is inside a solid, on a surface, or where something else is
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local job = ec.job{ name = "together", seed = 1 }
local x = job:real{ name = "x", min = 5, max = 6 }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = x }, rx = { x = x } }
job:maximize("gain", link:path_gain_db():sum())
job:solve{ method = "rand1bin", population = 8, generations = 1 }
