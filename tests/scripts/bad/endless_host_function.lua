-- env: ECITON_SCRIPT_SECONDS=0.5
-- expect: endless_host_function.lua:7: job:solve: the function of ec.host (line 6) ran longer than 0.9 s for 8 designs: is this an endless loop?
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", ec.host(function() while true do end end, { x = x }))
job:solve{ population = 8, generations = 50 }
