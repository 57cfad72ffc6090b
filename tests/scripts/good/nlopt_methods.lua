-- flags: --seed 3
-- expect: nlopt_ld_slsqp: 40 searches:
-- expect: nlopt_ld_lbfgs takes no constraints: it runs inside NLopt's augmented Lagrangian
-- expect: the method 'nlopt_ld_slsqp' had nothing left to try
-- expect: all met
local ec = require "eciton"
-- Hock and Schittkowski, problem 71
local job = ec.job{ name = "hs71" }
local x = job:real{ name = "x", count = 4, min = 1, max = 5, start = {1, 5, 5, 1} }
job:minimize("f", x[1] * x[4] * (x[1] + x[2] + x[3]) + x[3])
job:subject_to("product", x[1] * x[2] * x[3] * x[4], { min = 25 })
job:subject_to("squares", (x ^ 2):sum(), { equal = 40, tolerance = 1e-6 })
local runs = {
    { method = "nlopt_ld_slsqp", population = 40, restarts = false, evaluations = 1e6 },
    { method = "nlopt_ld_lbfgs", population = 8, evaluations = 4000 },
    { method = "nlopt_ld_ccsaq", population = 2, evaluations = 8000 },
    { method = "nlopt_auglag", inner = "ld_tnewton", population = 8, evaluations = 4000 },
    { method = "nlopt_ln_cobyla", population = 8, evaluations = 8000 }
}
for _, run in ipairs(runs) do
    local best = job:solve(run)
    assert(math.abs(best.objectives.f - 17.0140173) < 1e-4, run.method .. ": " .. best.objectives.f)
    assert(best.constraints.product < 1e-6 and math.abs(best.constraints.squares) < 2e-6)
end
print("all met")
