-- expect: memory_results.lua:12: not enough memory: the script may hold 1 GiB
-- env: ECITON_SCRIPT_SECONDS=100
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
local kept = {}
job:minimize("f", x)
for i = 1, 20 do
    job:record("r" .. i, x * ec.range(0, 1, 1e6))
end
for i = 1, 20 do
    kept[i] = job:solve{ population = 32, generations = 1 }
end
