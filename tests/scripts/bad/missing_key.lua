-- expect: missing_key.lua:4: job:real: key 'max' is missing (upper bound, a number or one for each element)
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0 }
