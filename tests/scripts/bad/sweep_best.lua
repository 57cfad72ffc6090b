-- expect: sweep_best.lua:6: job:sweep: key 'name': 'best.csv' is a file of a search: give another name
-- flags: --out OUT
local ec = require "eciton"
local job = ec.job{ name = "bad" }
job:record("y", 2 * job:real{ name = "x", min = 1, max = 2 })
job:sweep{ points = { x = 3 }, name = "best" }
