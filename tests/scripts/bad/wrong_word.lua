-- expect: wrong_word.lua:3: ec.array: key 'element': unknown word 'patch', allowed are isotropic|hemispheric|cosq
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, wavelength = 1, u = ec.range(-1, 1, 101), element = "patch" }
