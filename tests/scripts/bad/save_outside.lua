-- flags: --out OUT
-- expect: save_outside.lua:4: save: '../escaped.csv' lies outside
local ec = require "eciton"
ec.range(0, 1, 3):save("../escaped.csv")
