-- expect: ec.mimo: key 'scene': wants a scene of ec.scene
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = {}, wavelength = 1, tx = { x = 5 }, rx = { x = 9 } }
print(ec.value(link:path_gain_db()))
