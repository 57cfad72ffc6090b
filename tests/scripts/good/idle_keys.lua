-- Keys without an effect are named once, with what they go with.
-- expect: warning: solve: 'polish_designs' has no effect here, it goes with polish = true
-- expect: warning: solve: 'stagnation_tolerance' has no effect here, it goes with stagnation
-- expect: warning: solve: 'groups' has no effect here, it goes with variables with group = true
-- expect: warning: solve: 'migrate' of method 'lshade' has no effect here, it goes with islands above 1
-- expect: warning: solve: 'spread' has no effect here, it goes with methods whose designs come together
-- expect: warning: solve: 'deposit' of method 'aco' has no effect here, it goes with rule = "proportional"
-- expect: warning: solve: 'F' of method 'current_to_pbest' has no effect here, it goes with adapt = false
-- expect: spread never ends method 'aco', whose designs stay apart
-- refuse: 'exchange' of
-- refuse: 'CR' of
-- refuse: polish_seconds
local ec = require "eciton"
local job = ec.job{ name = "idle" }
local x = job:real{ name = "x", count = 3, min = -1, max = 1 }
job:minimize("f", ec.sum(x ^ 2))
job:solve{ generations = 3, polish_designs = 2, stagnation_tolerance = 0.1, groups = 3, migrate = 5 }
job:solve{ generations = 3, method = "aco", bits = 6, spread = 0.1, deposit = 2, colonies = 2, exchange = 1 }
job:solve{ generations = 3, method = "current_to_pbest", F = 0.7, CR = 0.9 }
job:solve{ generations = 3, polish = false, polish_seconds = 3 } -- turned off
local good, text = pcall(job.solve, job, { method = "aco", bits = 6, spread = 0.1 })
assert(not good)
print(text)
