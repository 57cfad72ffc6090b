-- A folded array, 19,600 elements on three facets, with the phases that each design needs for its
-- own beam: the whole array by the p-series against its facets about their own planes, one term
-- each, at an error of at most 1e-3 of the pattern's rms by either way. The case is Table 2 of the
-- paper on irregular arrays by p-series, non-uniform FFTs and sub-arrays (ACES Journal 25, no. 4,
-- April 2010), which gives neither size nor angles: here 70 wavelengths, 64 x 64 directions with
-- |u|, |v| <= 0.2, and facets along parabolas so deep that the series needs 3 to 7 terms for that
-- error. The time is the processor time that a search takes for 400 designs more, metric included,
-- the least of three. Measured on one core of a Xeon with AVX-512:
--
--   terms of the series           3       4       5       6       7
--   64 x 64 directions         1.97    2.29    2.80    2.94    3.42
--   128 x 128 directions       1.48    1.98    2.12    2.39    2.67
--   published                  1.00    1.34    1.67    2.00    2.34
--
-- The series needs a transform for each term. Facets need one together, and each an interpolation
-- in every direction; where no facet is tilted along y, that goes along u alone. Errors are
-- checked, times are not. About a minute on one core; --set directions=128 for the second line.
local ec = require "eciton"
local directions, tolerance = ec.arg("directions", 64), 1e-3
local columns = ec.quick and 42 or 140
local repeats, designs = ec.quick and 1 or 3, ec.quick and 100 or 400
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

-- processor time of a search over so many designs
local function search_seconds(g, keys, count)
    local job = ec.job{ name = "faceted_speed" }
    local u = job:real{ name = "u", min = -0.1, max = 0.1 }
    local v = job:real{ name = "v", min = -0.1, max = 0.1 }
    job:minimize("peak", ec.abs(array(g, keys, u, v):pattern()):max())
    local begun = os.clock()
    job:solve{ population = 100, evaluations = count, final_designs = 1, report = false }
    return os.clock() - begun
end

-- processor time of one design, each way in turn
local function seconds(g, ways)
    local least = {}
    for _ = 1, repeats do
        for name, keys in pairs(ways) do
            local t = least[name] or { short = math.huge, long = math.huge }
            t.short = math.min(t.short, search_seconds(g, keys, 100))
            t.long = math.min(t.long, search_seconds(g, keys, 100 + designs))
            least[name] = t
        end
    end
    for name, t in pairs(least) do
        least[name] = (t.long - t.short) / designs
    end
    return least
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
print(("%5s %6s %22s %22s %9s %10s"):format("terms", "f/D", "series: ms (error)",
    "facets: ms (error)", "speed-up", "published"))
for _, case in ipairs(cases) do
    local terms, f_over_d, published = table.unpack(case)
    local g = ec.geometry.facets{ facets = 3, columns = columns, rows = columns,
        spacing = 70 / columns, width = 70, f_over_d = f_over_d }
    local facets = { method = "nufft", part = g.facet, terms = 1 }
    local series = { method = "nufft", expansion = "taylor", terms = terms }
    local shorter = { method = "nufft", expansion = "taylor", terms = terms - 1 }
    local want = field(g, { method = "direct", precision = "double" })
    local facets_error = error_of(field(g, facets), want)
    local series_error = error_of(field(g, series), want)
    if math.max(facets_error, series_error) > tolerance
        or error_of(field(g, shorter), want) <= tolerance then
        error(("f/D = %g: the series needs another number of terms than %d, or the facets more than one")
            :format(f_over_d, terms))
    end
    local t = seconds(g, { facets = facets, series = series })
    print(("%5d %6.2f %12.3f (%.1e) %12.3f (%.1e) %9.2f %10.2f"):format(terms, f_over_d,
        1e3 * t.series, series_error, 1e3 * t.facets, facets_error, t.series / t.facets, published))
end
