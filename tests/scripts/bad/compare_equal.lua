-- expect: compare_equal.lua:4: an expression has no value while the script runs, so == cannot compare it
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", min = 0, max = 1 }
if x == x * 2 then print("never") end
