-- A function of ec.host that evaluates itself at an earlier result still has its own columns afterwards.
-- expect: columns kept	true
-- refuse: failed, its designs
local ec = require "eciton"
local job = ec.job{ name = "itself" }
local x = job:real{ name = "x", min = 0, max = 1 }
local best, host, kept, inside
host = ec.host(function(c)
    local n = #c.x
    if best and n > 1 and not inside then
        inside = true
        kept = math.abs(best:value(host) - best.objectives.f) == 0 and #c.x == n and c.x[n] >= 0
        inside = false
    end
    return c.x:table()
end, { x = x })
job:minimize("f", host)
best = job:solve{ generations = 3 }
job:solve{ generations = 3 }
print("columns kept", kept)
