-- All samples at the winner as a file, for a histogram.
-- flags: --out OUT
-- file: built.csv
-- expect: 40 built ones
local ec = require "eciton"
local job = ec.job{ name = "samples" }
local x = job:real{ name = "x", min = -1, max = 1 }
local e = ec.over{ shift = ec.normal{ sigma = 0.1 }, samples = 4 }
local y = (x + e.shift) ^ 2
job:minimize("y", y:mean())
job:record("all", y)
local best = job:solve{ evaluations = 1000 }
best:value(y):save("built.csv")
print(#best:value(y) .. " built ones", #best.recorded.all == 40 and "" or "records differ")
