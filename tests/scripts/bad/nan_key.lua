-- expect: nan_key.lua:4: job:real: key 'min': wants a finite number, got
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0/0, max = 1 }
