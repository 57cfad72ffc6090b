-- expect: method 'nlopt_ld_auglag' wants a local algorithm with gradients, and 'ln_bobyqa' is one without
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", count = 2, min = 0, max = 1 }
job:minimize("f", (x ^ 2):sum())
job:solve{ method = "nlopt_ld_auglag", inner = "ln_bobyqa", evaluations = 100 }
