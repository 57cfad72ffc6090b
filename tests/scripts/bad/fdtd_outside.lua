-- expect: fdtd_outside.lua:4: ec.fdtd: box 'lost' is outside of the domain: it lies from 27.5 mm to 32.5 mm along x
local ec = require "eciton"
local mm, f = ec.mm, ec.range(1*ec.GHz, 2*ec.GHz, 11)
local model = ec.fdtd{ frequency = f, domain = { from = {-10*mm, -10*mm, -5*mm}, to = {10*mm, 10*mm, 5*mm} },
    ec.box{ name = "lost", size = {5*mm, 5*mm, 5*mm}, at = {30*mm, 0, 0} },
    ec.port{ from = {0, 0, 0}, to = {0, 0, 1*mm} } }
print(ec.value(model:s(1, 1):max_db()))
