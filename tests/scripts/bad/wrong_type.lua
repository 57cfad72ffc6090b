-- expect: wrong_type.lua:4: job:real: key 'min': wants a number or a list of numbers, got a string
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = "zero", max = 1 }
