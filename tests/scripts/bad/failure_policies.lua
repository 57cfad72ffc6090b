-- What on_failure does, in the search and with the other samples of the final figures.
-- expect: every policy does what it says
local ec = require "eciton"
local function why(job, keys)
    local good, text = pcall(job.solve, job, keys)
    return not good and text
end

-- "stop" quotes the function of ec.host
local job = ec.job{ name = "quoted" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", ec.host(function(c) error("no licence for the solver") end, { x = x }))
local text = why(job, { generations = 3, population = 20, on_failure = "stop" })
assert(text:find("design 1 of generation 1 failed", 1, true) and text:find("no licence for the solver", 1, true), text)

-- a root of what only final samples make negative: 64 of them reach further than two
local function robust(keys)
    local e = ec.over{ z = ec.normal{ sigma = 1 }, samples = 2, final_samples = 64, seed = 5 }
    local job = ec.job{ name = "robust", seed = 3 }
    local x = job:real{ name = "x", min = 1.5, max = 1.6 }
    job:minimize("f", ec.sqrt(x + e.z):mean())
    keys.population, keys.generations = 20, 3
    return job, keys
end
for _, policy in ipairs{ "worst", "retry", "value" } do -- chance has no part in it
    local job, keys = robust{ on_failure = policy, failure_value = policy == "value" and 9 or nil }
    local best = job:solve(keys)
    assert(best.status == "failed" and best.objectives.f ~= best.objectives.f and best.search.f > 0)
    assert(best.failed == 0)
end
text = why(robust{ on_failure = "stop" })
assert(text:find("at final fidelity a design of the best failed", 1, true) and text:find("x = 1.5", 1, true), text)
print("every policy does what it says")
