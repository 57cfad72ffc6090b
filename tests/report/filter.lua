-- A line with a step between two planes: structure, S-parameters, a field.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "step" }
local width = job:real{ name = "width", min = 1*mm, max = 3*mm }
local model = ec.fdtd{ frequency = ec.range(1*GHz, 6*GHz, 21), cell = 1*mm, snap = true, boundary = { x = "pmc", y = "pec", z = "pmc" },
    domain = { from = {0, 0, 0}, to = {4*mm, 4*mm, 20*mm} }, decay_db = 40,
    ec.box{ name = "core", size = {4*mm, width, 6*mm}, at = {2*mm, width/2, 10*mm}, eps_r = 3 },
    ec.polygon{ name = "fin", at = {0, 3*mm, 0}, axis = "y", points = { {8*mm, 1*mm}, {12*mm, 1*mm}, {12*mm, 3*mm}, {10*mm, 2*mm}, {8*mm, 3*mm} } },
    ec.port{ name = "in", from = {0, 0, 0}, to = {4*mm, 4*mm, 0}, axis = "y", ohms = 377 },
    ec.port{ name = "out", from = {0, 0, 20*mm}, to = {4*mm, 4*mm, 20*mm}, axis = "y", ohms = 377 } }
job:minimize("s11_db", model:s("in", "in"):max_db())
local best = job:solve{ method = "rand1bin", population = 6, generations = 3 }
best:save("again.s2p", model)
best:save("fields.csv", model:plane{ axis = "y", at = 2*mm, frequency = 3*GHz, excited_by = "in" })
