-- expect: mimo_gradient.lua:8: job:solve: method 'lbfgs' needs the gradient of 'gain' (line 7): mimo has no gradient; methods without: lshade
local ec = require "eciton"
local scene = ec.scene{ ec.ground{ size = { 100, 100 } } }
local job = ec.job{ name = "gradient" }
local h = job:real{ name = "h", min = 1, max = 4 }
local link = ec.mimo{ scene = scene, wavelength = 0.1, depth = 1, tx = { z = h }, rx = { x = 20, z = 1.5 } }
job:maximize("gain", link:path_gain_db():sum())
job:solve{ method = "lbfgs", evaluations = 100 }
