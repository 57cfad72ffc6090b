-- expect: polarization_isotropic.lua:3: ec.array: key 'polarization': an isotropic element has no vector field
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, polarization = "cross", u = ec.range(-1, 1, 101) }
