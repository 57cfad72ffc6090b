-- flags: --set cuont=3
-- expect: --set cuont=3: no line of set_unasked.lua asked for it
local ec = require "eciton"
local n = ec.arg("count", 5)
