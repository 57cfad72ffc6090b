-- expect: ec.mimo: key 'tx': key 'x': the list is empty
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = {} }, rx = { x = 9 } }
print(ec.value(link:path_gain_db()))
