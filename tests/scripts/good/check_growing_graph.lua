-- The check counts the nodes that were planned, also when a function of ec.host adds to the graph meanwhile.
-- command: check
-- expect: us an evaluation
local ec = require "eciton"
local job = ec.job{ name = "grows" }
local x = job:real{ name = "x", min = 0, max = 1 }
local first = true
job:minimize("f", x + ec.host(function()
    if first then
        for i = 1, 20000 do ec.constant(i + 0.5):sin() end
        first = false
    end
    return { 1 }
end, { one = ec.constant(1) }))
job:solve{ generations = 3 }
