-- expect: pattern_ending.lua:3: ec.load_pattern: 'pattern_ending.lua': a far field is read from a file that ends in .ffd
local ec = require "eciton"
local p = ec.load_pattern("pattern_ending.lua")
