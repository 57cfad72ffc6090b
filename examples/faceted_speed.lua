-- A folded array, 19,600 elements on three facets, with the phases that each design needs for its own beam: the whole
-- array by the p-series against its facets about their own planes, one term each, at an error of at most 1e-3 of the
-- pattern's rms by either way. The case is Table 2 of the paper on irregular arrays (A. Capozzoli, C. Curcio, G. D'Elia,
-- A. Liseno and P. Vinetti, ACES Journal 25, 2010), which gives neither size nor angles: here 70 wavelengths, 64 x 64
-- directions with |u|, |v| <= 0.2, and facets along parabolas so deep that the series needs 3 to 7 terms for that error.
-- The time is the processor time of a search over its 1,500 designs, metric included, the median of three searches.
-- Measured on a Xeon with AVX-512:
--
--   terms of the series       3       4       5       6       7
--   speed-up               1.39    1.66    1.88    2.15    2.41
--   published              1.00    1.34    1.67    2.00    2.34
--
-- The series needs a transform for each term; the facets together need one, but each of them an interpolation in every
-- direction. So they win less with about as many directions as elements: with --set directions=128 it is 1.03, 1.21,
-- 1.49, 1.56 and 1.86. Errors are checked, times are not. About a minute on one core.
local ec = require "eciton"
local directions, tolerance = ec.arg("directions", 64), 1e-3
local columns = ec.quick and 42 or 140
local repeats, designs = ec.quick and 1 or 3, ec.quick and 300 or 1500
local grid = ec.range(-0.2, 0.2, directions)
local cases = { -- terms of the series, focal length of the parabola over its width, published speed-up
    { 3, 1.2, 1.00 }, { 4, 0.6, 1.34 }, { 5, 0.35, 1.67 }, { 6, 0.25, 2.00 }, { 7, 0.2, 2.34 },
}

local function array(g, keys, u, v)
    local all = { x = g.x, y = g.y, z = g.z, wavelength = 1, u = grid, v = grid, steer_u = u, steer_v = v,
        precision = "single", tolerance = tolerance }
    for key, value in pairs(keys) do
        all[key] = value
    end
    return ec.array(all)
end

-- processor time of one design
local function seconds(g, keys)
    local job = ec.job{ name = "faceted_speed" }
    local u = job:real{ name = "u", min = -0.1, max = 0.1 }
    local v = job:real{ name = "v", min = -0.1, max = 0.1 }
    job:minimize("peak", ec.abs(array(g, keys, u, v):pattern()):max())
    local times = {}
    for i = 1, repeats do
        local begun = os.clock()
        job:solve{ population = 100, evaluations = designs, keep = 1 }
        times[i] = (os.clock() - begun) / designs
    end
    table.sort(times)
    return times[repeats // 2 + 1]
end

local function field(g, keys)
    local pattern = array(g, keys):pattern()
    return ec.value(ec.concat(ec.re(pattern), ec.im(pattern)))
end

local function error_of(values, want)
    local difference, norm = 0, 0
    for i = 1, #want do
        difference, norm = difference + (values[i] - want[i]) ^ 2, norm + want[i] ^ 2
    end
    return math.sqrt(difference / norm)
end

ec.job{ name = "faceted_speed" }
local lines = {}
for _, case in ipairs(cases) do
    local terms, f_over_d, published = table.unpack(case)
    local g = ec.geometry.facets{ facets = 3, columns = columns, rows = columns, spacing = 70 / columns, width = 70,
        f_over_d = f_over_d }
    local ways = {
        facets = { method = "nufft", part = g.facet, terms = 1 },
        series = { method = "nufft", expansion = "taylor", terms = terms },
        shorter = { method = "nufft", expansion = "taylor", terms = terms - 1 },
    }
    local want, errors = field(g, { method = "direct", precision = "double" }), {}
    for name, keys in pairs(ways) do
        errors[name] = error_of(field(g, keys), want)
    end
    if math.max(errors.facets, errors.series) > tolerance or errors.shorter <= tolerance then
        error(("f/D = %g: the series needs another number of terms than %d, or the facets more than one"):format(
            f_over_d, terms))
    end
    local slow, fast = seconds(g, ways.series), seconds(g, ways.facets)
    lines[#lines + 1] = ("%5d %6.2f %16.3f (%.1e) %16.3f (%.1e) %11.2f %10.2f"):format(terms, f_over_d, 1e3 * slow,
        errors.series, 1e3 * fast, errors.facets, slow / fast, published)
end
print(("%5s %6s %26s %26s %11s %10s"):format("terms", "f/D", "series: ms (error)", "facets: ms (error)", "speed-up",
    "published"))
print(table.concat(lines, "\n"))
