-- Three nulls of a half-wave line of 40 elements by its amplitudes alone, each coded in 8 bits: an ant
-- colony that O. Kilic and others ran on an FPGA (ACES Journal 2010, section IV.B), 40 ants a
-- generation. Levels at u = 0.25, 0.41 and 0.66 below the main beam are to be -30 dB or less; the cost
-- is the sum of what exceeds it, plus 1e-3, since their rule (--set rule=proportional) lays down
-- 1 / cost. All amplitudes zero has no level and fails. Expected: cost 0.001, all three nulls, within
-- some dozens of generations; --set colonies=128 runs many at once.
local ec = require "eciton"
local count, nulls = 40, { 0.25, 0.41, 0.66 }

local cosines, sines = {}, {} -- fields of the elements in the directions of the nulls
for i, u in ipairs(nulls) do
    cosines[i], sines[i] = {}, {}
    for n = 1, count do
        local phase = ec.pi * (n - (count + 1) / 2) * u
        cosines[i][n], sines[i][n] = math.cos(phase), math.sin(phase)
    end
end

local job = ec.job{ name = "aco_nulls", seed = ec.arg("seed", 1) }
local amplitude = job:real{ name = "amplitude", count = count, min = 0, max = 1 }
local field = ec.complex(ec.matvec(cosines, amplitude), ec.matvec(sines, amplitude))
local level = 20 * ec.log10(ec.abs(field) / amplitude:sum())
job:minimize("cost", ec.max(0, level + 30):sum() + 1e-3)
job:record("level_db", level)
job:solve{ method = "aco", bits = 8, population = 40, colonies = ec.arg("colonies", 1),
    rule = ec.arg("rule", "max_min"), generations = ec.arg("generations", 2000), target = ec.arg("target", 1e-3) }
