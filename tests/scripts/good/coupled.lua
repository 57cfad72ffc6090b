-- expect: one frequency, file and by hand: agree
-- expect: over frequencies: agree
local ec = require "eciton"
local job = ec.job{ name = "coupled", seed = 1 }
local a = job:real{ name = "a", count = 2, min = 0.5, max = 1 }
local s = ec.load_touchstone("coupling.s2p")
local x = { 0, 0.15 }
local function array(keys)
    keys.x, keys.theta_deg = x, ec.range(-90, 90, 181)
    return ec.array(keys)
end
local at = { theta_deg = {-60, 0, 25}, relative = false }
local coupled = array{ amplitude = a, frequency = 0.95*ec.GHz, coupling = s }
local over = array{ amplitude = a, frequency = ec.over{ 0.9*ec.GHz, 0.95*ec.GHz }, coupling = s }
job:minimize("f", coupled:sll_db() + ec.sum(a))
local best = job:solve{ method = "de", population = 8, evaluations = 64 }
-- the middle of both frequencies
local re, im = {}, {}
for i = 1, 2 do
    re[i], im[i] = {}, {}
    for k = 1, 2 do
        local sr, si = s:s(i, k)
        re[i][k], im[i][k] = (sr[1] + sr[2]) / 2, (si[1] + si[2]) / 2
    end
end
local w = best.variables.a
local amplitude, phase = {}, {}
for i = 1, 2 do
    local br, bi = w[i] - re[i][1] * w[1] - re[i][2] * w[2], -im[i][1] * w[1] - im[i][2] * w[2]
    amplitude[i], phase[i] = math.sqrt(br^2 + bi^2), math.atan(bi, br)
end
local plain = array{ amplitude = amplitude, phase = phase, frequency = 0.95*ec.GHz }
local p, c = best:value(plain:level_db(at)), best:value(coupled:level_db(at))
for i = 1, 3 do assert(math.abs(p[i] - c[i]) < 1e-9) end
print("one frequency, file and by hand: agree")
local own = array{ amplitude = a, frequency = 0.9*ec.GHz, coupling = s }
at.theta_deg = 25
local mean = best:value(over:level_db(at):mean())
assert(math.abs(mean - (best:value(own:level_db(at)) + c[3]) / 2) < 1e-9)
print("over frequencies: agree")
