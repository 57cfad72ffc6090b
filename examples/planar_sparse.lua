-- 100 equal elements in 9.5 x 4.5 wavelengths, no two closer than half a wavelength, symmetric
-- about both axes: the lowest side lobes in the whole visible u-v plane. The kind of problem of K.
-- Chen, X. Yun, Z. He and C. Han, "Synthesis of sparse planar arrays using modified real genetic
-- algorithm", IEEE Trans. AP 55, 2007. One quadrant of 25 elements is free; it keeps a quarter
-- wavelength from both axes, so that the images keep the distance too. Measured: -25.3 dB for seed
-- 1, -25.1 dB for seeds 2 and 3, with a smallest distance of 0.500; about 20 s on two CPU cores.
local ec = require "eciton"
local job = ec.job{ name = "planar_sparse", seed = ec.arg("seed", 1) }

-- a start that keeps every distance: five rows of five
local start = { x = {}, y = {} }
for i = 0, 24 do
    start.x[i + 1], start.y[i + 1] = 0.25 + 1.125 * (i % 5), 0.25 + 0.5 * (i // 5)
end
local x = job:real{ name = "x", count = 25, min = 0.25, max = 4.75, start = start.x }
local y = job:real{ name = "y", count = 25, min = 0.25, max = 2.25, start = start.y }
job:subject_to("distance", ec.min_distance{ x = x, y = y }, { min = 0.5 })
local g = ec.geometry.quadrants{ x = x, y = y }

-- the pattern has the symmetry of the layout: a quarter of the u-v plane is enough
local array = ec.array{ x = g.x, y = g.y, wavelength = 1, u = ec.range(0, 1, 51), v = ec.range(0, 1, 26) }
job:minimize("sll_db", array:sll_db{ look_u = 0, look_v = 0, exclude_u = 0.12, exclude_v = 0.25 })
job:record("x_all", g.x)
job:record("y_all", g.y)
local best = job:solve{ population = 200, evaluations = 3e5, polish = true, polish_designs = 8,
    polish_seconds = 300 }

print("side lobes " .. best.objectives.sll_db .. " dB, smallest distance "
    .. best:value(ec.min_distance{ x = g.x, y = g.y }) .. ", directivity "
    .. best:value(array:directivity_db()) .. " dB")
