-- A function of ec.host that calls the core on a thread of its own, which is collected afterwards.
-- expect: found	true
local ec = require "eciton"
local job = ec.job{ name = "threads" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", ec.host(function(c)
    coroutine.wrap(function() ec.value(ec.constant(1)) end)()
    collectgarbage()
    collectgarbage()
    return c.x:table()
end, { x = x }))
print("found", job:solve{ generations = 20 }.found)
