-- expect: pattern_frequency.lua:3: ec.load_pattern: two.ffd has 2 fields, from 1000000000 to 2000000000 Hz: which frequency is wanted?
local ec = require "eciton"
local p = ec.load_pattern("two.ffd")
