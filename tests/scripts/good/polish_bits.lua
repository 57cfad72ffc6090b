-- expect: discrete variables are polished
-- refuse: warning
-- The polish of bits, whole numbers and choices: a short search, and a local search that finds the best design.
local ec = require "eciton"

-- the ten largest of forty weights
local job = ec.job{ name = "bits", seed = 2 }
local weights, best_sum = {}, 0
for i = 1, 40 do
    weights[i] = 17 * i % 41
    best_sum = best_sum + (weights[i] > 30 and weights[i] or 0)
end
local bits = job:binary{ name = "bits", count = 40, sum = 10 }
job:maximize("worth", (bits * weights):sum())
local function solve(evaluations)
    return job:solve{ method = "rand1bin", population = 16, generations = 3, polish = true,
        polish_designs = 2, polish_evaluations = evaluations }
end
local best = solve(3000)
assert(best.objectives.worth == best_sum)
local few = solve(30)
assert(few.objectives.worth < best_sum)

-- a whole number, a choice and a real number, within a limit
job = ec.job{ name = "mixed", seed = 2 }
local n = job:integer{ name = "n", min = 0, max = 1000 }
local h = job:choice{ name = "h", from = {0.8, 1.6, 3.2, 6.4} }
local x = job:real{ name = "x", min = 0, max = 10 }
job:subject_to("even", n + 100 * h, { max = 700 })
job:minimize("f", (n - 500) ^ 2 + 10 * (h - 1.7) ^ 2 + (x - n / 100) ^ 2)
best = job:solve{ method = "rand1bin", population = 8, generations = 3, polish = true,
    polish_evaluations = 2000 }
assert(best.variables.n == 500 and best.variables.h == 2 and math.abs(best.variables.x - 5) < 1e-4)
print("discrete variables are polished")
