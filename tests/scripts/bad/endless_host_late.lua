-- env: ECITON_SCRIPT_SECONDS=0.3
-- flags: --out OUT
-- expect: endless_host_late.lua:16: job:solve: the function of ec.host (line 10) ran longer than
-- expect: bad: ended by an error: the function of ec.host
-- file: best.csv
-- file: history.csv
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x, calls = job:real{ name = "x", min = 0, max = 1 }, 0
job:minimize("f", ec.host(function(columns)
    calls = calls + 1
    while calls == 4 do end
    return columns.x
end, { x = x }))
-- what was found before is reported and written
job:solve{ method = "rand1bin", population = 10, generations = 50 }
