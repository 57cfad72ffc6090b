-- expect: element_number.lua:3: ec.array: key 'element': wants one of the words
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = 3, u = ec.range(-1, 1, 101) }
