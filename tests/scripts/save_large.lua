-- A file of more than 100 blocks.
local ec = require "eciton"
ec.range(0, 1, 100000):save("large.csv")
