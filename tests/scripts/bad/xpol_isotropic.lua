-- expect: xpol_isotropic.lua:3: array:xpol_db: isotropic elements have no vector field
local ec = require "eciton"
local x = ec.array{ x = {0, 0.5}, wavelength = 1, u = ec.range(-1, 1, 101) }:xpol_db()
