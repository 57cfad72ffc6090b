-- expect: coupling_ports.lua:3: ec.array: key 'coupling': the matrix has 2 ports, the array has 3 elements
local ec = require "eciton"
ec.array{ x = {0, 0.1, 0.2}, frequency = 0.95*ec.GHz, coupling = ec.load_touchstone("coupling.s2p"), u = ec.range(-1, 1, 101) }
