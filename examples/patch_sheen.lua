-- The microstrip patch of Sheen, Ali, Abouzahra and Kong, IEEE Trans. Microwave Theory Tech. 38, 1990: 12.45 x
-- 16 mm on 0.794 mm of eps_r 2.2, fed by a line of 2.33 mm off its middle. Uniform cells of 0.389 x 0.400 x
-- 0.265 mm as in the paper, with absorbing walls in place of its conducting ones. The line comes out of one of
-- them, is measured 8 mm before the patch, and S11 is that at the edge of the patch.
-- Expected: dips near 7.43 GHz (-26 dB in the paper), 9.9, 12.0, 14.4 and 18.0 GHz.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local dx, dy, dz = 0.389*mm, 0.400*mm, 0.265*mm
local h = 3 * dz
local low, high = { -14*dx, 0, 0 }, { 46*dx, 100*dy, 16*dz }

-- a rectangle between lines of the grid
local function strip(name, x0, x1, y0, y1)
    return ec.plate{ name = name, size = { (x1 - x0)*dx, (y1 - y0)*dy }, at = { (x0 + x1)/2*dx, (y0 + y1)/2*dy, h } }
end

local model = ec.fdtd{ frequency = ec.range(1*GHz, 20*GHz, 381), cell = { dx, dy, dz }, snap = true,
    domain = { from = low, to = high }, boundary = { z_low = "pec" }, decay_db = ec.quick and 30 or 50,
    max_steps = 20000,
    ec.box{ name = "substrate", size = { 60*dx, 100*dy, h }, at = { 16*dx, 50*dy, h/2 }, eps_r = 2.2 },
    strip("feed", 5, 11, 0, 50),
    strip("patch", 0, 32, 50, 90),
    ec.port{ name = "in", from = { 5*dx, 10*dy, 0 }, to = { 11*dx, 10*dy, h }, axis = "z", line = "y",
        plane = 20*dy, shift = 20*dy } }
local s11 = model:s("in", "in")
print(model:report())

local paper = { {7.43, -26}, {9.92, -12}, {12.02, -10}, {14.44, -11}, {18.02, -38} } -- GHz, dB
local line, gamma = model:line_impedance("in"), model:gamma("in")
local wanted = { model:steps(), model:balance():max(), line:re():at(10*GHz), gamma:im():at(10*GHz) }
for _, dip in ipairs(paper) do
    local about = s11:part((dip[1] - 0.8)*GHz, (dip[1] + 0.8)*GHz)
    wanted[#wanted + 1], wanted[#wanted + 2] = about:argmin() / 1e9, about:min_db()
end
local found = { ec.value(table.unpack(wanted)) }
local eps = (found[4] * 299792458 / (2 * math.pi * 10*GHz))^2
print(("%d steps, largest |S11|^2 %.4f; at 10 GHz the line has %.2f ohm, eps_eff %.3f"):format(found[1], found[2],
    found[3], eps))
print("  paper             here")
for i, dip in ipairs(paper) do
    print(("%6.2f GHz %3d dB  %6.3f GHz %6.2f dB"):format(dip[1], dip[2], found[2*i + 3], found[2*i + 4]))
end
