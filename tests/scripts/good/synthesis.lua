-- expect: all helpers agree
-- Tapers, bases, steering and element errors.
local ec = require "eciton"
local pi = math.pi

local function close(a, b, limit)
    assert(math.abs(a - b) <= (limit or 1e-12), ("%.17g is not %.17g"):format(a, b))
end
local function same(list, wanted, limit)
    assert(#list == #wanted, #list .. " values, not " .. #wanted)
    for i = 1, #wanted do close(list[i], wanted[i], limit) end
end

-- ---- Legendre polynomials
local P = { function() return 1 end, function(x) return x end, function(x) return (3 * x ^ 2 - 1) / 2 end,
    function(x) return (5 * x ^ 3 - 3 * x) / 2 end, function(x) return (35 * x ^ 4 - 30 * x ^ 2 + 3) / 8 end,
    function(x) return (63 * x ^ 5 - 70 * x ^ 3 + 15 * x) / 8 end }
local rows = ec.basis.legendre_matrix{ terms = 6, count = 7 }
assert(#rows == 7)
for i = 1, 7 do
    for k = 1, 6 do close(rows[i][k], P[k]((i - 4) / 3)) end
end
assert(#ec.basis.legendre_matrix{ terms = 1, count = 3 }[1] == 1)
same(ec.basis.legendre{ coefficients = { 1, -2, 0.5 }, at = { -1, 0.2, 1 } }, { 3.5, 1 - 0.4 + 0.5 * P[3](0.2), -0.5 })
same(ec.basis.legendre{ coefficients = 3, count = 2 }, { 3, 3 })
-- An even line is the second polynomial alone: 4 antennas at a quarter wavelength.
same(ec.basis.legendre{ coefficients = { 15, 0.375 }, count = 4 }, { 14.625, 14.875, 15.125, 15.375 })
local c = ec.constant{ 1, -2, 0.5 }
same(ec.value(ec.basis.legendre{ coefficients = c, count = 9 }),
    ec.basis.legendre{ coefficients = { 1, -2, 0.5 }, count = 9 })

-- ---- B-splines
for degree = 0, 5 do
    for i, row in ipairs(ec.basis.bspline_matrix{ terms = 8, degree = degree, count = 41 }) do
        local sum, inside = 0, 0
        for k = 1, 8 do
            assert(row[k] >= 0)
            sum, inside = sum + row[k], inside + (row[k] > 0 and 1 or 0)
        end
        close(sum, 1) -- partition of unity
        assert(inside <= degree + 1) -- local
        if i == 1 then close(row[1], 1) elseif i == 41 then close(row[8], 1) end -- clamped
    end
end
-- degree 0 is constant on its pieces, each with its left end; degree 1 interpolates its coefficients; one piece
-- of degree 3 is Bernstein's basis
same(ec.basis.bspline{ coefficients = { 2, 5 }, degree = 0, at = { -0.1, 0, 1 } }, { 2, 5, 5 })
same(ec.basis.bspline{ coefficients = { 2, 5, 3 }, degree = 1, at = { -1, -0.5, 0, 0.25, 1 } }, { 2, 3.5, 5, 4.5, 3 })
for i, row in ipairs(ec.basis.bspline_matrix{ terms = 4, at = { -1, -0.4, 0.3, 1 } }) do
    local t = (({ -1, -0.4, 0.3, 1 })[i] + 1) / 2
    same(row, { (1 - t) ^ 3, 3 * t * (1 - t) ^ 2, 3 * t ^ 2 * (1 - t), t ^ 3 })
end
-- A straight line comes from the averages of the knots: with terms 5 and degree 3 at -1, -2/3, 0, 2/3, 1.
local straight = ec.basis.bspline{ coefficients = { -1, -2 / 3, 0, 2 / 3, 1 }, count = 21 }
for i = 1, 21 do close(straight[i], (i - 11) / 10) end
same(ec.value(ec.basis.bspline{ coefficients = c, degree = 2, count = 5 }),
    ec.basis.bspline{ coefficients = { 1, -2, 0.5 }, degree = 2, count = 5 })

-- ---- tapers
-- Dolph-Chebyshev weights, centre to edge (computed outside of Eciton)
local function centre_out(w) return table.move(w, #w // 2 + 1, #w, 1, {}) end
same(centre_out(ec.taper.chebyshev{ count = 10, sll_db = -20 }), { 1, .92137, .77799, .59443, .64163 }, 6e-6)
same(centre_out(ec.taper.chebyshev{ count = 20, sll_db = -30 }),
    { 1, .97010, .91243, .83102, .73147, .62034, .50461, .39104, .28558, .32561 }, 6e-6)
-- 1,024 elements at -26 dB: the weight at the edge is 19 times that of the centre
local long = ec.taper.chebyshev{ count = 1024, sll_db = -26 }
close(long[1] / long[512], 19, 0.5)
same(ec.taper.hamming{ count = 5 }, { 0.08, 0.54, 1, 0.54, 0.08 })
same(ec.taper.cosine{ count = 3, pedestal = 0.2 }, { 0.2 + 0.8 * math.cos(pi / 3), 1, 0.6 })
same(ec.taper.cosine{ count = 3, power = 2 }, { 0.25, 1, 0.25 })
same(ec.taper.cosine{ count = 2, pedestal = 1 }, { 1, 1 })
-- Taylor's line source: nbar - 1 side lobes near the level, by the array evaluator
local w = ec.taper.taylor{ count = 200, sll_db = -30, nbar = 6 }
local line = ec.array{ x = ec.geometry.line{ count = 200, spacing = 0.5 }.x, amplitude = w, wavelength = 1,
    u = ec.range(0, 1, 4001) }
close(ec.value(line:sll_db()), -30, 0.3)

-- ---- steering: phases against -k (u x + v y + w z), from which ec.array subtracts k z itself
local x, y, z = { 0, 0.5, 1 }, { 0, 0, 2 }, { 0, 0.25, 0 }
local s, t = math.sin(pi / 6), math.cos(pi / 6)
same(ec.steering.phase{ x = x, y = y, z = z, wavelength = 1, theta_deg = 30, phi_deg = 90, total = true },
    { 0, -2 * pi * 0.25 * t, -2 * pi * 2 * s })
same(ec.steering.phase{ x = x, y = y, z = z, wavelength = 1, theta_deg = 30, phi_deg = 90 },
    { 0, -2 * pi * 0.25 * (t - 1), -2 * pi * 2 * s })
same(ec.steering.phase{ x = x, wavelength = 0.5, u = -0.3 }, { 0, 4 * pi * 0.15, 4 * pi * 0.3 })
same(ec.steering.phase{ z = z, wavelength = 1, u = 0.6, v = 0.8, total = true }, { 0, 0, 0 }) -- along the horizon
close(ec.steering.phase{ x = { 1 }, frequency = ec.c0, u = 0.25 }[1], -pi / 2)
local u = ec.constant(0.3)
same(ec.value(ec.steering.phase{ x = x, y = y, z = z, wavelength = 1, u = u, v = 0.2 }),
    ec.steering.phase{ x = x, y = y, z = z, wavelength = 1, u = 0.3, v = 0.2 })
same(ec.value(ec.steering.phase{ x = ec.constant(x), y = y, z = z, wavelength = 1, theta_deg = 100 * u, phi_deg = 20 }),
    ec.steering.phase{ x = x, y = y, z = z, wavelength = 1, theta_deg = 30, phi_deg = 20 })
-- The beam of a steered half-wave line is at +20 deg, and a paraboloid's in its own direction.
local function peak_deg(g, theta)
    local phase = ec.steering.phase{ x = g.x, y = g.y, z = g.z, wavelength = 1, theta_deg = theta, phi_deg = 0 }
    local cut = ec.array{ x = g.x, y = g.y, z = g.z, phase = phase, wavelength = 1, theta_deg = ec.range(-90, 90, 361) }
    return -90 + 0.5 * (ec.value(ec.abs(cut:pattern()):argmax()) - 1)
end
close(peak_deg(ec.geometry.line{ count = 20, spacing = 0.5 }, 20), 20)
close(peak_deg(ec.geometry.paraboloid{ diameter = 6, f_over_d = 0.4, spacing = 0.45 }, -35), -35)

-- ---- random numbers: Philox4x32-10, key = seed, counter = (stream, element, 0, 0), the middle of one of
-- 2^52 cells. The words of the zero counter under a zero key are the published test vector 6627e8d5 e169c58d ...
local draw = ec.errors.random{ count = 4, limit = 1, seed = 0 }
close(draw[1], 2 * (0x6627e8d5 / 2 ^ 32 + ((0xe169c58d >> 12) + 0.5) / 2 ^ 52) - 1, 0)
local many = ec.errors.random{ count = 20000, sigma = 2, seed = 7 }
local mean, square = 0, 0
for i = 1, #many do mean, square = mean + many[i] / #many, square + many[i] ^ 2 / #many end
close(mean, 0, 0.05) close(square, 4, 0.16) -- four standard errors of the mean and of the square
same(ec.errors.random{ count = 3, sigma = 2, seed = 7 }, { many[1], many[2], many[3] }, 0)
local moved = ec.errors.perturb{ x = { 1, 2, 3 }, z = { 0, 0, 0 }, limit = 0.1, seed = 4 }
assert(moved.y == nil and #moved.x == 3 and math.abs(moved.x[3] - 3) <= 0.1 and moved.x[3] ~= 3)
local noise = ec.errors.random{ count = 3, limit = 0.1, seed = 4 }
same(moved.x, { 1 + noise[1], 2 + noise[2], 3 + noise[3] }, 0)
assert(moved.z[1] ~= noise[1])
same(ec.value(ec.errors.perturb{ x = ec.constant{ 1, 2, 3 }, limit = 0.1, seed = 4 }.x), moved.x)

-- ---- failed elements
same(ec.errors.failed{ count = 4, elements = { 2, 4 } }, { 1, 0, 1, 0 })
same(ec.errors.failed{ amplitude = { 3, 4, 5 }, elements = 1 }, { 0, 4, 5 })
same(ec.value(ec.errors.failed{ amplitude = ec.constant{ 3, 4, 5 }, elements = 3 }), { 3, 4, 0 })
local function count_failed(seed)
    local failed, first = 0, nil
    for i, a in ipairs(ec.errors.failed{ count = 50, random = 7, seed = seed }) do
        if a == 0 then failed, first = failed + 1, first or i end
    end
    assert(failed == 7)
    return first
end
assert(count_failed(1) == count_failed(1)
    and (count_failed(1) ~= count_failed(2) or count_failed(1) ~= count_failed(3)))
same(ec.errors.failed{ count = 2, random = 0 }, { 1, 1 })

-- ---- quantised weights
same(ec.errors.quantize_phase{ phase_deg = { 0, 44, 46, -44, -46, 200 }, bits = 2 }, { 0, 0, 90, 0, -90, 180 })
same(ec.errors.quantize_phase{ phase = { 1 }, bits = 3 }, { pi / 4 })
same(ec.errors.quantize_amplitude{ amplitude = { 0, 0.1, 0.3, 0.99, 1.7 }, bits = 2 }, { 0, 0, 1 / 3, 1, 1 })
same(ec.errors.quantize_amplitude{ amplitude = { 1, 2 }, bits = 1, max = 2 }, { 2, 2 })
same(ec.value(ec.errors.quantize_phase{ phase_deg = ec.constant{ 46, -46 }, bits = 2 }), { 90, -90 })
same(ec.value(ec.errors.quantize_amplitude{ amplitude = ec.constant{ 0.3, 1.7 }, bits = 2 }), { 1 / 3, 1 })
close(ec.errors.quantize_amplitude{ amplitude = 0.3, bits = 2 }, 1 / 3)
print("all helpers agree")
