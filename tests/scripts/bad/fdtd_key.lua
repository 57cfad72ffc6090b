-- expect: fdtd_key.lua:4: ec.fdtd: unknown key 'boundry' (did you mean 'boundary'?)
local ec = require "eciton"
local f = ec.range(1*ec.GHz, 2*ec.GHz, 11)
ec.fdtd{ frequency = f, boundry = "pec", ec.box{ size = {1, 1, 1}, eps_r = 2 } }
