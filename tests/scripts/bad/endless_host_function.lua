-- env: ECITON_SCRIPT_SECONDS=0.5
-- expect: endless_host_function.lua:7: job:solve: a function of ec.host ran longer than 0.5 s in one generation
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", ec.host(function() while true do end end, { x = x }))
job:solve{ generations = 50 }
