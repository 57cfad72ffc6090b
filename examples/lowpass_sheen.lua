-- The microstrip low-pass filter of Sheen, Ali, Abouzahra and Kong, 1990: a stub of 20.32 x 2.54 mm across the end
-- of two lines of 2.44 mm, on 0.794 mm of eps_r 2.2. Uniform cells of 0.4064 x 0.4233 x 0.265 mm as in the paper.
-- Both lines go on into absorbing walls and are measured 8 mm from the stub; S is that at its edges.
-- Expected: S21 falls below -3 dB at 5.43 GHz, and is below -20 dB from 6.35 to 8.50 GHz.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local dx, dy, dz = 0.4064*mm, 0.4233*mm, 0.265*mm
local h = 3 * dz
local line = 40 -- cells from the end of the domain to the stub

local function strip(name, x0, x1, y0, y1)
    return ec.plate{ name = name, size = { (x1 - x0)*dx, (y1 - y0)*dy }, at = { (x0 + x1)/2*dx, (y0 + y1)/2*dy, h } }
end
local function port(name, x, y, direction)
    return ec.port{ name = name, from = { x*dx, y*dy, 0 }, to = { (x + 6)*dx, y*dy, h }, axis = "z", line = direction,
        plane = 16*dy, shift = 20*dy }
end

local low, high = { -15*dx, -line*dy, 0 }, { 65*dx, (line + 6)*dy, 16*dz }
local model = ec.fdtd{ frequency = ec.range(1*GHz, 20*GHz, 381), cell = { dx, dy, dz }, snap = true,
    domain = { from = low, to = high }, boundary = { z_low = "pec" }, decay_db = ec.quick and 30 or 50,
    max_steps = 20000,
    ec.box{ name = "substrate", size = { 80*dx, (2*line + 6)*dy, h }, at = { 25*dx, 3*dy, h/2 }, eps_r = 2.2 },
    strip("line 1", 14, 20, -line, 0),
    strip("stub", 0, 50, 0, 6),
    strip("line 2", 30, 36, 6, 6 + line),
    port("in", 14, -36, "y"),
    port("out", 30, 6 + 36, "-y") }
local s21 = model:s("out", "in")
print(model:report())

-- where |S21| first falls below -3 dB, and the band about its lowest point that is below -20 dB
local falls = ec.interp(ec.constant(s21:frequency()), 1 + ec.crossing(s21:db(), -3, 1))
local low_part = s21:part(1*GHz, 12*GHz)
local f3, edges, level, at, balance, steps = ec.value(falls, low_part:edges_below_db(-20), low_part:min_db(),
    low_part:argmin(), model:balance("in"):max(), model:steps("in"))
print(("%d steps, largest |S11|^2 + |S21|^2 %.4f"):format(steps, balance))
print(("-3 dB at %.3f GHz (paper 5.43); below -20 dB from %.3f to %.3f GHz (6.35 to 8.50), lowest %.1f dB at %.3f GHz")
    :format(f3 / 1e9, edges[1] / 1e9, edges[2] / 1e9, level, at / 1e9))
