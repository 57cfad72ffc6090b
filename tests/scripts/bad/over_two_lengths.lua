-- expect: over_two_lengths.lua:4: ec.over: a list of 32 samples at final fidelity does not fit the 320 samples that are there already
local ec = require "eciton"
local a = ec.over{ shift = ec.normal{ sigma = 1 }, samples = 32 }
local b = ec.over(ec.range(0, 1, 32))
