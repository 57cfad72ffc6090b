-- expect: a link has no method 'capasity' (did you mean 'capacity'?)
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 5 }, rx = { x = 9 } }
print(ec.value(link:capasity{ snr_db = 20 }))
