-- expect: element_list_kind.lua:3: ec.array: key 'element': entry 1 is a string, each has to be a pattern of ec.load_pattern
local ec = require "eciton"
ec.array{ x = {0, 0.5}, wavelength = 1, element = { "cosq", "cosq" }, u = ec.range(-1, 1, 101) }
