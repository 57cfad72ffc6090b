-- A wave between periodic walls that meets a half space of water; a round cavity with conformal walls.
-- expect: water and a cavity
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz

local function near(name, got, wanted, tolerance)
    assert(math.abs(got - wanted) <= tolerance,
        ("%s: %.8g, expected %.8g"):format(name, got, wanted))
end

local f, d, delta, tau = ec.range(2*GHz, 8*GHz, 13), 0.2*mm, 20, 17*ec.ps
local wave = ec.fdtd{ frequency = f, cell = d, layers = 12, decay_db = 60,
    boundary = { x_low = "pmc", x_high = "pml", y = "periodic", z = "periodic" },
    domain = { from = {0, 0, 0}, to = {12*mm, 2*d, 2*d} },
    ec.box{ size = {6*mm, 2*d, 2*d}, at = {9*mm, d, d}, eps_r = 3,
        poles = { ec.debye{ delta = delta, tau = tau } } },
    ec.port{ name = "in", from = {0, 0, 0}, to = {0, 2*d, 2*d}, axis = "z", ohms = 376.730313668 } }
-- |1 - n| / |1 + n| with n^2 = eps_r + delta / (1 + jw tau)
local wt = 2 * math.pi * 5*GHz * tau
local re, im = 3 + delta / (1 + wt^2), -delta * wt / (1 + wt^2)
local root = math.sqrt(math.sqrt(re^2 + im^2))
local angle = math.atan(im, re) / 2
local n, k = root * math.cos(angle), root * math.sin(angle)
near("reflection", ec.value(wave:s(1, 1):abs():at(5*GHz)),
    math.sqrt(((1 - n)^2 + k^2) / ((1 + n)^2 + k^2)), 0.01)

local a, h = 20*mm, 6*mm
local cavity = ec.fdtd{ frequency = ec.range(5.2*GHz, 6.2*GHz, 2), cell = 2*mm, conformal = true, boundary = "pec",
    steps = 6000, domain = { from = {-22*mm, -22*mm, 0}, to = {22*mm, 22*mm, h} },
    ec.box{ size = {44*mm, 44*mm, h}, at = {0, 0, h/2} },
    ec.cylinder{ radius = a, length = h, at = {0, 0, h/2}, material = "air" },
    ec.source{ name = "in", from = {2*mm, 0, 2*mm}, to = {2*mm, 0, 4*mm} },
    ec.probe{ name = "out", from = {-4*mm, 4*mm, 2*mm}, to = {-4*mm, 4*mm, 4*mm} } }
local tm010 = 2.404825558 * ec.c0 / (2 * math.pi * a)
local mode = ec.value(cavity:modes{ port = "out", excited_by = "in", count = 1, from = 5.2*GHz, to = 6.2*GHz })
near("TM010", mode[1], tm010, 0.003 * tm010)

print("water and a cavity")
