-- expect: coupling_frequency.lua:3: ec.array: the coupling's file has 900000000 to 1000000000 Hz, the array's frequency is 299792458 to 299792458 Hz
local ec = require "eciton"
ec.array{ x = {0, 0.1}, wavelength = 1, coupling = ec.load_touchstone("coupling.s2p"), u = ec.range(-1, 1, 101) }
