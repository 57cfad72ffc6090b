-- As many samples at final fidelity as in the search are others all the same: both figures are told.
-- expect: at final fidelity
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "draws" }
local eps_r = job:real{ name = "eps_r", min = 1, max = 2 }
local model = ec.fdtd{ frequency = 3*GHz, cell = 10*mm, steps = 256, boundary = "pec",
    domain = { from = {0, 0, 0}, to = {60*mm, 40*mm, 80*mm} },
    ec.box{ size = {60*mm, 40*mm, 20*mm}, at = {30*mm, 20*mm, 10*mm}, eps_r = eps_r },
    ec.port{ name = "in", from = {20*mm, 0, 40*mm}, to = {20*mm, 40*mm, 40*mm} } }
local error = ec.over{ d = ec.normal{ sigma = 0.5 }, samples = 3, final_samples = 3 }
job:minimize("f", ec.mean(model:s("in", "in"):min_db() + error.d * eps_r))
local best = job:solve{ population = 8, generations = 2, polish = false }
assert(best.objectives.f ~= best.search.f)
