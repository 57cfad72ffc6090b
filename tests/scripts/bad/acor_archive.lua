-- expect: acor_archive.lua:6: job:solve: key 'archive'
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
job:solve{ method = "acor", archive = 1, generations = 5 }
