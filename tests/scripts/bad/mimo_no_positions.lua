-- expect: ec.mimo: key 'rx': no positions
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local link = ec.mimo{ scene = scene, wavelength = 1, tx = { x = 5 }, rx = { antenna = "short" } }
print(ec.value(link:path_gain_db()))
