-- expect: rx: antenna 2 at (0.5, 0, 0) is inside a solid
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 5 }, rx = { x = { 9, 0.5 } } }
print(ec.value(link:path_gain_db()))
