-- expect: sample_counts.lua:4: ec.over: a list of 3 samples does not fit the 1 samples that are there already
local ec = require "eciton"
local a = ec.over{ values = {5} }
local b = ec.over{ values = {1, 2, 3} }
print(ec.value((a * b):mean()))
