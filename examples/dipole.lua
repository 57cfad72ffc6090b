-- A dipole of 150 mm, a wire along edges of the grid with a gap of one cell of 1 mm, in the open: where its
-- reactance vanishes, and its resistance there.
-- Expected: 950 MHz within 1 %, 72.8 ohm within 3 (with --quick cells of 3 mm, whose wire is thicker: 924 MHz).
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local cell = ec.quick and 3*mm or 1*mm
local arm, air = 75*mm, 24*mm

local model = ec.fdtd{ frequency = ec.range(0.5*GHz, 1.5*GHz, 101), cell = cell,
    domain = { from = { -air, -air, -arm - air }, to = { air, air, arm + air } },
    ec.wire{ from = { 0, 0, -arm }, to = { 0, 0, 0 } },
    ec.wire{ from = { 0, 0, cell }, to = { 0, 0, arm } },
    ec.port{ name = "in", from = { 0, 0, 0 }, to = { 0, 0, cell }, ohms = 73 } }
local z = model:impedance("in")
local place = 1 + ec.crossing(z:im() * -1, 0, 1)
local f0, ohms, steps = ec.value(ec.interp(ec.constant(z:frequency()), place), ec.interp(z:re(), place), model:steps())
print(("%d steps: resonance at %.1f MHz, %.2f ohm"):format(steps, f0 / 1e6, ohms))
