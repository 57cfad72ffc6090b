-- A link whose frequency is an expression: samples of a distribution, a list over samples, a design
-- variable. Two rays over a conducting ground, polarised across the plane of incidence, in closed form.
-- flags: --quiet
-- expect: list of samples: true
-- expect: design variable: true
-- expect: wavelength: true
local ec = require "eciton"
local scene = ec.scene{ ec.ground{ size = { 200, 200 }, material = "pec" } }
local far, low = 30, 1.5

local function two_rays(f, h)
    local w = 299792458 / f
    local r1, r2 = (far ^ 2 + (h - low) ^ 2) ^ 0.5, (far ^ 2 + (h + low) ^ 2) ^ 0.5
    local a1, a2, p = w / (4 * math.pi * r1), w / (4 * math.pi * r2), 2 * math.pi * (r2 - r1) / w
    return 10 * math.log(a1 ^ 2 + a2 ^ 2 - 2 * a1 * a2 * math.cos(p), 10)
end
local function link(keys, h)
    keys.scene, keys.depth = scene, 1
    keys.tx = { z = h, axis = { 0, 1, 0 } }
    keys.rx = { x = far, z = low, axis = { 0, 1, 0 } }
    return ec.mimo(keys):path_gain_db()[1][1]
end
local function same(a, b)
    return math.abs(a - b) < 1e-8
end

local f = ec.over{ 2.4e9, 3.5e9, 5.1e9 }
local each = true
for _, gain in ipairs{ { link({ frequency = f }, 4):min(), math.min }, { link({ frequency = f }, 4):max(), math.max } } do
    each = each and same(ec.value(gain[1]), gain[2](two_rays(2.4e9, 4), two_rays(3.5e9, 4), two_rays(5.1e9, 4)))
end
print("list of samples: " .. tostring(each))

local job = ec.job{ name = "tune", seed = 1 }
local tone, h = job:real{ name = "tone", min = 2e9, max = 3e9 }, job:real{ name = "h", min = 1, max = 6 }
job:maximize("gain", link({ frequency = tone }, h))
local best = job:solve{ method = "de", evaluations = 400 }
print("design variable: " .. tostring(same(best.objectives.gain, two_rays(best.variables.tone, best.variables.h))))
print("wavelength: " .. tostring(same(best:value(link({ wavelength = 299792458 / tone }, h)), best.objectives.gain)))
