-- expect: method 'lbfgs' takes no constraints; nlopt_ld_slsqp
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", count = 2, min = 0, max = 1 }
job:minimize("f", (x ^ 2):sum())
job:subject_to("g", x:sum(), { min = 1 })
job:solve{ method = "lbfgs", evaluations = 100 }
