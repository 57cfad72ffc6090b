-- expect: index_outside.lua:4: element 4 is asked for, allowed are 1 to 3
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", count = 3, min = 0, max = 1 }
local y = x[4]
