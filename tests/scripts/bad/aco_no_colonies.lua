-- expect: aco_no_colonies.lua:6: job:solve: key 'colonies': 0 is not allowed, it must be from 1 to 65536
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local b = job:binary{ name = "b", count = 5 }
job:minimize("f", b:sum())
job:solve{ method = "aco", colonies = 0, generations = 5 }
