-- expect: geometry_as_list.lua:3: ec.array: key 'x': wants a list, got a table of the lists x, y, ...: give one of them, as in g.x
local ec = require "eciton"
local array = ec.array{ x = ec.geometry.line{ count = 4, spacing = 0.5 }, wavelength = 1, u = ec.range(-1, 1, 101) }
