-- expect: nan_constant.lua:4: right side of mul: element 2 is nan, a finite number is needed
local ec = require "eciton"
local x = ec.job{ name = "bad" }:real{ name = "x", count = 2, min = 0, max = 1 }
local y = x * {1, 0/0}
