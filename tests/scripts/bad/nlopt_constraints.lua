-- expect: method 'nlopt_gn_crs2_lm' takes no constraints of this kind; global methods that do: nlopt_gn_orig_direct, nlopt_gn_orig_direct_l, nlopt_gn_isres
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", count = 2, min = 0, max = 1 }
job:minimize("f", (x ^ 2):sum())
job:subject_to("g", x:sum(), { min = 1 })
job:solve{ method = "nlopt_gn_crs2_lm", evaluations = 100 }
