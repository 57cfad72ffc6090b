-- The check tells how many samples a design meets.
-- command: check
-- expect: samples    16 for each design, 160 others for the final figures
local ec = require "eciton"
local job = ec.job{ name = "samples" }
local x = job:real{ name = "x", min = -1, max = 1 }
local e = ec.over{ shift = ec.normal{ sigma = 0.1 }, samples = 16 }
job:minimize("y", ((x + e.shift) ^ 2):mean())
job:solve{ evaluations = 1000 }
