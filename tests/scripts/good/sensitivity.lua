-- flags: --out OUT
-- expect: Sobol indices of 4096 points
-- expect: elementary effects of 30 trajectories
-- expect: the indices are right
-- file: sensitivity_indices.csv
-- file: sensitivity_2_indices.csv
-- file: sensitivity.csv
-- Ishigami's function: S1 = 0.3139, 0.4424, 0; ST = 0.5576, 0.4424, 0.2437
local ec = require "eciton"
local job = ec.job{ name = "ishigami", seed = 1 }
local x = job:real{ name = "x", count = 3, min = -math.pi, max = math.pi }
local idle = job:real{ name = "idle", min = 0, max = 1, start = 0.25 }
job:record("f", ec.sin(x[1]) + 7 * ec.sin(x[2])^2 + 0.1 * x[3]^4 * ec.sin(x[1]))
job:record("i", idle)

local r = job:sensitivity{ points = 4096, variables = { "x" } }
local function near(p, q, by)
    if not (math.abs(p - q) < by) then error(p .. " is not near " .. q, 2) end
end
near(r.S1.f["x[1]"], 0.3139, 0.05)
near(r.S1.f["x[2]"], 0.4424, 0.05)
near(r.ST.f["x[3]"], 0.2437, 0.05)
assert(r.S1_conf.f["x[1]"] > 0 and r.dropped == 0 and #r.factors == 3 and #r.sweep == 4096 * 5)
assert(r.S1.i["x[1]"] ~= r.S1.i["x[1]"])     -- what does not vary has none: nan
local m = job:sensitivity{ method = "morris", trajectories = 30, levels = 4 }
near(m.mu_star.f["x[2]"], 7.875, 1e-9)
near(m.mu_star.i.idle, 1, 1e-9)
near(m.mu_star.f.idle, 0, 1e-12)
print("the indices are right")
