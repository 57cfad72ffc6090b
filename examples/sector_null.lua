-- A 24-element half-wave line whose beam keeps out of a sector: side lobes at or below -30 dB, and
-- at or below -50 dB for u from 0.30 to 0.40, by amplitudes and phases. The mask is what matters,
-- so the objective is how far the pattern lies beyond it. Expected: excess_db below 0 (the whole
-- pattern is inside the mask).
local ec = require "eciton"
local job = ec.job{ name = "sector_null", seed = ec.arg("seed", 1) }

local amplitude = job:real{ name = "amplitude", count = 24, min = 0.2, max = 1 }
local phase = job:real{ name = "phase_deg", count = 24, min = -30, max = 30 }
local x = ec.geometry.line{ count = 24, spacing = 0.5 }.x
local array = ec.array{ x = x, amplitude = amplitude, phase_deg = phase, wavelength = 1, u = ec.range(-1, 1, 601) }

job:minimize("excess_db", array:excess_db{ mask = {
    { -1, -0.13, max = -30 }, { 0.13, 0.30, max = -30 }, { 0.30, 0.40, max = -50 }, { 0.40, 1, max = -30 } } })
job:record("x", ec.constant(x))
job:record("directivity_db", array:directivity_db())
local best = job:solve{ evaluations = 200000, target = 0, polish = true }
print("highest level in the sector: " .. best:value(array:null_depth_db{ u = ec.range(0.3, 0.4, 201) }) .. " dB")
