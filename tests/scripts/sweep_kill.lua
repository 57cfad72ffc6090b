-- A sweep that takes some seconds: run_scripts.sh kills it and lets it go on.
local ec = require "eciton"
local job = ec.job{ name = "killed" }
local gap = job:real{ name = "gap", count = 4, min = 0.4, max = 0.8 }
local array = ec.array{ x = ec.cumsum(ec.concat(0, gap, gap, gap, gap, gap, gap)), wavelength = 1,
    u = ec.range(-1, 1, 40001) }
job:minimize("sll_db", array:sll_db{ look_u = 0, exclude_u = ec.arg("exclude", 0.1) })
job:record("hpbw_deg", array:hpbw_deg())
print(job:sweep{ points = { gap = 9 }, name = "rows" })
