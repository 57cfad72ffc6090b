-- expect: ec.mimo: key 'depth': 25 is not allowed, it must be at least 0 and at most 24
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 5 }, rx = { x = 9 }, depth = 25 }
print(ec.value(link:path_gain_db()))
