-- expect: every mistake is named
-- What the functions of the library say about bad keys: each message begins with the script's line.
local ec = require "eciton"
local G, S, B, E, T = ec.geometry, ec.steering, ec.basis, ec.errors, ec.taper
local nan, inf = 0 / 0, 1 / 0
local job = ec.job{ name = "errors" }
local v = job:real{ name = "v", count = 3, min = -1, max = 2 }
local positive = job:real{ name = "positive", min = 1, max = 2 }

local cases = {
    -- counts
    { G.line, { count = 0, spacing = 1 }, "ec.geometry.line: key 'count': 0 is not allowed, it must be at least 1 and at most 1000000" },
    { G.line, { count = -3, spacing = 1 }, "key 'count': -3 is not allowed" },
    { G.line, { count = 2.5, spacing = 1 }, "key 'count': 2.5 is not a whole number" },
    { G.line, { count = nan, spacing = 1 }, "key 'count': wants a finite number, got" },
    { G.line, { count = "3", spacing = 1 }, "key 'count': wants a whole number, got the text '3'" },
    { G.line, { count = positive, spacing = 1 }, "key 'count': wants a whole number, got an expression" },
    { G.line, { spacing = 1 }, "key 'count' is missing (number of elements)" },
    { G.rectangle, { count_x = 3, count_y = 0, spacing_x = 1, spacing_y = 1 }, "ec.geometry.rectangle: key 'count_y': 0" },
    { G.triangle, { count_x = 3, count_y = 3, spacing = 1, row_spacing = 0 }, "ec.geometry.triangle: key 'row_spacing': 0" },
    -- lengths
    { G.line, { count = 3, spacing = 0 }, "key 'spacing': 0 is not allowed, it must be above 0" },
    { G.line, { count = 3, spacing = -0.5 }, "key 'spacing': -0.5 is not allowed, it must be above 0" },
    { G.line, { count = 3, spacing = nan }, "key 'spacing': wants a finite number, got" },
    { G.line, { count = 3, spacing = inf }, "key 'spacing': wants a finite number, got inf" },
    { G.line, { count = 3, spacing = { 1, 2 } }, "key 'spacing': wants a number or an expression, got a table" },
    { G.line, { count = 3, spacing = true }, "key 'spacing': wants a number or an expression, got true" },
    { G.line, { count = 3, spacing = v }, "key 'spacing': wants a single number, got an expression of 3" },
    { G.line, { count = 3, spacing = v[1] }, "key 'spacing': the expression can be -1, it must be above 0" },
    { G.line, { count = 3, spacing = ec.complex(positive, 0) }, "key 'spacing': wants a real value, got a complex expression" },
    { G.line, { count = 3, spacing = 1, axis = "w" }, "key 'axis': unknown word 'w', allowed are x|y|z" },
    { G.line, { count = 3, spacin = 1 }, "unknown key 'spacin' (did you mean 'spacing'?)" },
    { G.line, 3, "wants a table of keys, as in ec.geometry.line{ count = 20, spacing = 0.5 }, got a number" },
    { G.ring, { count = 3, radius = 0 }, "ec.geometry.ring: key 'radius': 0" },
    { G.ring, { count = 3, radius = 1, start_deg = "a" }, "key 'start_deg': wants a number or an expression, got the text 'a'" },
    { G.rings, { radii = { 0, 1 } }, "ec.geometry.rings: give one of the keys counts and spacing" },
    { G.rings, { radii = { 0, 1 }, counts = { 1, 2 }, spacing = 1 }, "give one of the keys counts and spacing" },
    { G.rings, { radii = { 0, 1 }, counts = { 1 } }, "key 'counts': 1 values, but radii has 2" },
    { G.rings, { radii = { 0, 1 }, counts = { 1, 2.5 } }, "key 'counts': element 2 is 2.5, a whole number is needed" },
    { G.rings, { radii = { 0, 1 }, counts = { 0, 2 } }, "key 'counts': 0 is not allowed, it must be at least 1" },
    { G.rings, { radii = { 0, 1 }, counts = { 2, 2 } }, "ring 1 has radius 0, so only one element fits, not 2" },
    { G.rings, { radii = { 1, -1 }, counts = { 2, 2 } }, "key 'radii': -1 is not allowed, it must be at least 0" },
    { G.rings, { radii = { 1, nan }, counts = { 2, 2 } }, "key 'radii': element 2 is" },
    { G.rings, { radii = v, counts = { 2, 2, 2 } }, "key 'radii': the expression can be -1, it must be at least 0" },
    { G.rings, { radii = ec.concat(positive, 3), spacing = 1 }, "key 'spacing': with an expression as radii give counts" },
    { G.spiral, { count = 3, radius = -1 }, "ec.geometry.spiral: key 'radius': -1" },
    { G.cylinder, { columns = 3, rows = 2, radius = 1, spacing = 1, arc_deg = 400 }, "key 'arc_deg': 400 is not allowed, it must be above 0 and at most 360" },
    { G.cylinder, { columns = 3, rows = 0, radius = 1, spacing = 1 }, "key 'rows': 0" },
    { G.sphere_cap, { count = 3, radius = 1, half_angle_deg = 0 }, "key 'half_angle_deg': 0 is not allowed, it must be above 0 and at most 180" },
    { G.paraboloid, { diameter = 3, f_over_d = 1 }, "ec.geometry.paraboloid: give one of the keys spacing and count" },
    { G.paraboloid, { diameter = 3, f_over_d = 0, spacing = 1 }, "key 'f_over_d': 0 is not allowed, it must be above 0" },
    { G.paraboloid, { diameter = 3, f_over_d = 1, spacing = 1e-6 }, "key 'spacing': 1e-06 is not allowed, it must be at least diameter / 1100" },
    { G.paraboloid, { diameter = 1, f_over_d = 1, spacing = 4 }, "key 'spacing': 4 leaves no element in the diameter of 1" },
    { G.paraboloid, { diameter = 3, f_over_d = 1, spacing = 1, jitter = 0.6 }, "key 'jitter': 0.6 is not allowed, it must be at least 0 and at most 0.5" },
    { G.paraboloid, { diameter = 3, f_over_d = 1, spacing = 1, seed = -1 }, "key 'seed': -1 is not allowed" },
    { G.facets, { facets = 4, columns = 3, rows = 1, spacing = 1, width = 1, f_over_d = 1 }, "key 'columns': 3 is not allowed, it must be at least facets, 4" },
    { G.facets, { facets = 2, columns = 3, rows = 1, spacing = 1, width = 1 }, "key 'f_over_d' is missing: a parabola needs width and f_over_d" },
    { G.facets, { facets = 2, columns = 3, rows = 1, spacing = 1, profile = "arc", radius = 1 }, "key 'arc_deg' is missing" },
    { G.quantiles, { count = 3, aperture = 1, density = { 0, 0 } }, "key 'density': all are 0, a sum above 0 is needed" },
    { G.quantiles, { count = 3, aperture = 1, density = { 1, -1 } }, "key 'density': -1 is not allowed, it must be at least 0" },
    { G.quantiles, { count = 1, aperture = 1, density = { 1 }, ends = true }, "key 'count': with ends = true it must be at least 2" },
    -- given positions
    { G.points, { x = { 1, 2 }, y = { 1, 2, 3 } }, "ec.geometry.points: key 'y': 3 values, but x has 2" },
    { G.points, { y = { 1, 2, 3 } }, "key 'x' is missing" },
    { G.points, { x = {} }, "key 'x': the list is empty" },
    { G.points, { x = { 1, nan } }, "key 'x': element 2 is" },
    { G.points, { x = { 1, "a" } }, "key 'x': element 2 is a string, a number is needed" },
    { G.points, { x = { 1, 2 }, nx = { 1, 0 }, ny = 0, nz = 0 }, "ec.geometry.points: the normal of element 2 has zero length" },
    { G.points, { x = { 1, 2 }, nx = 1, ny = 0 }, "a normal needs nx, ny and nz, but 'nz' is missing" },
    { G.halves, { x = { 1, 2 }, nx = 0, ny = 0, nz = 0 }, "ec.geometry.halves: the normal of element 1 has zero length" },
    { G.quadrants, { x = G.line{ count = 2, spacing = 1 } }, "key 'x': wants a list, got a table of the lists x, y, ...: give one of them, as in g.x" },
    { G.csv, { file = "missing.csv" }, "there is no file 'missing.csv'" },
    { G.csv, { file = "normals.csv" }, "ec.geometry.csv: file 'normals.csv': the normal of element 2 has zero length" },
    { G.csv, { file = "not_finite.csv" }, "ec.geometry.csv: file 'not_finite.csv': column 'y', element 2 is" },
    { G.csv, { file = 3 }, "key 'file': wants a text, got a number" },
    { G.csv, { file = "elements.csv", unit = 0 }, "key 'unit': 0 is not allowed, it must be above 0" },
    -- steering
    { S.phase, { x = { 1, 2 }, wavelength = 1, u = 1.5 }, "ec.steering.phase: key 'u': 1.5 is not allowed" },
    { S.phase, { x = { 1, 2 }, wavelength = 1, u = 0.8, v = 0.8 }, "there is no direction 0.8, 0.8: u^2 + v^2 must be at most 1" },
    { S.phase, { x = { 1, 2 }, wavelength = 1, u = 0.5, phi_deg = 3 }, "give u and v, or theta_deg and phi_deg, not both" },
    { S.phase, { x = { 1, 2 }, u = 0.5 }, "one of the keys wavelength and frequency is needed" },
    { S.phase, { x = { 1, 2 }, wavelength = 0 }, "key 'wavelength': 0 is not allowed, it must be above 0" },
    { S.phase, { x = { 1, 2 }, y = { 1 }, wavelength = 1 }, "do not fit" },
    -- bases
    { B.legendre, { coefficients = { 1 } }, "ec.basis.legendre: give one of the keys count and at" },
    { B.legendre, { coefficients = {}, count = 3 }, "key 'coefficients': the list is empty" },
    { B.legendre, { coefficients = { 1 }, at = { 0, 1.5 } }, "key 'at': 1.5 is not allowed, it must be at least -1 and at most 1" },
    { B.legendre_matrix, { terms = 0, count = 3 }, "key 'terms': 0 is not allowed" },
    { B.bspline, { coefficients = { 1, 2, 3 }, count = 9 }, "ec.basis.bspline: 3 coefficients are too few for degree 3: at least 4 are needed" },
    { B.bspline, { coefficients = { 1, 2, 3 }, degree = -1, count = 9 }, "key 'degree': -1 is not allowed" },
    { B.bspline_matrix, { terms = 4, count = 9, at = { 0 } }, "give one of the keys count and at" },
    -- element errors
    { E.random, { count = 3 }, "ec.errors.random: give one of the keys sigma and limit" },
    { E.random, { count = 3, sigma = -1 }, "key 'sigma': -1 is not allowed, it must be at least 0" },
    { E.perturb, { sigma = 1 }, "ec.errors.perturb: give x, y or z" },
    { E.perturb, { x = 1, sigma = 1 }, "key 'x': wants one value for each element, got a single one" },
    { E.failed, { count = 3 }, "give one of the keys elements and random" },
    { E.failed, { elements = 1 }, "give one of the keys count and amplitude" },
    { E.failed, { count = 3, elements = { 4 } }, "key 'elements': element 1 is 4, a whole number from 1 to 3 is needed" },
    { E.failed, { count = 3, elements = { 1.5 } }, "key 'elements': element 1 is 1.5, a whole number from 1 to 3 is needed" },
    { E.failed, { count = 3, random = 4 }, "key 'random': 4 elements cannot fail, there are 3" },
    { E.quantize_phase, { phase = { 1 }, bits = 0 }, "key 'bits': 0 is not allowed, it must be at least 1 and at most 24" },
    { E.quantize_phase, { bits = 3 }, "give one of the keys phase and phase_deg" },
    { E.quantize_amplitude, { amplitude = { -1 }, bits = 3 }, "key 'amplitude': -1 is not allowed, it must be at least 0" },
    -- tapers
    { T.hamming, { count = 1 }, "ec.taper.hamming: key 'count': 1 is not allowed, it must be at least 2" },
    { T.cosine, { count = 3, pedestal = 2 }, "key 'pedestal': 2 is not allowed, it must be at least 0 and at most 1" },
    { T.chebyshev, { count = 5000, sll_db = -30 }, "key 'count': 5000 is not allowed, it must be at least 2 and at most 4000" },
    { T.taylor, { count = 20, sll_db = -30, nbar = 1 }, "key 'nbar': 1 is not allowed" },
    -- reading a geometry
    { function(g) return g.extend end, G.line{ count = 2, spacing = 1 }, "a geometry has no 'extend' (did you mean 'extent'?)" },
    { function(g) return #g end, G.line{ count = 2, spacing = 1 }, "a geometry is no list: its number of elements is .n" },
}
local wrong = 0
for i, case in ipairs(cases) do
    local good, message = pcall(case[1], case[2])
    if good or not (message:find(case[3], 1, true) and message:find("^geometry_errors.lua:%d+: ")) then
        print(("case %d: expected '%s', got '%s'"):format(i, case[3], tostring(message)))
        wrong = wrong + 1
    end
end
assert(wrong == 0, wrong .. " messages are wrong")
print("every mistake is named")
