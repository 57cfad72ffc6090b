-- expect: shapes.lua:5: ec.add: [3] and [4] do not fit
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", count = 3, min = 0, max = 1 }
local y = x + {1, 2, 3, 4}
