-- Whether antennas may couple: by places that are chosen without repetition, by least gaps, by ranges.
-- expect: A 0.06 m
-- expect: ec.mimo: antennas of one end can be 0.05 m apart
-- refuse: can be 0.06 m apart
-- refuse: can be 0.3 m apart
-- expect: (limits of job:subject_to are not looked at); below half a wavelength, 0.055 m
-- expect: ec.mimo: antennas of one end can be 0.04 m apart
-- expect: ec.mimo: antennas of one end can be 0.03 m apart
-- expect: ec.mimo: antennas of one end can be 0.02 m apart
-- expect: ec.mimo: antennas of one end can be 0.01 m apart
-- expect: ec.mimo: antennas of one end can be 0.045 m apart
-- refuse: can be 0 m apart
-- expect: ec.mimo: antennas of one end can be 0.025 m apart
-- expect: ec.mimo: antennas of one end can be 0.035 m apart
-- expect: ec.mimo: antennas of one end can be 0.0501 m apart
-- expect: moves together
local ec = require "eciton"
local scene = ec.scene{ ec.ground{ size = { 100, 100 } } }
local job = ec.job{ name = "apart" }
local function link(tx)
    return ec.mimo{ scene = scene, wavelength = 0.11, depth = 1, tx = tx, rx = { x = 50, z = 1 } }
end
-- half a wavelength is 0.055 m
local function choice(name, step, count)
    local grid = ec.grid{ from = { 0, 0, 2 }, to = { 1.2, 1.2, 2 }, step = step }
    return job:choice{ name = name, from = grid, count = count, distinct = true }, grid
end
link{ at = choice("a", 0.06, 4) }
print("A 0.06 m")
link{ at = choice("b", 0.05, 4) }
-- two antennas about each: 0.06 m apart at one place, 0.04 m between those of neighbours at 0.1 m
link{ at = choice("c", { 0.1, 0.2, 1 }, 3), count = 2, spacing = 0.06 }
local where = job:choice{ name = "d", from = 100, count = 3, distinct = true }
local list = {}
for i = 1, 100 do
    list[i] = i * i * 0.01
end
link{ x = ec.gather(ec.constant(list), where), z = 2 }
-- job:spaced keeps its gaps
link{ x = job:spaced{ name = "e", count = 5, aperture = 4, min_gap = 0.3 }, z = 2 }
link{ y = 3 * job:spaced{ name = "f", count = 6, aperture = 4, min_gap = 0.02 / 3, symmetric = true }, z = 2 }
-- many that stand still
local x = {}
for i = 1, 4000 do
    x[i] = i * 0.07 - (i == 2000 and 0.06 or 0)
end
link{ x = x, z = 2 }
-- a line that moves as a whole: by what its antennas have not in common
local move = job:real{ name = "move", min = -3, max = 3 }
local turn = job:real{ name = "turn", count = 2, min = -3, max = 3 }
link{ x = move + ec.constant{ 0, 0.06, 0.12 }, y = 2 * move, z = 2 }
link{ x = move + ec.constant{ 0, 0.06, 0.105 }, z = 2 }
link{ x = ec.concat(turn:slice(1, 1), turn:slice(1, 1) + 0.07, turn:slice(1, 1) + turn:slice(2, 2) * 0.005 + 0.11), z = 2 }
-- one that moves and grows: gaps of 0.035 to 0.1
local grow = job:real{ name = "grow", min = 0.7, max = 2 }
link{ x = move - grow * ec.constant{ 0, 0.05, 0.1 } / 1, z = 2 }
-- about a place that is chosen, and beside a sorted list
local place = job:choice{ name = "place", from = ec.grid{ from = { 0, 0, 2 }, to = { 1, 1, 2 }, step = 0.01 } }
link{ at = place, count = 4, spacing = 0.06 }
link{ x = move + job:spaced{ name = "g", count = 3, aperture = 1, min_gap = 0.06 }, z = 2 }
link{ at = place, count = 2, spacing = 0.0501 }
print("moves together")
