-- expect: nlopt_ln_cobyla: 60 evaluations are few for 16 searches side by side: with population = 1 one has them all
-- expect: lbfgs: 10 evaluations are few for 20 runs side by side
-- A budget that is shared among searches which none of them ends with; one alone has it all.
local ec = require "eciton"
local job = ec.job{ name = "few" }
local x = job:real{ name = "x", count = 6, min = -1, max = 1 }
job:minimize("f", (x * x):sum())
local shared = job:solve{ method = "nlopt_ln_cobyla", evaluations = 60 }
local alone = job:solve{ method = "nlopt_ln_cobyla", evaluations = 60, population = 1 }
assert(alone.objectives.f < 0.5 * shared.objectives.f)
job:solve{ method = "lbfgs", evaluations = 10, population = 20 }
