-- expect: save_without_out.lua:3: save: 'x.csv' cannot be written: run with --out DIR
local ec = require "eciton"
ec.range(0, 1, 3):save("x.csv")
