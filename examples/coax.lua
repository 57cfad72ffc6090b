-- A coaxial line of about 50 ohm, its circles cut into steps by the grid, between ports of 100 and 50 ohm at its ends:
-- S11 and S21 against those of a line of the impedance that the grid has.
-- Expected: an impedance within 4 % of 50 ohm, S11 and S21 within 1 % of those of a line of this impedance; of 50 ohm they
-- would be -1/3 and 0.943.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local inner, outer, length, half = 1*mm, 2.303*mm, 12*mm, 3*mm
local cell = ec.quick and 0.2*mm or 0.1*mm

local function port(name, z, direction, ohms)
    return ec.port{ name = name, from = { half, 0, z }, to = { 0, 0, z }, line = direction, shape = "coax", ohms = ohms,
        plane = 4*mm, shift = -4*mm }
end
local model = ec.fdtd{ frequency = ec.range(1*GHz, 8*GHz, 29), cell = cell, decay_db = 50,
    domain = { from = { -half, -half, 0 }, to = { half, half, length } },
    boundary = { x = "pec", y = "pec", z = "pmc" },
    ec.cylinder{ name = "outer", radius = 4.3*mm, inner_radius = outer, length = length, at = { 0, 0, length/2 } },
    ec.cylinder{ name = "inner", radius = inner, length = length, at = { 0, 0, length/2 } },
    port("in", 0, "z", 100), port("out", length, "-z", 50) }

local s11, s21 = model:s("in", "in"), model:s("out", "in")
local z, gamma = model:line_impedance("in"):re(), model:gamma("in"):im()
local f = 4*GHz
local Z, beta, r11, i11, m21 = ec.value(z:at(f), gamma:at(f), s11:re():at(f), s11:im():at(f), s21:abs():at(f))
print(("the line has %.3f ohm, its circles %.3f"):format(Z, 376.730313668 / (2*math.pi) * math.log(outer/inner)))

-- what a line of this impedance shows when 50 ohm close it: (50 + j Z t) Z / (Z + j 50 t)
local t = math.tan(beta * length)
local d = Z^2 + (50*t)^2
local re, im = Z * (50*Z + 50*Z*t^2) / d, Z * (Z*Z*t - 2500*t) / d
local near = (re + 100)^2 + im^2
local t11, u11 = ((re - 100) * (re + 100) + im^2) / near, 200 * im / near
print(("at 4 GHz S11 = %.4f %+.4fj, a line of this impedance has %.4f %+.4fj; |S21| = %.4f, it has %.4f")
    :format(r11, i11, t11, u11, m21, math.sqrt(1 - t11^2 - u11^2)))
