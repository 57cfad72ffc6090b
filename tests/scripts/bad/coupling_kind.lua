-- expect: coupling_kind.lua:3: ec.array: key 'coupling': wants a matrix of ec.load_touchstone, got a string
local ec = require "eciton"
ec.array{ x = {0, 0.1}, frequency = 0.95*ec.GHz, coupling = "coupling.s2p", u = ec.range(-1, 1, 101) }
