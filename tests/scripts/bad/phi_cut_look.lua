-- expect: phi_cut_look.lua:4: array:sll_db: the array is steered to theta = 0 or 180, which has no phi, so this phi cut needs look_deg
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, wavelength = 1, phi_deg = ec.range(0, 360, 361) }
ec.value(array:sll_db())
