-- flags: --out OUT
-- expect: save_array_kind.lua:9: best:save: wants an array of ec.array, a link of ec.mimo or a model of ec.fdtd behind the name of the file, got a number
local ec = require "eciton"
local job = ec.job{ name = "save" }
local a = job:real{ name = "a", min = 0.5, max = 1 }
local array = ec.array{ x = { 0, 0.5 }, amplitude = a, wavelength = 1, u = ec.range(-1, 1, 21) }
job:minimize("a", a)
local best = job:solve{ population = 10, generations = 2 }
best:save("x.csv", 3)
