-- expect: pattern_key.lua:3: ec.load_pattern: unknown key 'frequenzy' (did you mean 'frequency'?)
local ec = require "eciton"
local p = ec.load_pattern("two.ffd", { frequenzy = 1e9 })
