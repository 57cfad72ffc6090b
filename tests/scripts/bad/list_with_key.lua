-- expect: list_with_key.lua:3: ec.array: key 'x': wants a plain list of values, but this table has the key 'first'
local ec = require "eciton"
local array = ec.array{ x = { first = 0 }, wavelength = 1, u = ec.range(-1, 1, 101) }
