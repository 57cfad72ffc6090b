-- expect: target is for one objective, job 'two' has 2
-- expect: polish follows the gradient of one objective, job 'two' has 2
-- expect: reference has 3 numbers, job 'two' has 2 objectives
-- expect: reference is for several objectives, job 'one' has one
-- expect: stagnation looks at the hypervolume, which is known for up to 3 objectives, job 'four' has 4
-- expect: best.front: the job has one objective
-- expect: best.front.objectives has no 'c'; it has a, b
-- expect: best.front has no 'membres'; it has objectives, search
-- expect: method 'nsga2' does not evolve group variables; use 'rand1bin'
-- expect: population': 3 is too small, method 'nsga2' needs at least 4
-- expect: best.front:save: 'front.npy': a front is saved as .csv
local ec = require "eciton"
local function try(f, ...)
    local good, message = pcall(f, ...)
    assert(not good)
    print(message)
end
local function make(name, objectives)
    local job = ec.job{ name = name }
    local x = job:real{ name = "x", min = 0, max = 1 }
    for i = 1, objectives do job:minimize(string.char(96 + i), (x - i)^2) end
    return job
end
local function solve(job, keys)
    keys.method, keys.report = "nsga2", false
    keys.generations = keys.generations or 3
    return job:solve(keys)
end
local one, two, four = make("one", 1), make("two", 2), make("four", 4)
try(solve, two, { target = 1 })
try(solve, two, { polish = true })
try(solve, two, { reference = { 1, 2, 3 } })
try(solve, one, { reference = { 1 } })
try(solve, four, { stagnation = 5 })
local best = solve(two, {})
try(function() return solve(one, {}).front end)
try(function() return best.front.objectives.c end)
try(function() return best.front.membres end)
local grouped = make("grouped", 2)
grouped:real{ name = "shared", min = 0, max = 1, group = true }
try(solve, grouped, {})
try(solve, two, { population = 3 })
try(function() best.front:save("front.npy") end)
