-- expect: taper_key.lua:3: ec.taper.chebyshev: key 'sll_db': 30 is not allowed, it must be at least -200 and at most -1
local ec = require "eciton"
local w = ec.taper.chebyshev{ count = 20, sll_db = 30 }
