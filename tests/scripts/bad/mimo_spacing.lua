-- expect: ec.mimo: key 'rx': key 'spacing' is missing
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 5 }, rx = { at = { x = 9 }, count = 2 } }
print(ec.value(link:path_gain_db()))
