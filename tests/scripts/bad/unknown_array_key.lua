-- expect: unknown_array_key.lua:3: ec.array: unknown key 'wavelenght' (did you mean 'wavelength'?)
local ec = require "eciton"
local array = ec.array{ x = {0, 0.5}, wavelenght = 1, u = ec.range(-1, 1, 101) }
