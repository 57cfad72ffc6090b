-- expect: element_list_count.lua:3: ec.array: key 'element': 1 patterns, the array has 2 elements
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = { ec.load_csv }, u = ec.range(-1, 1, 101) }
