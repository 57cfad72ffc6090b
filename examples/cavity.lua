-- Resonances of a box with conducting walls, 50 x 20 x 60 mm, empty and half filled with eps_r = 4 (0 < x < 25 mm),
-- beside exact values. Nothing in it loses energy, so the fields ring on: a fixed number of steps, after which
-- the peaks of the spectrum are looked for. A source of the full height feeds those modes alone whose field is along
-- y and the same at any height (TE101, 102, 201, 202, 103), one along x TE011.
-- Grid: cubic cells of 1 mm, 50 x 20 x 60; with --quick of 2.5 mm.
-- Expected: the six modes of the empty box up to 8.2 GHz within 0.1 %, the five of the half-filled one up to
-- 5.3 GHz within 0.3 %.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local cell = ec.quick and 2.5*mm or 1*mm
local time = 60*ec.ns -- a resolution of 17 MHz, between which peaks are interpolated
local step = 0.99 * cell / (math.sqrt(3) * ec.c0)

local function cavity(...)
    return ec.fdtd{ frequency = ec.range(2*GHz, 8.5*GHz, 14), boundary = "pec", cell = cell, courant = 0.99,
        domain = { from = {0, 0, 0}, to = {50*mm, 20*mm, 60*mm} },
        pulse = "differentiated", steps = math.floor(time / step),
        ec.source{ name = "y", from = {15*mm, 0, 25*mm}, to = {15*mm, 20*mm, 25*mm} },
        ec.source{ name = "x", from = {15*mm, 10*mm, 25*mm}, to = {20*mm, 10*mm, 25*mm} }, ... }
end

local job = ec.job{ name = "cavity" }
local eps_r = job:real{ name = "eps_r", min = 1, max = 4 } -- of the filling
local empty = cavity()
local filled = cavity(ec.box{ size = {25*mm, 20*mm, 60*mm}, at = {12.5*mm, 10*mm, 30*mm}, eps_r = eps_r })
local modes = ec.sort(ec.concat(
    empty:modes{ port = "y", count = 5, from = 3*GHz, to = 8.2*GHz },
    empty:modes{ port = "x", count = 1, from = 7.5*GHz, to = 8*GHz }))
job:record("modes_ghz", modes / 1e9)
job:record("modes_half_filled_ghz", filled:modes{ port = "y", count = 5, from = 2*GHz, to = 5.3*GHz } / 1e9)
print(empty:report())
local found = job:sweep{ points = { eps_r = { 4 } } }.recorded

local function compare(name, exact)
    print(name)
    for i, f in ipairs(exact) do
        print(("  %8.5f GHz, exact %8.5f: %+.3f %%"):format(found[name][i][1], f, 100 * (found[name][i][1] / f - 1)))
    end
end
compare("modes_ghz", { 3.9024, 5.8269, 6.4955, 7.8048, 7.9002, 8.0722 })
compare("modes_half_filled_ghz", { 2.32378, 3.32294, 4.43169, 4.50412, 5.26902 })
