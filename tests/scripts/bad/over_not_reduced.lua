-- expect: over_not_reduced.lua:6: job:minimize: objective 'f': the value varies over the samples of ec.over
-- expect: :mean(), :max()
local ec = require "eciton"
local job = ec.job{ name = "j" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", (x - ec.over{ 0.9, 1 }) ^ 2)
