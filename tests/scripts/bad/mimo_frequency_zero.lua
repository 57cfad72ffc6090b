-- expect: mimo_frequency_zero.lua:6: ec.mimo: key 'wavelength':
-- expect: it must be above 0
local ec = require "eciton"
local scene = ec.scene{ ec.ground{ size = { 9, 9 } } }
local job = ec.job{ name = "range" }
ec.mimo{ scene = scene, wavelength = job:real{ name = "w", min = 0, max = 1 }, tx = { z = 1 }, rx = { x = 3, z = 1 } }
