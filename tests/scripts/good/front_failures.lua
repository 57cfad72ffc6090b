-- flags: --json
-- expect: "front":{"reference":[
-- expect: "objectives":{"f":[
-- refuse: null,null
local ec = require "eciton"
-- half of the box is NaN: no such design survives
local job = ec.job{ name = "half" }
local x = job:real{ name = "x", count = 4, min = -1, max = 1 }
job:minimize("f", ec.sum(x^2) + ec.log(x[1]))
job:minimize("g", ec.sum((x - 1)^2))
local best = job:solve{ method = "nsga2", population = 20, generations = 20 }
assert(best.failed > 0 and best.status == "feasible")
for i = 1, #best.front do
    assert(best.front.variables.x[i][1] > 0 and best.front.objectives.f[i] == best.front.objectives.f[i])
end
