-- expect: element_word.lua:3: ec.array: key 'element': unknown word 'dipole', allowed are isotropic|hemispheric|cosq
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = "dipole", u = ec.range(-1, 1, 101) }
