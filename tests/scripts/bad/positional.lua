-- expect: positional.lua:4: job:real: a value without a key: write job:real{ name = "w"
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ "x", min = 0, max = 1 }
