-- Without another grid at final fidelity the winner alone is run again.
-- command: check
-- expect: for final figures of 1 design
-- refuse: of 16 designs
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "designs" }
local eps_r = job:real{ name = "eps_r", min = 1, max = 2 }
local model = ec.fdtd{ frequency = 3*GHz, cell = 10*mm, steps = 256, boundary = "pec",
    domain = { from = {0, 0, 0}, to = {60*mm, 40*mm, 80*mm} },
    ec.box{ size = {60*mm, 40*mm, 20*mm}, at = {30*mm, 20*mm, 10*mm}, eps_r = eps_r },
    ec.port{ name = "in", from = {20*mm, 0, 40*mm}, to = {20*mm, 40*mm, 40*mm} } }
job:minimize("s11_db", model:s("in", "in"):min_db())
job:solve{ population = 8, generations = 2 }
