-- Fields on planes and patterns as files, a far field in one direction as a number, a curve in the summary.
-- flags: --out OUT --threads 1
-- expect: fields are right
-- expect: dipole.ffd: 14 GHz: directivity 1.7
-- expect: 41 values
-- file: plane.csv
-- file: plane.png
-- holds: plane.vtr Name="h_im_2" NumberOfComponents="3"
-- holds: plane.csv frequency_hz,x,y,z,ex_re
-- holds: dipole.ffd Frequencies 2
-- holds: dipole.csv directivity_dbi,gain_dbi
-- file: dipole.png
-- file: dipole_levels.csv
-- file: cuts.png
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local model = ec.fdtd{ frequency = {14*GHz, 15*GHz}, cell = 1*mm, layers = 6, pulse_width = 6*GHz, max_steps = 600,
    domain = { from = {-6*mm, -6*mm, -6*mm}, to = {6*mm, 6*mm, 7*mm} },
    ec.source{ name = "in", from = {0, 0, 0}, to = {0, 0, 1*mm} } }
local gain = ec.value(model:far{ quantity = "gain", frequency = 15*GHz, theta_deg = 90 })
assert(type(gain) == "number" and math.abs(gain - 1.5) < 0.05, tostring(gain))
assert(ec.value(model:decay_db()) > 10)
local plane = model:plane{ axis = "z", at = 0.4*mm, frequency = {14*GHz, 15*GHz} }
plane:save("plane.vtr")
plane:save("plane.csv")
plane:save("plane.png")
local pattern = model:pattern{ frequency = {14*GHz, 15*GHz}, theta_deg = ec.range(0, 180, 19), phi_deg = ec.range(0, 360, 9) }
pattern:save("dipole.ffd")
pattern:save("dipole.csv")
pattern:save("dipole.png") -- leaves dipole.csv as it is
model:save("cuts.png")

local function fails(call, words)
    local ok, text = pcall(call)
    assert(not ok and tostring(text):find(words, 1, true), ("'%s' instead of '%s'"):format(tostring(text), words))
end
fails(function() model:plane{ axis = "z", at = 0 } end, "which frequency? The model has 2")
fails(function() model:plane{ axis = "z", at = 0, frequency = 14.2*GHz } end, "is none of the model's; the nearest is")
fails(function() model:plane{ axis = "w", at = 0, frequency = 14*GHz } end, "allowed are x|y|z")
fails(function() model:plane{ axis = "z", at = {0, 1}, frequency = 14*GHz } end, "key 'at': wants one number, got 2")
fails(function() plane:save("plane.s2p") end, "fields of a plane are saved as .vtr, .csv or .png")
fails(function() pattern:save("pattern.cut") end, "a .cut file has one frequency, not 2")
fails(function() model:plane{ axis = "x", at = 1, frequency = 14*GHz }:save("x.vtr") end, "the plane x = 1 m is outside of the domain, -")
fails(function() model:pattern{ frequency = 14*GHz, theta_deg = {0, 90, 10} } end, "element 3, 10, is not above the one before it")
fails(function() model:pattern{ frequency = 14*GHz, symmetry = "x" } end, "symmetry across x wants")

-- A search over the place of a source: the fields of its best design.
local job = ec.job{ name = "place" }
local x = job:integer{ name = "x", min = 0, max = 1 }
local moved = ec.fdtd{ frequency = 15*GHz, cell = 1*mm, layers = 6, pulse_width = 6*GHz, max_steps = 300,
    domain = { from = {-6*mm, -6*mm, -6*mm}, to = {6*mm, 6*mm, 7*mm} },
    ec.source{ name = "in", from = {x * mm, 0, 0}, to = {x * mm, 0, 1*mm} } }
local toward = { quantity = "directivity", theta_deg = 90, phi_deg = ec.range(0, 40, 41) }
job:minimize("x", x + 0 * ec.max(moved:far(toward)))
job:record("directivity", moved:far(toward))
local best = job:solve{ method = "rand1bin", generations = 1, population = 4 }
best:save("best.vtr", moved:plane{ axis = "z", at = x * mm })
best:save("best.ffd", moved:pattern())
fails(function() moved:plane{ axis = "z", at = 0 }:save("no.vtr") end, "the model has design variables: best:save")
print("fields are right")
