-- What a failing function of ec.host was asked for is nan everywhere, never 0; warned of once.
-- flags: --json
-- expect: late	nan	nan	failed
-- expect: "status":"failed","objectives":{"f":null},"search":{"f":null}
-- expect: the best design of the search failed at final fidelity
-- expect: good	nan	1.0
-- expect: best:value: host is nan: the function of ec.host failed
-- expect: value	nan
-- refuse: eciton: warning
local ec = require "eciton"
local good = ec.job{ name = "good" }
local y = good:real{ name = "x", min = 0.5, max = 0.5 }
local fails = ec.host(function() error("always") end, { y = y })
good:minimize("f", y)
good:record("h", fails)
good:record("twice", 2 * y)
local best = good:solve{ generations = 2 }
print("good", best.recorded.h, best.recorded.twice)
print("value", best:value(ec.max(fails, 0) + 1))

local job = ec.job{ name = "late" }
local x = job:real{ name = "x", min = 0.2, max = 1 }
local calls = 0
job:minimize("f", ec.host(function(c)
    calls = calls + 1
    if calls > 8 then error("too late") end
    return c.x:table()
end, { x = x }))
best = job:solve{ generations = 8 }
print("late", best.objectives.f, best.search.f, best.status)
