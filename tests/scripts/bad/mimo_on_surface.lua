-- expect: tx: antenna 1 at (1, 0.25, 0.1) lies on a surface
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 1, y = 0.25, z = 0.1 }, rx = { x = 9 } }
print(ec.value(link:path_gain_db()))
