-- expect: ec.mimo: key 'tx': key 'y': 3 values, but x has 2
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = { 5, 6 }, y = { 1, 2, 3 } }, rx = { x = 9 } }
print(ec.value(link:path_gain_db()))
