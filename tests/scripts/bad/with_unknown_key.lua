-- expect: with_unknown_key.lua:5: array:with: unknown key 'steer_w' (did you mean 'steer_u'?)
local ec = require "eciton"
local array = ec.array{ x = { 0, 0.5, 1 }, wavelength = 1, u = ec.range(-1, 1, 101) }
-- the copy names the key
array:with{ steer_w = 0.2 }
