-- expect: normal_isotropic.lua:3: ec.array: key 'normal': an isotropic element looks the same
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, normal = {0, 1, 0}, u = ec.range(-1, 1, 101) }
