-- expect: pattern_truncated.lua:3: ec.load_pattern: truncated.ffd, line 5: the file ends, expected Re and Im
local ec = require "eciton"
local p = ec.load_pattern("truncated.ffd")
