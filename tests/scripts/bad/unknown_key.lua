-- expect: unknown_key.lua:4: job:real: unknown key 'maxx' (did you mean 'max'?)
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, maxx = 1 }
