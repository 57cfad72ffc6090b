-- expect: warning: ec.mimo: path gains above 0 dB, which passive antennas cannot have: 1 of 2 entries of H, the largest
-- expect: (receiver 1, rx 1, tx 1): rays are wrong so near
-- expect: warning: ec.mimo: 1 of 2 pairs of antennas have no path: h is 0 there
-- expect: mimo_warnings.lua:27: ec.mimo: key 'diffraction' has no effect: depth = 0
-- expect: mimo_warnings.lua:27: ec.mimo: key 'inner_edges' has no effect: it goes with diffraction above 0
-- expect: mimo_warnings.lua:27: ec.mimo: key 'transmissions' has no effect: no material of the scene has a thickness
-- expect: mimo_warnings.lua:27: ec.mimo: key 'rays' has no effect: paths = "exhaustive" launches none
-- expect: ec.capacity: key 'svd' has no effect: equal powers need no singular values
-- expect: of 2 pairs of antennas and samples (ec.over) have no path
-- expect: all warnings are said
-- Warnings of links: channels that cannot be, pairs without a path, keys without an effect; each once.
local ec = require "eciton"
local wall = ec.scene{ ec.box{ size = { 1, 40, 40 } } }

-- too near to the one, behind the wall of the other
local near = ec.mimo{ scene = wall, wavelength = 1, depth = 0, tx = { x = 5 }, rx = { x = { 5.05, -5 } } }
assert(ec.value(near:path_gain_db():max()) > 0)
assert(ec.value(near:paths():sum()) == 1)

-- the best design of a search
local job = ec.job{ name = "warnings", seed = 1 }
local y = job:real{ name = "y", min = -1, max = 1 }
local hidden = ec.mimo{ scene = wall, wavelength = 1, depth = 0,
    tx = { x = 5, y = y }, rx = { x = -5, y = ec.over{ 0, 1 } } }
job:maximize("gain", hidden:path_gain_db():mean():mean() - y ^ 2)
job:solve{ population = 8, generations = 2 }
ec.mimo{ scene = wall, wavelength = 1, depth = 0, diffraction = 1, inner_edges = true, transmissions = 1,
    paths = "exhaustive", rays = 10, tx = { x = 5 }, rx = { x = 8 } }

-- text files whose lines end in another way
local old = ec.load_csv("carriage_returns.csv")
assert(#old.x == 2 and old.x[2] == 3 and old.y[1] == 2)

-- directions of any length
local function gain(axis)
    return ec.value(ec.mimo{ scene = wall, wavelength = 1, tx = { x = 5, antenna = "short", axis = axis },
        rx = { x = 9, y = 1, antenna = "short" } }:path_gain_db():sum())
end
assert(gain{ 0, 0, 1e200 } == gain{ 0, 0, 1 } and gain{ 0, 0, 1e-140 } == gain{ 0, 0, 1 })

-- of H without anything no power arrives
local zero = { { 0, 0 }, { 0, 0 } }
for _, combining in ipairs{ "none", "mmse", "zero_forcing" } do
    for _, normalize in ipairs{ "frobenius", "mean", "none" } do
        local rate = ec.value(ec.sum_rate(zero, { snr_db = 20, combining = combining, normalize = normalize }))
        assert(rate < 1e-9, ("%s, %s: %g"):format(combining, normalize, rate))
    end
end

-- every selection of different places
local selected = ec.job{ name = "selected" }
local site = selected:choice{ name = "site", from = 5, count = 3, distinct = true }
selected:record("sum", site:sum())
local all = selected:sweep{ points = { site = "all" } }
assert(#all == 10 and all:best("sum", "max").recorded.sum == 12 and all:best("sum", "min").recorded.sum == 6)
ec.capacity({ { 1, 0 }, { 0, 1 } }, { snr_db = 20, svd = "bisection" })
print("all warnings are said")
