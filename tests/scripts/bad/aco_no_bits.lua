-- expect: aco_no_bits.lua:6: job:solve: aco: every variable is real, and ants choose bits: give bits = 8
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", count = 2, min = 0, max = 1 }
job:minimize("f", x:sum())
job:solve{ method = "aco", colonies = 4, generations = 5 }
