-- expect: generations 2 stop time found true
-- expect: the time of 1 s was used
-- A call of a host function ends with the search; its generation is dropped.
local ec = require "eciton"
local job = ec.job{ name = "seconds_in_host" }
local x = job:real{ name = "x", min = 0, max = 1 }
local calls = 0
local y = ec.host(function(columns)
    calls = calls + 1
    while calls == 3 do
        pcall(function() while true do end end)
    end
    return columns.x
end, { x = x })
job:minimize("f", y)
local best = job:solve{ seconds = 1 }
print(("generations %d stop %s found %s"):format(best.generations, best.stop, tostring(best.found)))
local steps = 0
for i = 1, 1e5 do steps = steps + i end -- the script goes on as before
