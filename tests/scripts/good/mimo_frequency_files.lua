-- The files of a link whose frequency is a design variable are those of the winner's frequency.
-- flags: --quiet --out OUT
-- file: channel.csv
-- file: paths.csv
-- expect: same: true
local ec = require "eciton"
local scene = ec.scene{ ec.ground{ size = { 100, 100 }, material = "itu_concrete" } }
local job = ec.job{ name = "tone", seed = 1 }
local f = job:real{ name = "f", min = 2e9, max = 3e9 }
local link = ec.mimo{ scene = scene, frequency = f, depth = 1, tx = { z = 2 }, rx = { x = { 20, 21 }, z = 1.5 } }
job:maximize("gain", link:path_gain_db()[1][1])
local best = job:solve{ evaluations = 100 }
local fixed = ec.mimo{ scene = scene, frequency = best.variables.f, depth = 1, tx = { z = 2 },
    rx = { x = { 20, 21 }, z = 1.5 } }
print("same: " .. tostring(math.abs(ec.value(fixed:path_gain_db())[1] - best.objectives.gain) < 1e-9))
