-- A function of ec.host that searches with itself comes to an end.
-- expect: job:solve: a search in a function of ec.host, nested deeper than 4: does the function search with itself?
-- expect: nested_searches.lua:16: best.objectives: no design was found
local ec = require "eciton"
local depth = 0
local function search()
    depth = depth + 1
    local job = ec.job{ name = "search" .. depth }
    local x = job:real{ name = "x", min = 0, max = 1 }
    job:minimize("f", ec.host(function(c)
        local best = search()
        return best.found and c.x:table() or {}
    end, { x = x }))
    return job:solve{ generations = 1 }
end
print(search().objectives.f)
