-- flags: --out OUT
-- expect: save_array_uneven.lua:9: best:save: a .ffd file has even steps, but theta
local ec = require "eciton"
local job = ec.job{ name = "save" }
local a = job:real{ name = "a", min = 0.5, max = 1 }
local array = ec.array{ x = { 0, 0.5 }, amplitude = a, wavelength = 1, theta_deg = { 0, 1, 5 }, phi_deg = { 0, 90 } }
job:minimize("a", a)
local best = job:solve{ population = 10, generations = 2 }
best:save("x.ffd", array)
