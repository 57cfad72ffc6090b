-- The tutorial of microwave structures (docs/guide/tutorial_filter.md): a microstrip line with an open stub, a notch filter,
-- on 0.8 mm of eps_r 2.2. First one stub of 9 mm, then a sweep over its length, then a search for the length and width
-- that put the deepest notch at 6 GHz and lose at most 1.5 dB at 4.5 GHz.
-- Expected: a stub of 8.75 x 0.86 mm, -46 dB; a minute and a half of one core.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local h, width, half = 0.8*mm, 2.4*mm, 12*mm

local function filter(length, stub)
    return ec.fdtd{ frequency = ec.range(2*GHz, 10*GHz, 161), boundary = { z_low = "pec" },
        cells_per_wavelength = ec.quick and 12 or 20, least_cells = ec.quick and 2 or 3, edge_correction = true,
        layers = ec.quick and 5 or 8, decay_db = ec.quick and 20 or 40,
        domain = { from = { -half, -6*mm, 0 }, to = { half, 18*mm, 6*mm } },
        ec.box{ name = "board", size = { 2*half, 24*mm, h }, at = { 0, 6*mm, h/2 }, eps_r = 2.2 },
        ec.plate{ name = "line", size = { 2*half, width }, at = { 0, 0, h } },
        ec.plate{ name = "stub", size = { stub, length }, at = { 0, width/2 + length/2, h } },
        ec.port{ name = "in", from = { -9*mm, -width/2, 0 }, to = { -9*mm, width/2, h }, axis = "z", line = "x", plane = 4*mm },
        ec.port{ name = "out", from = { 9*mm, -width/2, 0 }, to = { 9*mm, width/2, h }, axis = "z", line = "-x", plane = 4*mm } }
end

local first = filter(9*mm, 1.5*mm)
print(first:report())
local s21 = first:s("out", "in")
local notch, depth, z = ec.value(s21:argmin(), s21:min_db(), first:line_impedance("in"):abs():at(5*GHz))
print(("a stub of 9 mm: notch at %.3f GHz, %.1f dB; lines of %.1f ohm"):format(notch / GHz, depth, z))

-- every length from 7 to 11 mm
local sweep = ec.job{ name = "lengths" }
local l = sweep:real{ name = "length", min = 7*mm, max = 11*mm }
local model = filter(l, 1.5*mm)
sweep:record("notch_ghz", model:s("out", "in"):argmin() / GHz)
sweep:record("at_5ghz_db", model:s("out", "in"):db():at(5*GHz))
local table = sweep:sweep{ points = { length = ec.quick and 2 or 9 } }
for i = 1, #table do
    print(("length %5.2f mm: notch at %.3f GHz"):format(table.variables.length[i] / mm, table.recorded.notch_ghz[i]))
end

-- length and width of the stub: the deepest notch at 6 GHz that loses at most 1.5 dB at 4.5 GHz
local job = ec.job{ name = "notch", seed = ec.arg("seed", 1) }
local length = job:real{ name = "length", min = 7*mm, max = 11*mm }
local stub = job:real{ name = "stub", min = 0.4*mm, max = 3*mm }
local both = filter(length, stub)
local db = both:s("out", "in"):db()
job:minimize("s21_db", db:at(6*GHz))
job:subject_to("loss_db", -db:at(4.5*GHz), { max = 1.5 })
job:record("notch_ghz", both:s("out", "in"):argmin() / GHz)
local best = job:solve{ method = "cmaes", population = ec.quick and 4 or 8,
    evaluations = ec.quick and 4 or 80 }
print(("best: %.1f dB at 6 GHz, loss %.2f dB at 4.5 GHz: stub of %.2f x %.2f mm"):format(best.objectives.s21_db,
    -best:value(db:at(4.5*GHz)), best.variables.length / mm, best.variables.stub / mm))
