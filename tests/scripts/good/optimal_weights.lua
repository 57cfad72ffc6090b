-- expect: optimal weights as scripts see them
local ec = require "eciton"

local function close(expr, wanted, limit, what)
    local got = type(expr) == "number" and expr or ec.value(expr)
    assert(math.abs(got - wanted) <= limit, ("%s: %.8g, not %.8g"):format(what, got, wanted))
end
local function refuses(text, call, ...)
    local good, why = pcall(call, ...)
    assert(not good and why:find(text, 1, true), tostring(why))
end

-- nulls are nulls, and the beam stays at the look direction
local line = ec.geometry.line{ count = 16, spacing = 0.5 }.x
local nulls = { 0.3, 0.45, -0.6 }
local w = ec.optimal{ x = line, wavelength = 1, look_u = 0.1, null_u = nulls }
assert(#ec.value(w.amplitude) == 16 and #ec.value(w.phase) == 16)
local array = ec.array{ weights = w, u = ec.range(-1, 1, 401) }
assert(ec.value(array:null_depth_db{ u = nulls }) < -150)
close(array:level_db{ u = 0.1, relative = false }, 0, 1e-9, "gain of the look direction")
-- amplitude and phase by hand, with the steering that they are made for
local same = ec.array{ x = line, wavelength = 1, amplitude = w.amplitude, phase = w.phase, steer_u = 0.1,
    u = ec.range(-1, 1, 401) }
close(same:sll_db(), ec.value(array:sll_db()), 1e-12, "by hand")

-- a null given by angles lies behind a line along x as well as before it
local behind = ec.optimal{ x = line, wavelength = 1, null_theta_deg = { 150 } }
local cut = ec.array{ weights = behind, theta_deg = ec.range(-180, 180, 721) }
assert(ec.value(cut:null_depth_db{ theta_deg = { 30, 150 } }) < -150)

-- without nulls white noise gives uniform weights; isotropic noise the highest directivity
local dense = ec.geometry.line{ count = 8, spacing = 0.3 }.x
local function directivity(keys)
    keys.x, keys.wavelength, keys.look_u = dense, 1, 1
    return ec.value(ec.array{ weights = ec.optimal(keys), u = ec.range(-1, 1, 201) }:directivity_db())
end
local plain, best, tame = directivity{}, directivity{ noise = "isotropic" },
    directivity{ noise = "isotropic", loading = 0.05 }
assert(plain < tame and tame < best, ("%g %g %g"):format(plain, tame, best))

-- an interferer is nulled as deep as it is strong
local function depth(db)
    local keys = { x = line, wavelength = 1, interference_u = 0.37, interference_db = db }
    return ec.value(ec.array{ weights = ec.optimal(keys), u = ec.range(-1, 1, 401) }:level_db{ u = 0.37 })
end
assert(depth(60) < depth(20) - 30)

-- lowest side lobes on a grid: near those of Dolph and Chebyshev; least squares to a level
local grid = ec.range(-1, 1, 401)
local edge = 0.2
local lowest = ec.array{ weights = ec.optimal{ method = "minimum_sll", x = line, wavelength = 1, u = grid,
    exclude_u = edge }, u = grid }
local squares = ec.array{ weights = ec.optimal{ method = "least_squares", x = line, wavelength = 1, u = grid,
    exclude_u = edge, sll_db = -30 }, u = grid }
-- the pattern T_15(x0 cos(pi u / 2)) that reaches 1 at the edge
local x0 = 1 / math.cos(math.pi / 2 * edge)
local level = -20 * math.log((math.exp(15 * math.log(x0 + math.sqrt(x0 * x0 - 1))) +
    math.exp(-15 * math.log(x0 + math.sqrt(x0 * x0 - 1)))) / 2, 10)
close(lowest:sll_db{ exclude_u = edge }, level, 0.15, "side lobes beside Chebyshev's")
local sll = ec.value(squares:sll_db{ exclude_u = edge })
assert(sll > level and sll < level + 15, "least squares: " .. sll .. " dB, the lowest is " .. level)

-- thinning: 0 or 1 each, as many as asked for, better than the start
local lattice = ec.geometry.line{ count = 60, spacing = 0.5 }.x
local start = {}
for i = 1, 60 do start[i] = (i * 7919 % 61) / 61 end
local period = ec.range(-1, 1 - 1 / 128, 256)
local function thinned(rounds)
    local keys = { method = "thinning", x = lattice, wavelength = 1, u = period, exclude_u = 0.045,
        start = start, filled = 44, sll_db = -30, iterations = rounds }
    local t = ec.optimal(keys)
    local on = ec.value(t.amplitude)
    local count = 0
    for i = 1, #on do
        assert(on[i] == 0 or on[i] == 1)
        count = count + on[i]
    end
    assert(count == 44)
    return ec.value(ec.array{ weights = t, u = ec.range(-1, 1, 801) }:sll_db{ exclude_u = 0.045 })
end
assert(thinned(30) < thinned(1) - 1)

-- weights follow the positions of each design, and several frequencies
local job = ec.job{ name = "weights", seed = 3 }
local x = job:real{ name = "x", count = 8, min = 0, max = 6 }
local found = ec.optimal{ x = ec.sort(x), frequency = ec.over{ values = { 1e9, 2e9 } }, null_u = 0.2 }
local both = ec.array{ weights = found, u = ec.range(-1, 1, 201) }
job:minimize("depth", both:null_depth_db{ u = 0.2 }:max())
local result = job:solve{ generations = 2, population = 16 }
assert(result.objectives.depth < -150)

-- what does not fit says so
refuses("16 nulls are more than 16 elements can have", ec.optimal,
    { x = line, wavelength = 1, null_u = ec.range(-1, 1, 16) })
refuses("key 'iterations' does not belong to method = 'lcmv'", ec.optimal,
    { x = line, wavelength = 1, iterations = 5 })
refuses("key 'u' is missing", ec.optimal, { method = "minimum_sll", x = line, wavelength = 1, exclude_u = 0.1 })
refuses("key 'exclude_u' is missing", ec.optimal, { method = "least_squares", x = line, wavelength = 1, u = grid })
refuses("give look_u and look_v, or look_theta_deg and look_phi_deg", ec.optimal,
    { x = line, wavelength = 1, look_u = 0.1, look_theta_deg = 10 })
refuses("one of the keys wavelength and frequency", ec.optimal, { x = line })
refuses("null 1, u = 1.2 and v = 0, is not visible", ec.optimal, { x = line, wavelength = 1, null_u = 1.2 })
refuses("its constraints depend on each other (a null twice", ec.value,
    ec.optimal{ x = line, wavelength = 1, null_u = { 0.3, 0.3 } }.amplitude)
refuses("method = 'thinning' needs start", ec.optimal,
    { method = "thinning", x = line, wavelength = 1, u = grid, exclude_u = 0.1 })
refuses("key 'null_u' does not belong to method = 'thinning'", ec.optimal, { method = "thinning", x = line,
    wavelength = 1, u = grid, exclude_u = 0.1, start = line, filled = 8, null_u = 0.3 })
refuses("give weights or phase, not both", ec.array, { weights = w, phase = 0, u = grid })
refuses("key 'x': 8 values, but weights has 16", ec.array, { weights = w, x = dense, u = grid })
refuses("wants what ec.optimal{ ... } gives, got a number", ec.array, { weights = 1, u = grid })
refuses("no field 'weight', only amplitude and phase", function() return w.weight end)
print("optimal weights as scripts see them")
