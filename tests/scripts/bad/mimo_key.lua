-- expect: ec.mimo: key 'tx': unknown key 'antena' (did you mean 'antenna'?)
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 5, antena = "short" }, rx = { x = 9 } }
print(ec.value(link:path_gain_db()))
