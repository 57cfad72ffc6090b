-- flags: --out OUT
-- file: saved.csv
-- file: saved.npy
-- file: list.csv
local ec = require "eciton"
local job = ec.job{ name = "save" }
local x = job:real{ name = 'x,"1"', min = 0, max = 1 }
job:minimize("f", x)
local best = job:solve{ population = 10, generations = 2 }
best:save("saved.csv")
best:save("saved.npy")
ec.range(0, 1, 5):save("list.csv")
