-- 30 equal elements on a disk of 3 wavelengths radius, no two closer than 0.7 wavelengths,
-- positions free: the lowest side lobes in the whole visible u-v plane. The search starts from a
-- sunflower, the usual starting point for thinned disks: M. C. Vigano et al., "Sunflower array
-- antenna with adjustable density taper", Int. J. Antennas Propag. 2009. Expected: from -12 to -14
-- dB, by the seed, and every distance kept; the sunflower has -9.55 dB.
local ec = require "eciton"
local job = ec.job{ name = "planar_disk", seed = ec.arg("seed", 1) }
local count, radius, gap = ec.arg("count", 30), ec.arg("radius", 3), ec.arg("gap", 0.7)

-- the sunflower: turned by the golden angle from one element to the next, equal areas
local sunflower = ec.geometry.spiral{ count = count, radius = radius }

local x = job:real{ name = "x", count = count, min = -radius, max = radius, start = sunflower.x }
local y = job:real{ name = "y", count = count, min = -radius, max = radius, start = sunflower.y }
job:subject_to("distance", ec.min_distance{ x = x, y = y }, { min = gap })
job:subject_to("disk", ec.max(x ^ 2 + y ^ 2), { max = radius ^ 2 })

-- the pattern of -u, -v is that of u, v, so half of the plane is enough
local function array(px, py)
    return ec.array{ x = px, y = py, wavelength = 1, u = ec.range(0, 1, 31), v = ec.range(-1, 1, 61) }
end
local beam = { look_u = 0, look_v = 0, exclude_u = 0.22 }
job:minimize("sll_db", array(x, y):sll_db(beam))
local best = job:solve{ population = 200, evaluations = 3e5 }

print("sunflower", ec.value(array(sunflower.x, sunflower.y):sll_db(beam)) .. " dB",
    "distance " .. ec.value(ec.min_distance{ x = sunflower.x, y = sunflower.y }))
print("found", best.objectives.sll_db .. " dB", "distance " .. best:value(ec.min_distance{ x = x, y = y }),
    best.status)
