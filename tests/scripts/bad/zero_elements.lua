-- expect: zero_elements.lua:3: ec.array: key 'x': the list is empty
local ec = require "eciton"
local array = ec.array{ x = {}, wavelength = 1, u = ec.range(-1, 1, 101) }
