-- Indices of choices count from 1 in the script, the table, the files and the JSON line.
-- flags: --json --out OUT
-- expect: script	2.0	3.0	20.0	3.0
-- expect: "variables":{"x":[2],"y":[3]},"recorded":{"item":[20],"index":[3]}
-- file: best.csv
local ec = require "eciton"
local job = ec.job{ name = "choice" }
local x = job:choice{ name = "x", from = {10, 20, 30}, start = 2 }
local y = job:choice{ name = "y", from = 5, start = 3 }
job:record("item", x)
job:record("index", y)
job:minimize("f", ec.abs(x - 20) + ec.abs(y - 3))
local best = job:solve{ generations = 4 }
print("script", best.variables.x, best.variables.y, best.recorded.item, best.recorded.index)
