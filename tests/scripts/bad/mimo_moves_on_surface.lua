-- expect: every design failed (8)
-- expect: 8 x something is inside a solid, on a surface, or where something else is
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local job = ec.job{ name = "on_surface", seed = 1 }
local y = job:real{ name = "y", min = -0.5, max = 0.5 }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 1, y = y, z = 0.1 }, rx = { x = 9 } }
job:maximize("gain", link:path_gain_db():sum())
job:solve{ method = "rand1bin", population = 8, generations = 1 }
