-- expect: list_with_hole.lua:3: ec.array: key 'x': the list has a hole: element 2 is nil, but there is an element 3
local ec = require "eciton"
local array = ec.array{ x = {0, nil, 1}, wavelength = 1, u = ec.range(-1, 1, 101) }
