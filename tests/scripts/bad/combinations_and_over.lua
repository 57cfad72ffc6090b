-- expect: combinations_and_over.lua:5: ec.over: a list of 2 samples does not fit the 6 samples that are there already
local ec = require "eciton"
local s = ec.combinations{ steer_u = { 0, 0.2, 0.4 }, frequency = { 9e9, 10e9 } }
-- another axis of samples has to be one of the combined ones
local tolerance = ec.over{ 0.99, 1.01 }
