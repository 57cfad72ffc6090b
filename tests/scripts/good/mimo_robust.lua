-- A mast whose height is chosen for the worst of a band's frequencies, drawn anew for the final figures;
-- the same with each frequency of a fine list shows that it is.
-- flags: --quiet
-- expect: drawn: true
-- expect: better than the middle of the range: true
local ec = require "eciton"
local scene = ec.scene{ ec.ground{ size = { 200, 200 }, material = "itu_medium_dry_ground" } }
local job = ec.job{ name = "mast", seed = 1 }
local f = ec.over{ tone = ec.uniform{ min = 3.4e9, max = 3.6e9 }, samples = 16, final_samples = 64 }
local function link(h, tone)
    return ec.mimo{ scene = scene, frequency = tone, depth = 1, tx = { z = h }, rx = { x = 30, z = 1.5 } }
        :path_gain_db()[1][1]
end
local h = job:real{ name = "h", min = 2, max = 6 }
job:maximize("worst", link(h, f.tone):min())
local best = job:solve{ method = "de", evaluations = 600 }
local function worst(height)
    local list = ec.value(ec.mimo{ scene = scene, frequency = ec.range(3.4e9, 3.6e9, 201), depth = 1,
        tx = { z = height }, rx = { x = 30, z = 1.5 } }:path_gain_db())
    local least = math.huge
    for i = 1, #list do
        least = math.min(least, list[i])
    end
    return least
end
print("drawn: " .. tostring(math.abs(worst(best.variables.h) - best.objectives.worst) < 0.3))
print("better than the middle of the range: " .. tostring(worst(best.variables.h) > worst(4)))
