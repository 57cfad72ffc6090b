-- Searches and a sweep that several workers share: each must give the bits of one worker.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz

local function show(name, values)
    local text = {}
    for i = 1, #values do
        text[i] = ("%.17g"):format(values[i])
    end
    print("bits " .. name .. " " .. table.concat(text, " "))
end

-- an array; designs with a wide first gap fail, the best ones are polished
local arrays = ec.job{ name = "arrays", seed = 3 }
local x = arrays:spaced{ name = "x", count = 16, aperture = 12, min_gap = 0.45 }
local array = ec.array{ x = x, wavelength = 1, u = ec.range(-1, 1, 1501) }
arrays:minimize("sll_db", array:sll_db{ look_u = 0 } + 0 * ec.log(1.2 - (x[2] - x[1])))
arrays:record("hpbw", array:hpbw_deg())
local best = arrays:solve{ method = "de", population = 50, generations = ec.arg("generations", 30), polish = true,
    polish_evaluations = 60, polish_designs = 3 }
show("array", { best.objectives.sll_db, best.evaluations, best.failed, best.recorded.hpbw })
show("x", best.variables.x)

-- masts before a house, of which some stand inside it and fail; heights in groups
local street = ec.scene{ ec.ground{ size = { 200, 200 }, material = "itu_medium_dry_ground" },
    ec.box{ at = { 20, 0, 4 }, size = { 8, 8, 8 }, material = "itu_concrete" } }
local masts = ec.job{ name = "masts", seed = 5 }
local at, height = masts:real{ name = "at", count = 2, min = -20, max = 20 },
    masts:real{ name = "height", min = 2, max = 6, group = true }
local link = ec.mimo{ scene = street, frequency = 2e9, depth = 2, bandwidth = 1e7, noise_figure_db = 5,
    tx = { x = at[1] + ec.constant{ 0, 0.07 }, y = at[2], z = height, power_dbm = 20 },
    rx = { at = { x = { 30, 40 }, y = { 1, 9 }, z = 1.5 }, count = 2, spacing = 0.07 } }
masts:maximize("capacity", link:capacity{ normalize = "none" }:mean())
local mast = masts:solve{ method = "rand1bin", population = 40, groups = 5, generations = 6 }
show("mast", { mast.objectives.capacity, mast.evaluations, mast.failed, mast.variables.at[1], mast.variables.at[2], mast.variables.height })

-- lines, of which those fail whose edges lie between the lines of the grid or outside of it
local lines = ec.job{ name = "lines" }
local length, gap = lines:real{ name = "length", min = 14*mm, max = 22*mm },
    lines:real{ name = "gap", min = 1*mm, max = 3*mm }
local line = ec.fdtd{ frequency = ec.range(1*GHz, 6*GHz, 11), cell = 1*mm,
    boundary = { x = "pmc", y = "pec", z = "pmc" }, decay_db = 40,
    domain = { from = { 0, 0, 0 }, to = { 4*mm, 4*mm, 20*mm } },
    ec.box{ name = "filling", size = { 4*mm, 4*mm, gap }, at = { 2*mm, 2*mm, 8*mm + gap/2 }, eps_r = 3 },
    ec.port{ name = "in", from = { 0, 0, 0 }, to = { 4*mm, 4*mm, 0 }, axis = "y", ohms = 377 },
    ec.port{ name = "out", from = { 0, 0, length }, to = { 4*mm, 4*mm, length }, axis = "y", ohms = 300 } }
lines:record("s21", line:s("out", "in"):db():min())
lines:record("s11", line:s("in", "in"):max_db())
local sweep = lines:sweep{ points = { length = 5, gap = 5 } }
show("s11", sweep.recorded.s11)
show("s21", sweep.recorded.s21)
