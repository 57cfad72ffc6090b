-- A failed design that counts as the best is not the only one that is run again.
-- expect: designs: all 1 generations were run
-- refuse: failed at final fidelity
-- refuse: nan
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "designs" }
local eps_r = job:real{ name = "eps_r", min = 1, max = 2 }
local model = ec.fdtd{ frequency = 3*GHz, cell = 10*mm, steps = 256, boundary = "pec",
    domain = { from = {0, 0, 0}, to = {60*mm, 40*mm, 80*mm} },
    ec.box{ size = {60*mm, 40*mm, 20*mm}, at = {30*mm, 20*mm, 10*mm}, eps_r = eps_r },
    ec.port{ name = "in", from = {20*mm, 0, 40*mm}, to = {20*mm, 40*mm, 40*mm} } }
job:minimize("f", model:s("in", "in"):min_db() + ec.log(1.8 - eps_r))
local best = job:solve{ population = 16, generations = 1, polish = false, on_failure = "value", failure_value = -1e4 }
assert(best.failed > 0 and best.status == "feasible" and best.variables.eps_r < 1.8)
