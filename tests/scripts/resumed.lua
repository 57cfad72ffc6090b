-- Two searches of a script that is killed and goes on: the second one's job depends on the first
-- one's result. A host function takes the time that a kill needs.
local ec = require "eciton"

local function search(name, centre)
  local job = ec.job{ name = name, seed = 5 }
  local x = job:real{ name = "x", count = 8, min = -5, max = 5 }
  local slow = ec.host(function(columns)
    local values, from = {}, os.clock()
    while os.clock() - from < 0.004 do end
    for i = 1, #columns.x1 do values[i] = 0 end
    return values
  end, { x1 = x[1] })
  job:minimize("f", ((x - centre) ^ 2 - ec.cos(5 * x)):sum() + slow)
  return job:solve{ method = ec.arg("method", "lshade"), generations = 100, population = 40 }
end

local first = search("first", 1.5)
local second = search("second", first.variables.x[1])
print(string.format("%.17g %.17g", first.objectives.f, second.objectives.f))
