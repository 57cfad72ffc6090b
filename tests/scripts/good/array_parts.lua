-- expect: parts are right
-- A curved array of numbers, by direct sums, whole, and cut into parts; with and without planes, by
-- either expansion; and a folded array whose facets need one term each.
local ec = require "eciton"
ec.job{ name = "parts" }

local x, y, z, seed = {}, {}, {}, 12345
local function draw()
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed / 2147483648 - 0.5
end
for i = 1, 16 do
    for k = 1, 16 do
        local a, b = (i - 8.5) * 0.7 + 0.3 * draw(), (k - 8.5) * 0.7 + 0.3 * draw()
        x[#x + 1], y[#y + 1], z[#z + 1] = a, b, (a * a + b * b) / 30
    end
end

local function field(options)
    options.x, options.y, options.z, options.wavelength = x, y, z, 1
    options.u, options.v = ec.range(-0.5, 0.5, 11), ec.range(-0.4, 0.5, 10)
    local pattern = ec.array(options):pattern()
    return ec.value(ec.re(pattern)), ec.value(ec.im(pattern))
end

local want_re, want_im
local function error_of(options)
    local re, im = field(options)
    local difference, norm = 0, 0
    for i = 1, #want_re do
        difference = difference + (re[i] - want_re[i]) ^ 2 + (im[i] - want_im[i]) ^ 2
        norm = norm + want_re[i] ^ 2 + want_im[i] ^ 2
    end
    return math.sqrt(difference / norm)
end

want_re, want_im = field{ method = "direct" }
assert(error_of{ method = "nufft" } < 1e-11)
assert(error_of{ method = "nufft", precision = "single" } < 1e-5)
assert(error_of{ method = "nufft", expansion = "taylor", tolerance = 1e-3 } < 1e-3)
for _, parts in ipairs{ 1, 2, 5, 40 } do
    for _, plane in ipairs{ true, false } do
        for _, expansion in ipairs{ "chebyshev", "taylor" } do
            for _, tolerance in ipairs{ 1e-3, 1e-6, 1e-11 } do
                local e = error_of{ method = "nufft", parts = parts, plane = plane, precision = "double",
                                    expansion = expansion, tolerance = tolerance }
                assert(e < tolerance, ("parts %d, plane %s, %s, %g: %g"):format(parts, tostring(plane),
                                                                               expansion, tolerance, e))
            end
        end
    end
end
-- parts of so few elements that they are flat, but for rounding errors of metres over wavelengths
local metres = {}
for _, axis in ipairs{ "x", "y", "z" } do
    metres[axis] = {}
    for i, value in ipairs(({ x = x, y = y, z = z })[axis]) do metres[axis][i] = 0.7 * value end
end
local flat = {}
for _, method in ipairs{ "direct", "nufft" } do
    flat[#flat + 1] = ec.value(ec.re(ec.array{ x = metres.x, y = metres.y, z = metres.z, wavelength = 0.7,
        u = ec.range(-0.5, 0.5, 11), v = ec.range(-0.4, 0.5, 10), method = method, parts = 10, tolerance = 1e-6 }
        :pattern()))
end
for k = 1, #want_re do assert(math.abs(flat[1][k] - flat[2][k]) < 1e-3) end

-- a cut that leaves the visible region, where w is 0, and one of two directions
for _, u in ipairs{ ec.range(-1, 1.2, 45), ec.range(0.2, 0.9, 2) } do
    local re = {}
    for _, method in ipairs{ "direct", "nufft" } do
        re[#re + 1] = ec.value(ec.re(ec.array{ x = x, y = y, z = z, wavelength = 1, u = u, v = 0.3,
            method = method }:pattern()))
    end
    for k = 1, #u do assert(math.abs(re[1][k] - re[2][k]) < 1e-6, u[k]) end
end

-- terms that are too few show
assert(error_of{ method = "nufft", terms = 1 } > 0.1)
assert(error_of{ method = "nufft", terms = 2, parts = 4 } < 1e-3)
assert(error_of{ method = "nufft", terms = 2, parts = 4, plane = false } > 1e-2)

-- two facets and a third one across: one term each
local part = {}
for i = 1, #x do
    part[i] = x[i] < -2 and 7 or x[i] < 2 and 1 or 4
    z[i] = x[i] < -2 and 0.3 * (x[i] + 2) or x[i] < 2 and 0 or -0.4 * (x[i] - 2) + 0.1 * y[i]
end
want_re, want_im = field{ method = "direct" }
assert(error_of{ method = "nufft", part = part, terms = 1, precision = "double" } < 1e-11)
assert(error_of{ method = "nufft", terms = 1, precision = "double" } > 1e-2)

-- more parts and directions than the plan keeps places of
local function fine(options)
    options.x, options.y, options.z, options.wavelength = x, y, z, 1
    options.u, options.v = ec.range(-0.5, 0.5, 320), ec.range(-0.4, 0.4, 320)
    local pattern = ec.array(options):pattern()
    return ec.value(ec.re(pattern))
end
local want, got = fine{ method = "direct" }, fine{ method = "nufft", parts = 8, precision = "double" }
for i = 1, #want, 37 do
    assert(math.abs(want[i] - got[i]) < 1e-9, i)
end

-- metrics read the same field
local function level(options)
    options.x, options.y, options.z, options.wavelength = x, y, z, 1
    options.u, options.v = ec.range(-1, 1, 41), ec.range(-1, 1, 41)
    return ec.value(ec.array(options):sll_db{ exclude_u = 0.2 })
end
assert(math.abs(level{ method = "nufft", part = part } - level{ method = "direct" }) < 1e-6)
print("parts are right")
