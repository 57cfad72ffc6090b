-- expect: best 3 after 2
-- refuse: sphere
-- A search with report = false prints nothing; the script has its result.
local ec = require "eciton"
local job = ec.job{ name = "sphere" }
local x = job:real{ name = "x", min = 3, max = 5 }
job:minimize("far", x * 1)
for _ = 1, 2 do
    job:solve{ generations = 400, seconds = 20, spread = 1e-9, report = false }
end
local best = job:solve{ generations = 400, seconds = 20, spread = 1e-9, report = false }
print(("best %.4g after 2"):format(best.variables.x))
