-- expect: compare.lua:5: an expression has no value while the script runs, so it cannot be compared here
-- expect: ec.lt(a, b)
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", min = 0, max = 1 }
if x < 3 then print("never") end
