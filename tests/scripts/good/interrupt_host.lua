-- flags: --set generations=3
-- expect: evaluations
-- run_scripts.sh sends a signal while the function runs: the search keeps its best
local ec = require "eciton"
local job = ec.job{ name = "interrupt_host" }
local x = job:real{ name = "x", min = -1, max = 1 }
job:minimize("f", ec.host(function(c)
    local f = {}
    for k = 1, #c.x do
        f[k] = c.x[k] ^ 2
        for i = 1, 10000 do f[k] = f[k] + i * 1e-30 end
    end
    return f
end, { x = x }))
job:solve{ population = 50, generations = ec.arg("generations", 1000000) }
