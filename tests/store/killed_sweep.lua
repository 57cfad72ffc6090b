-- A sweep of 10,000 points that kill.sh and share.sh end in the middle and share.
local ec = require "eciton"
local job = ec.job{ name = "shared" }
local gap = job:real{ name = "gap", count = 4, min = 0.4, max = 0.8 }
local array = ec.array{ x = ec.cumsum(ec.concat(0, gap, gap, gap)), wavelength = 1,
  u = ec.range(-1, 1, ec.arg("directions", 2001)) }
job:minimize("sll_db", array:sll_db{ look_u = 0, exclude_u = 0.1 })
job:record("hpbw_deg", array:hpbw_deg())
print(job:sweep{ points = { gap = 10 }, name = "rows" })
