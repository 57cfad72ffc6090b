-- How many terms of the expansion in z a conformal array needs, whole or cut into sub-arrays: two
-- paraboloids of 65,388 aperiodic elements, IA1 with f/D = 1 and IA2 with f/D = 1.5. The case is
-- Fig. 11 of the paper on irregular arrays that introduced p-series and sub-arrays (ACES Journal
-- 25, no. 4, April 2010). It gives neither diameter nor directions; here 94 wavelengths and 40 x 40
-- directions with |u|, |v| <= 0.4, all in the side lobes. Elements lie on a jittered grid and point
-- to broadside. The error is ||F - F^|| / ||F||, F the direct sum in double precision, and a table
-- tells how many terms bring it to 1 %. Measured, the same for every diameter from 88 to 98:
--
--                                    IA1: 1    16    64   256   IA2: 1    16    64   256 sub-arrays
--   published p-series             over 6     5     4     3        4     3     -     2
--   Taylor (the p-series)               7     5     4     3        5     4     3     3
--   Taylor, planes                      7     3     2     1        5     2     2     1
--   Chebyshev                           5     5     4     3        5     4     3     3
--   Chebyshev, planes                   5     2     2     1        5     2     2     1
--
-- Directions in the main beam make ||F|| larger: with --set directions=81, a grid that resolves the
-- beam, IA1 whole needs 6 Taylor terms and IA2 in 256 parts 2. About 5 s on one core.
local ec = require "eciton"
ec.job{ name = "parabolic_accuracy" }
local diameter, directions = ec.arg("diameter", 94), ec.arg("directions", 40)
local count = ec.quick and 6000 or 65388
local limit, most = 0.01, 12 -- of the error; of the terms that are tried
local arrays = { -- the published numbers of terms by sub-arrays a side
    { name = "IA1", f_over_d = 1, published = { [1] = "over 6", [4] = 5, [8] = 4, [16] = 3 } },
    { name = "IA2", f_over_d = 1.5, published = { [1] = 4, [4] = 3, [16] = 2 } },
}
local ways = {
    { name = "Taylor", expansion = "taylor", plane = false },
    { name = "Taylor, planes", expansion = "taylor", plane = true },
    { name = "Chebyshev", expansion = "chebyshev", plane = false },
    { name = "Chebyshev, planes", expansion = "chebyshev", plane = true },
}
local grid = ec.range(-0.4, 0.4, directions)

-- real and imaginary parts of the pattern in all directions
local function field(g, keys)
    keys.x, keys.y, keys.z, keys.wavelength, keys.u, keys.v = g.x, g.y, g.z, 1, grid, grid
    local pattern = ec.array(keys):pattern()
    return ec.value(ec.concat(ec.re(pattern), ec.im(pattern)))
end

local function distance(a, b)
    local sum = 0
    for i = 1, #a do
        sum = sum + (a[i] - (b and b[i] or 0)) ^ 2
    end
    return math.sqrt(sum)
end

local function least_terms(g, want, way, side)
    for terms = 1, most do
        local error_here = distance(want, field(g, { method = "nufft", parts = side, terms = terms,
            expansion = way.expansion, plane = way.plane, precision = "single", tolerance = 1e-4 })) / distance(want)
        if error_here <= limit then
            return terms, error_here
        end
    end
    error(("%s with %d sub-arrays does not come to an error of %g"):format(way.name, side * side, limit))
end

local function check(holds, text, ...)
    if not holds then
        error(text:format(...))
    end
end

for _, array in ipairs(arrays) do
    local g = ec.geometry.paraboloid{ diameter = diameter, f_over_d = array.f_over_d, count = count, jitter = 0.4 }
    local want = field(g, { method = "direct", precision = "double" })
    print(("%s: %d elements, diameter %g, f/D = %g: terms (error in %%) for %g %%"):format(array.name, g.n, diameter,
        array.f_over_d, 100 * limit))
    print(("  %10s %9s %15s %16s %15s %18s"):format("sub-arrays", "published", ways[1].name, ways[2].name, ways[3].name,
        ways[4].name))
    for _, side in ipairs{ 1, 4, 8, 16 } do
        local published, terms, cells = array.published[side], {}, {}
        for w, way in ipairs(ways) do
            local error_here
            terms[w], error_here = least_terms(g, want, way, side)
            cells[w] = ("%d (%.2f)"):format(terms[w], 100 * error_here)
        end
        print(("  %10d %9s %15s %16s %15s %18s"):format(side * side, published or "-", table.unpack(cells)))
        check(terms[3] <= terms[1] and terms[4] <= terms[2], "Chebyshev needs more terms than Taylor")
        check(side < 8 or math.max(terms[2], terms[4]) <= 3, "planes leave more than 3 terms to %d parts", side * side)
        if published == "over 6" then -- an even number of directions leaves the main beam out
            check(terms[1] > (directions % 2 == 0 and 6 or 5), "%s whole: %d terms are enough", array.name, terms[1])
        elseif published then
            check(math.abs(terms[1] - published) <= 1, "%s in %d parts: %d terms, published: %d", array.name,
                side * side, terms[1], published)
        end
    end
end
