-- the last line of --json is compared by run_scripts.sh for several threads and chunks
local ec = require "eciton"
local job = ec.job{ name = "determinism", seed = 7 }
local x = job:spaced{ name = "x", count = 12, aperture = 8, min_gap = 0.5 }
local u = ec.range(0.12, 1, 97)
local peak
for i = 1, #u do
    local level = ec.square(ec.sum(ec.cos(2 * ec.pi * u[i] * x))) + ec.square(ec.sum(ec.sin(2 * ec.pi * u[i] * x)))
    peak = peak and ec.max(peak, level) or level
end
job:minimize("peak", peak)
local chunk = ec.arg("chunk", 0)
job:solve{ population = 90, generations = 40, chunk = chunk > 0 and chunk or nil }
