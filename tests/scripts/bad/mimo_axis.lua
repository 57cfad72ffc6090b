-- expect: ec.mimo: key 'rx': key 'axis': the direction has no length
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 5 }, rx = { x = 9, axis = { 0, 0, 0 } } }
print(ec.value(link:path_gain_db()))
