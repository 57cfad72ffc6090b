-- expect: touchstone_truncated.lua:3: ec.load_touchstone: truncated.s2p, line 2: the file ends
local ec = require "eciton"
local s = ec.load_touchstone("truncated.s2p")
