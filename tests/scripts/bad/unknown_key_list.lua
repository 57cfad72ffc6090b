-- expect: unknown_key_list.lua:4: job:real: unknown key 'colour', allowed are name, min, max, count, start, group
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1, colour = "red" }
