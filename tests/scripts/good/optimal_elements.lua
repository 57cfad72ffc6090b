-- expect: weights with the elements' fields, coupled ports and gradients
-- expect: slopes by differences
local ec = require "eciton"

local function close(expr, wanted, limit, what)
    local got = ec.value(expr)
    assert(math.abs(got - wanted) <= limit, ("%s: %.8g, not %.8g"):format(what, got, wanted))
end
local function refuses(text, call, ...)
    local good, why = pcall(call, ...)
    assert(not good and why:find(text, 1, true), tostring(why))
end

-- one element for all: the gain in the look direction is 1 with it, and side lobes far out weigh less
local line = ec.geometry.line{ count = 16, spacing = 0.5 }.x
local grid = ec.range(-1, 1, 401)
local function beam(keys)
    keys.method, keys.x, keys.wavelength, keys.u, keys.exclude_u = "minimum_sll", line, 1, grid, 0.2
    keys.look_u = 0.2
    return ec.array{ weights = ec.optimal(keys), u = grid }
end
local patch = beam{ element = "cosq", q = 1.5 }
close(patch:level_db{ u = 0.2, relative = false }, 0, 1e-9, "gain with the element")
local plain = ec.optimal{ method = "minimum_sll", x = line, wavelength = 1, u = grid, exclude_u = 0.2, look_u = 0.2 }
local blind = ec.array{ x = line, wavelength = 1, steer_u = 0.2, u = grid, element = "cosq", q = 1.5,
    amplitude = plain.amplitude, phase = plain.phase }
local sll = { exclude_u = 0.2 }
assert(ec.value(patch:sll_db(sll)) < ec.value(blind:sll_db(sll)) - 0.5, "side lobes of the whole pattern")

-- each element its own normal: nulls of all of the field, and of one polarization
local arc = ec.geometry.cylinder{ columns = 14, rows = 2, radius = 3, spacing = 0.5, arc_deg = 100 }
local nulls = { -0.5, 0.3, 0.62 }
for _, polarization in ipairs{ "total", "co" } do
    local w = ec.optimal{ x = arc.x, y = arc.y, z = arc.z, wavelength = 1, look_u = 0.1, null_u = nulls,
        element = "cosq", q = 1, normals = { arc.nx, arc.ny, arc.nz }, polarization = polarization }
    local array = ec.array{ weights = w, u = grid }
    assert(ec.value(array:null_depth_db{ u = nulls }) < -150, polarization)
    close(array:level_db{ u = 0.1, relative = false }, 0, polarization == "co" and 1e-9 or 0.1, "gain")
    -- other metrics of the same weights may read another polarization
    assert(ec.value(ec.array{ weights = w, u = grid, polarization = "co" }:null_depth_db{ u = nulls }) < -150)
end
local keys = { x = arc.x, y = arc.y, z = arc.z, wavelength = 1, element = "cosq", q = 1,
    normals = { arc.nx, arc.ny, arc.nz } }
keys.null_u = ec.range(-0.9, 0.9, 14)
refuses("14 nulls are more than 28 elements can have: at most 13, as the look direction takes one and each null two",
    ec.optimal, keys)
keys.null_u = nil

-- lowest side lobes of such elements, cross-polar field included
local function lowest(method)
    local k = { method = method, u = ec.range(-1, 1, 201), exclude_u = 0.25 }
    for key, value in pairs(keys) do k[key] = value end
    return ec.value(ec.array{ weights = ec.optimal(k), u = grid }:sll_db{ exclude_u = 0.25 })
end
local squares, sidelobes = lowest("least_squares"), lowest("minimum_sll")
assert(sidelobes < squares - 1 and sidelobes < -20, ("%g %g"):format(sidelobes, squares))

-- coupled ports: the weights are waves, and the array has the same ports
local ports = ec.load_touchstone("coupling.s2p")
local function pair(more)
    local k = { x = { 0, 0.15 }, frequency = 0.95*ec.GHz, null_u = 0.4 }
    for key, value in pairs(more) do k[key] = value end
    return ec.optimal(k)
end
local waves, currents = pair{ coupling = ports }, pair{}
local coupled = ec.array{ weights = waves, u = grid }
assert(ec.value(coupled:null_depth_db{ u = 0.4 }) < -150)
local without = ec.array{ x = { 0, 0.15 }, frequency = 0.95*ec.GHz, amplitude = waves.amplitude,
    phase = waves.phase, u = grid }
assert(ec.value(without:null_depth_db{ u = 0.4 }) > -60)
local over = ec.optimal{ x = { 0, 0.15 }, frequency = ec.over{ 0.9*ec.GHz, 1*ec.GHz }, null_u = 0.4, coupling = ports }
assert(ec.value(ec.array{ weights = over, u = grid }:null_depth_db{ u = 0.4 }:max()) < -150)

-- what contradicts the weights says so
refuses("key 'coupling': the weights were made without it", ec.array, { weights = currents, u = grid, coupling = ports })
refuses("key 'element': the weights were made without it", ec.array, { weights = currents, u = grid, element = "cosq" })
local made = ec.optimal{ x = line, wavelength = 1, element = "cosq", q = 2 }
refuses("key 'q' is not that of the weights", ec.array, { weights = made, u = grid, q = 1 })
ec.array{ weights = made, u = grid, element = "cosq", q = 2 }
keys.null_u = nulls
local own = ec.array{ weights = ec.optimal(keys), u = grid, normals = { arc.nx, arc.ny, arc.nz } }
assert(ec.value(own:with{ polarization = "co" }:null_depth_db{ u = nulls }) < -150)
refuses("key 'normals' is not that of the weights", function()
    own:with{ normals = { arc.ny, arc.nx, arc.nz } }
end)
refuses("key 'normals': list 1 has 2 numbers, the array has 16 elements", ec.optimal,
    { x = line, wavelength = 1, element = "cosq", normals = { { 0, 0 }, { 0, 0 }, { 1, 1 } } })
refuses("ec.optimal: key 'normals': the normal of element 2 has zero length", ec.optimal,
    { x = { 0, 0.5 }, wavelength = 1, element = "cosq", normals = { { 0, 0 }, { 0, 0 }, { 1, 0 } } })
refuses("elements 1 and 3 are in one place", ec.optimal,
    { x = { 0, 0.5, 0 }, wavelength = 1, noise = "isotropic" })
ec.optimal{ x = { 0, 0.5, 0 }, wavelength = 1, noise = "isotropic", loading = 0.01 }
refuses("no visible direction of the grid lies outside the main beam", ec.optimal,
    { method = "minimum_sll", x = line, wavelength = 1, u = ec.range(-0.1, 0.1, 21), exclude_u = 0.2 })
refuses("1 directions of the grid are visible", ec.optimal,
    { method = "least_squares", x = line, wavelength = 1, u = { 1, 1.5 }, exclude_u = 0.2 })
refuses("thinning is the transform of one array factor", ec.optimal,
    { method = "thinning", x = { 0, 0.5 }, wavelength = 1, u = grid, exclude_u = 0.2, start = { 0, 1 }, filled = 1,
    element = "cosq", normals = { { 0, 0 }, { 0, 0 }, { 1, 1 } } })
refuses("key 'coupling' does not belong to method = 'thinning'", ec.optimal,
    { method = "thinning", x = { 0, 0.5 }, wavelength = 1, u = grid, exclude_u = 0.2, start = { 0, 1 }, filled = 1,
    coupling = ports })

-- thinning on a surface by FFT: as by sums over the same directions unevenly listed
local lattice = ec.geometry.rectangle{ count_x = 12, count_y = 12, spacing_x = 0.5, spacing_y = 0.5 }
local start, u = {}, ec.range(-1, 1 - 1 / 32, 64)
for i = 1, 144 do start[i] = (i * 7919 % 149) / 149 end
local function thinned(v)
    return ec.value(ec.optimal{ method = "thinning", x = lattice.x, y = lattice.y, wavelength = 1, u = u, v = v,
        exclude_u = 0.2, start = start, filled = 90, sll_db = -30, element = "cosq", q = 1 }.amplitude)
end
local uneven = {}
for i = 1, 64 do uneven[i] = u[i] end
uneven[1] = -1 + 1e-9
local a, b, on = thinned(u), thinned(uneven), 0
for i = 1, 144 do
    assert(a[i] == b[i])
    on = on + a[i]
end
assert(on == 90)

-- polish follows the weights of lcmv; those without a gradient by differences
local function search(method, polish)
    local job = ec.job{ name = method, seed = 2 }
    local x = job:spaced{ name = "x", count = 10, aperture = 6, min_gap = 0.5 }
    local k = { method = method, x = x, wavelength = 1, null_u = { -0.4, 0.55 }, element = "cosq", q = 1 }
    if method ~= "lcmv" then k.u, k.exclude_u = ec.range(-1, 1, 101), 0.2 end
    local array = ec.array{ weights = ec.optimal(k), u = ec.range(-1, 1, 301) }
    job:minimize("sll_db", array:sll_db{ exclude_u = 0.2 })
    return job:solve{ population = 32, generations = 8, polish = polish }.objectives.sll_db
end
for _, method in ipairs{ "lcmv", "least_squares" } do
    local rough, fine = search(method, false), search(method, true)
    assert(fine < rough - 0.5, ("%s: %g, polished %g"):format(method, rough, fine))
end
search("minimum_sll", true)
print("weights with the elements' fields, coupled ports and gradients")
