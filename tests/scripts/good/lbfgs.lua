-- expect: lbfgs: 64 runs: 55 converged, 9 as low as rounding lets them
-- expect: found 0.5
-- expect: integer, binary and choice variables stay where a search starts
local ec = require "eciton"
local job = ec.job{ name = "waves", seed = 2 }
local x = job:real{ name = "x", count = 2, min = -2, max = 2 }
local d = x - 0.5
job:minimize("f", (d ^ 2 + 0.1 * (1 - ec.cos(4 * math.pi * d))):sum())
local best = job:solve{ method = "lbfgs", restarts = false, evaluations = 1e5 }
assert(best.objectives.f < 1e-12)
print(string.format("found %.1f", best.variables.x[1]))

local mixed = ec.job{ name = "mixed", seed = 2 }
local y = mixed:real{ name = "y", min = -2, max = 2 }
local n = mixed:integer{ name = "n", min = -3, max = 3 }
mixed:minimize("f", (y - 0.25 * n) ^ 2 + n ^ 2)
local found = mixed:solve{ method = "lbfgs", evaluations = 1e4, seconds = 20 }
assert(found.objectives.f < 1e-12 and found.variables.n == 0)
