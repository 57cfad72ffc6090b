-- expect: rx: antenna 1 is at the place of tx's 1, (9, 0, 0); they are to be more than
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 9 }, rx = { x = 9 } }
print(ec.value(link:path_gain_db()))
