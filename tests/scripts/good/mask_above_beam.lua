-- expect: line 1: max = 25 lies above the beam's peak, which is 0 dB; is it meant to be negative?
local ec = require "eciton"
ec.job{ name = "mask" }
local array = ec.array{ x = { 0, 0.5, 1, 1.5 }, wavelength = 1, u = ec.range(-1, 1, 81) }
assert(ec.value(array:excess_db{ mask = { { 0.6, 1, max = 25 } } }) < -30)
