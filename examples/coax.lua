-- A coaxial line of 50 ohm between ports of 100 and 50 ohm at its ends, with circles cut into steps by the grid and with
-- conductors at their true surface: S11 and S21 beside those of a line of the impedance that the grid has.
-- Expected: within 4 % of 50 ohm in steps, 1 % conformal; S11 and S21 within 1 % of theory (for 50 ohm -1/3 and 0.943).
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local inner, outer, length, half = 1*mm, 2.303*mm, 12*mm, 3*mm
local cell = ec.quick and 0.2*mm or 0.1*mm
local f = 4*GHz

local function port(name, z, direction, ohms)
    return ec.port{ name = name, from = { half, 0, z }, to = { 0, 0, z }, line = direction, shape = "coax", ohms = ohms,
        plane = 4*mm, shift = -4*mm }
end

print(("circles of %.3f ohm"):format(376.730313668 / (2*math.pi) * math.log(outer/inner)))
for _, conformal in ipairs{ false, true } do
    local model = ec.fdtd{ frequency = ec.range(1*GHz, 8*GHz, 29), cell = cell, decay_db = 50, conformal = conformal,
        domain = { from = { -half, -half, 0 }, to = { half, half, length } },
        boundary = { x = "pec", y = "pec", z = "pmc" },
        ec.cylinder{ name = "outer", radius = 2*half, inner_radius = outer, length = length, at = { 0, 0, length/2 } },
        ec.cylinder{ name = "inner", radius = inner, length = length, at = { 0, 0, length/2 } },
        port("in", 0, "z", 100), port("out", length, "-z", 50) }
    local s11 = model:s("in", "in")
    local Z, beta, re11, im11, s21 = ec.value(model:line_impedance("in"):re():at(f), model:gamma("in"):im():at(f),
        s11:re():at(f), s11:im():at(f), model:s("out", "in"):abs():at(f))

    -- what a line of this impedance shows when 50 ohm close it: Z (50 + j Z t) / (Z + j 50 t)
    local t = math.tan(beta * length)
    local d = Z^2 + (50*t)^2
    local re, im = Z * (50*Z + 50*Z*t^2) / d, Z * (Z*Z*t - 2500*t) / d
    local near = (re + 100)^2 + im^2
    local t11, u11 = ((re - 100) * (re + 100) + im^2) / near, 200 * im / near
    print(("%s: %.3f ohm; at 4 GHz S11 = %.4f %+.4fj, theory %.4f %+.4fj; |S21| = %.4f, theory %.4f"):format(
        conformal and "conformal" or "in steps", Z, re11, im11, t11, u11, s21, math.sqrt(1 - t11^2 - u11^2)))
end
