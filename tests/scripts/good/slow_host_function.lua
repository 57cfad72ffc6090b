-- env: ECITON_SCRIPT_SECONDS=0.3
-- flags: --threads 1
-- expect: beyond the limit of scripts true
-- A model may take longer for many designs than the script for itself.
local ec = require "eciton"
local job = ec.job{ name = "slow_host_function" }
local x = job:real{ name = "x", min = 0, max = 1 }
local longest = 0
local y = ec.host(function(columns)
    local start = os.clock()
    while os.clock() - start < 0.006 * #columns.x do end
    longest = math.max(longest, os.clock() - start)
    return columns.x
end, { x = x })
job:minimize("f", y)
job:solve{ population = 100, generations = 2 }
print("beyond the limit of scripts " .. tostring(longest > 0.5))
