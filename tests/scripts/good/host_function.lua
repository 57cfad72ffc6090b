-- expect: host functions
-- expect: warning: the function of ec.host (line 17) failed, its designs count as failed: host_function.lua:18: broken
local ec = require "eciton"
local job = ec.job{ name = "host", seed = 5 }
local x = job:real{ name = "x", count = 2, min = -1, max = 1 }
local calls = 0
job:minimize("f", ec.host(function(c)
    calls = calls + 1
    local f = {}
    for k = 1, #c[1] do f[k] = c[1][k] ^ 2 + c.both[2][k] ^ 2 end
    if #f > 1 then f[1] = 0 / 0 end -- a failed design
    return f
end, { x[1], both = x }) + 1)
local best = job:solve{ population = 30, generations = 40, final_designs = 1 }
assert(calls >= 40 and calls < 60, calls)
assert(best.failed >= 40, best.failed)
job:record("g", ec.host(function()
    error("broken")
end, { x }))
best = job:solve{ population = 30, generations = 4 }
print("host functions")
