-- expect: ec.mimo: one of the keys wavelength and frequency is needed
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, tx = { x = 5 }, rx = { x = 9 } }
print(ec.value(link:path_gain_db()))
