-- expect: wrong_result_name.lua:7: best.objectives has no 'g'
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
local best = job:solve{ generations = 5, population = 20 }
print(best.objectives.g)
