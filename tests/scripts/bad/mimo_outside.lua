-- expect: every design failed (8)
-- expect: 8 x something is inside a solid
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local job = ec.job{ name = "outside", seed = 1 }
local x = job:real{ name = "x", min = -0.5, max = 0.5 }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = x }, rx = { x = 9 } }
job:maximize("gain", link:path_gain_db():sum())
job:solve{ method = "rand1bin", population = 8, generations = 1 }
