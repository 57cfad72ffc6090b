-- flags: --out OUT
-- expect: save_array_ending.lua:9: best:save: 'x.txt': an array is saved as .ffd or .cut, its far field, or as .csv
local ec = require "eciton"
local job = ec.job{ name = "save" }
local a = job:real{ name = "a", min = 0.5, max = 1 }
local array = ec.array{ x = { 0, 0.5 }, amplitude = a, wavelength = 1, u = ec.range(-1, 1, 21) }
job:minimize("a", a)
local best = job:solve{ population = 10, generations = 2 }
best:save("x.txt", array)
