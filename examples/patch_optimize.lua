-- A patch for 2.45 GHz on a substrate of eps_r 3.38, 1.524 mm, fed by a line of 50 ohm that enters it through an
-- inset: differential evolution of its width, length and inset for the lowest reflection at 2.45 GHz. The patch
-- is a polygon with the inset's notch, whose corners are expressions; lines of each candidate's grid lie
-- on them.
-- Expected: S11 below -20 dB at 2.45 GHz within 40 generations of 32.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "patch_optimize", seed = ec.arg("seed", 1) }
local w = job:real{ name = "width", min = 36*mm, max = 44*mm }
local l = job:real{ name = "length", min = 30*mm, max = 35*mm }
local inset = job:real{ name = "inset", min = 4*mm, max = 13*mm }
local h, line, gap, size = 1.524*mm, 3.5*mm, 1*mm, 60*mm

local left, notch = -l/2, line/2 + gap
local bottom = left + inset -- of the notch, where the line meets the patch
local model = ec.fdtd{ frequency = ec.range(2*GHz, 3*GHz, 101),
    cells_per_wavelength = ec.quick and 8 or 24, decay_db = ec.quick and 20 or 40,
    air = ec.quick and 10*mm or 30*mm, least_cells = ec.quick and 1 or 2, layers = ec.quick and 5 or 8,
    edge_correction = true,
    ec.box{ name = "substrate", size = { size, size, h }, at = { 0, 0, h/2 }, eps_r = 3.38, loss_tangent = 0.0027 },
    ec.plate{ name = "ground", size = { size, size } },
    ec.polygon{ name = "patch", at = { 0, 0, h }, points = { { left, -w/2 }, { l/2, -w/2 }, { l/2, w/2 }, { left, w/2 },
        { left, notch }, { bottom, notch }, { bottom, -notch }, { left, -notch } } },
    ec.plate{ name = "line", size = { bottom + size/2, line }, at = { (bottom - size/2)/2, 0, h } },
    ec.port{ name = "in", from = { -size/2, -line/2, 0 }, to = { -size/2, line/2, h }, axis = "z", ohms = 50 } }
print(model:report())

local s11 = model:s("in", "in")
job:minimize("s11_db", s11:db():at(2.45*GHz))
job:record("f0", s11:argmin())
job:record("band", s11:band_below_db(-10))
local best = job:solve{ method = "rand1bin", population = ec.quick and 4 or 32, generations = ec.quick and 1 or 40,
    target = -25 }
print(("S11 %.2f dB at 2.45 GHz, lowest at %.4f GHz, %.1f MHz below -10 dB: width %.2f, length %.2f, inset %.2f mm"):format(
    best.objectives.s11_db, best.recorded.f0 / 1e9, best.recorded.band / 1e6, best.variables.width / mm,
    best.variables.length / mm, best.variables.inset / mm))
