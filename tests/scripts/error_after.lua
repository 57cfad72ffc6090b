-- Fails behind its search.
local ec = require "eciton"
local job = ec.job{ name = "error_after" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:solve{ generations = ec.arg("generations", 4) }
error("behind the search")
