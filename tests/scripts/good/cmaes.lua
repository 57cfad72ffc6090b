-- expect: cmaes and acor solve it
-- A constrained bowl of reals, integers and bits, by both methods; the same seed gives the same design.
local ec = require "eciton"
local function solve(method, options)
    local job = ec.job{ name = "mixed", seed = 3 }
    local x = job:real{ name = "x", count = 4, min = -2, max = 2, start = {1.5, 1.5, 1.5, 1.5} }
    local n = job:integer{ name = "n", count = 3, min = -9, max = 9 }
    local b = job:binary{ name = "b", count = 3 }
    local pick = job:choice{ name = "pick", from = 5 }
    job:minimize("f", ec.sum((x - 0.5) ^ 2) + ec.sum((n - 4) ^ 2) + ec.sum((b - {1, 0, 1}) ^ 2) + (pick - 2) ^ 2)
    job:subject_to("first", x[1], { min = 0.75 })
    options.method = method
    options.evaluations = 12000
    return job:solve(options)
end
for method, options in pairs{ cmaes = { restarts = "ipop", sigma = 0.2 }, acor = { q = 0.1, population = 40 } } do
    local best, again = solve(method, options), solve(method, options)
    assert(math.abs(best.objectives.f - 0.0625) < 1e-4, method .. ": " .. best.objectives.f)
    assert(best.variables.n[3] == 4 and best.variables.b[2] == 0 and best.variables.pick == 2, method)
    assert(best.objectives.f == again.objectives.f and best.variables.x[2] == again.variables.x[2], method)
end
print("cmaes and acor solve it")
