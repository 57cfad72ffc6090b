-- expect: wavelength_and_frequency.lua:4: ec.array: keys 'wavelength' and 'frequency' say the same: give one of them
local ec = require "eciton"
ec.job{ name = "both" }
ec.array{ x = { 0, 0.5 }, wavelength = 1, frequency = 3e8, u = ec.range(-1, 1, 21) }
