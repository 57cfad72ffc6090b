-- expect: all geometries agree
-- Positions of small cases from elementary geometry, and properties of large ones.
local ec = require "eciton"
local G, pi, sqrt, sin, cos = ec.geometry, math.pi, math.sqrt, math.sin, math.cos

local function close(a, b, limit, what)
    assert(math.abs(a - b) <= (limit or 1e-12), ("%s: %.17g is not %.17g"):format(what or "value", a, b))
end
local function same(list, wanted, what)
    assert(#list == #wanted, ("%s: %d values, not %d"):format(what, #list, #wanted))
    for i = 1, #wanted do close(list[i], wanted[i], 1e-12, what .. " " .. i) end
end
local function check(name, g, n, wanted)
    assert(g.n == n and #g.x == n and #g.y == n and #g.z == n, name .. ": count")
    for axis, list in pairs(wanted) do same(g[axis], list, name .. "." .. axis) end
    for i = 1, g.nx and n or 0 do
        close(g.nx[i] ^ 2 + g.ny[i] ^ 2 + g.nz[i] ^ 2, 1, 1e-12, name .. ": length of normal")
    end
end
local function distance(g, i, j)
    return sqrt((g.x[i] - g.x[j]) ^ 2 + (g.y[i] - g.y[j]) ^ 2 + (g.z[i] - g.z[j]) ^ 2)
end
local function closest(g) -- smallest distance of two elements
    local least = math.huge
    for i = 2, g.n do
        for j = 1, i - 1 do least = math.min(least, distance(g, i, j)) end
    end
    return least
end
-- Normals against differences of the surface f(x, y, z) = 0.
local function on_surface(name, g, f)
    for i = 1, g.n do
        local x, y, z, h = g.x[i], g.y[i], g.z[i], 1e-5
        close(f(x, y, z), 0, 1e-9, name .. ": on the surface")
        local d = { (f(x + h, y, z) - f(x - h, y, z)) / 2 / h, (f(x, y + h, z) - f(x, y - h, z)) / 2 / h,
            (f(x, y, z + h) - f(x, y, z - h)) / 2 / h }
        local length = sqrt(d[1] ^ 2 + d[2] ^ 2 + d[3] ^ 2)
        close((d[1] * g.nx[i] + d[2] * g.ny[i] + d[3] * g.nz[i]) / length, 1, 1e-7, name .. ": normal")
    end
end

-- lines and planes
check("line", G.line{ count = 3, spacing = 0.5 }, 3, { x = { -0.5, 0, 0.5 }, y = { 0, 0, 0 }, z = { 0, 0, 0 } })
check("line", G.line{ count = 2, spacing = 3, axis = "z" }, 2, { x = { 0, 0 }, z = { -1.5, 1.5 } })
check("line", G.line{ count = 1, spacing = 3 }, 1, { x = { 0 } })
assert(G.line{ count = 3, spacing = 1 }.nx == nil)
local g = G.rectangle{ count_x = 3, count_y = 2, spacing_x = 0.5, spacing_y = 0.8 }
check("rectangle", g, 6, { x = { -0.5, 0, 0.5, -0.5, 0, 0.5 }, y = { -0.4, -0.4, -0.4, 0.4, 0.4, 0.4 },
    nx = { 0, 0, 0, 0, 0, 0 }, nz = { 1, 1, 1, 1, 1, 1 } })
same(g.extent.x, { -0.5, 0.5 }, "extent") same(g.extent.y, { -0.4, 0.4 }, "extent") same(g.extent.z, { 0, 0 }, "extent")
local h = 0.6 * sqrt(3) / 4
check("triangle", G.triangle{ count_x = 2, count_y = 2, spacing = 0.6 }, 4,
    { x = { -0.45, 0.15, -0.15, 0.45 }, y = { -h, -h, h, h }, nz = { 1, 1, 1, 1 } })
close(closest(G.triangle{ count_x = 9, count_y = 7, spacing = 0.6 }), 0.6)
close(G.triangle{ count_x = 2, count_y = 2, spacing = 0.6, row_spacing = 0.9 }.y[3], 0.45)
check("triangle", G.triangle{ count_x = 2, count_y = 1, spacing = 1 }, 2, { x = { -0.5, 0.5 }, y = { 0, 0 } })
check("ring", G.ring{ count = 4, radius = 2 }, 4, { x = { 2, 0, -2, 0 }, y = { 0, 2, 0, -2 }, nz = { 1, 1, 1, 1 } })
check("ring", G.ring{ count = 2, radius = 2, start_deg = 30 }, 2, { x = { sqrt(3), -sqrt(3) }, y = { 1, -1 } })
check("rings", G.rings{ radii = { 0, 1, 3 }, counts = { 1, 2, 4 } }, 7,
    { x = { 0, 1, -1, 3, 0, -3, 0 }, y = { 0, 0, 0, 0, 3, 0, -3 } })
check("rings", G.rings{ radii = { 0, 0.5, 1 }, spacing = 0.5 }, 1 + 6 + 12, {}) -- 2 pi and 4 pi arcs of 0.5
check("rings", G.rings{ radii = 1, counts = 2 }, 2, { x = { 1, -1 } })
local golden = pi * (3 - sqrt(5))
check("spiral", G.spiral{ count = 2, radius = 4 }, 2, { x = { 2 * cos(golden), sqrt(12) * cos(2 * golden) },
    y = { 2 * sin(golden), sqrt(12) * sin(2 * golden) } })
check("spiral", G.spiral{ count = 2, radius = 4, angle_deg = 90 }, 2, { x = { 0, -sqrt(12) }, y = { 2, 0 } })
assert(closest(G.spiral{ count = 200, radius = 5 }) > 0.5) -- equal areas: about 0.63 apart

-- curved surfaces
g = G.cylinder{ columns = 3, rows = 2, radius = 2, spacing = 0.5, arc_deg = 90 } -- columns at -30, 0, 30 deg
local s3 = sqrt(3)
check("cylinder", g, 6, { x = { -1, 0, 1, -1, 0, 1 }, y = { -0.25, -0.25, -0.25, 0.25, 0.25, 0.25 },
    z = { s3 - 2, 0, s3 - 2, s3 - 2, 0, s3 - 2 },
    nx = { -0.5, 0, 0.5, -0.5, 0, 0.5 }, nz = { s3 / 2, 1, s3 / 2, s3 / 2, 1, s3 / 2 } })
on_surface("cylinder", g, function(x, _, z) return x ^ 2 + (z + 2) ^ 2 - 4 end)
g = G.cylinder{ columns = 4, rows = 1, radius = 2, spacing = 0.5, axis = "z" }
local s2 = sqrt(2)
check("cylinder", g, 4, { x = { -s2, s2, s2, -s2 }, y = { -s2, -s2, s2, s2 }, z = { 0, 0, 0, 0 } })
on_surface("cylinder", g, function(x, y) return x ^ 2 + y ^ 2 - 4 end)
g = G.sphere_cap{ count = 50, radius = 3, half_angle_deg = 60 }
on_surface("sphere_cap", g, function(x, y, z) return x ^ 2 + y ^ 2 + (z + 3) ^ 2 - 9 end)
close(g.z[1], -0.5 / 50 * 1.5) close(g.z[50], -49.5 / 50 * 1.5) -- heights even up to 3 (1 - cos 60 deg) = 1.5
close(math.atan(g.y[2], g.x[2]) - 2 * golden + 2 * pi * (2 * golden > pi and 1 or 0), 0)
assert(closest(g) > 0.5)
g = G.paraboloid{ diameter = 4, f_over_d = 0.5, spacing = 1 } -- a 4 x 4 lattice without its corners
check("paraboloid", g, 12, { x = { -.5, .5, -1.5, -.5, .5, 1.5, -1.5, -.5, .5, 1.5, -.5, .5 },
    y = { -1.5, -1.5, -.5, -.5, -.5, -.5, .5, .5, .5, .5, 1.5, 1.5 } })
close(g.z[1], 2.5 / 8) -- f = 2
on_surface("paraboloid", g, function(x, y, z) return z - (x ^ 2 + y ^ 2) / 8 end)
g = G.paraboloid{ diameter = 10, f_over_d = 1, spacing = 0.7, jitter = 0.2, seed = 5 }
on_surface("paraboloid", g, function(x, y, z) return z - (x ^ 2 + y ^ 2) / 40 end)
local plain = G.paraboloid{ diameter = 10, f_over_d = 1, spacing = 0.7 }
assert(plain.n == g.n and closest(plain) > 0.7 - 1e-12)
for _, axis in ipairs{ "x", "y" } do -- moved by up to 0.2 spacings both ways
    local from, to = 0, 0
    for i = 1, g.n do
        from, to = math.min(from, g[axis][i] - plain[axis][i]), math.max(to, g[axis][i] - plain[axis][i])
    end
    assert(from >= -0.14 and from < -0.12 and to <= 0.14 and to > 0.12)
end
g = G.paraboloid{ diameter = 20, f_over_d = 1, count = 1000 }
local edge = 0
for i = 1, g.n do edge = math.max(edge, 2 * sqrt(g.x[i] ^ 2 + g.y[i] ^ 2)) end
assert(g.n == 1000) close(edge, 20) close(g.extent.x[1], -g.extent.x[2], 1)
g = G.facets{ facets = 2, columns = 4, rows = 2, spacing = 0.6, width = 4, f_over_d = 0.25 } -- f = 1: edges at z = 1
check("facets", g, 8, { x = { -1.5, -.5, .5, 1.5, -1.5, -.5, .5, 1.5 }, z = { .75, .25, .25, .75, .75, .25, .25, .75 },
    y = { -.3, -.3, -.3, -.3, .3, .3, .3, .3 } })
close(g.nx[1], 1 / sqrt(5)) close(g.nz[1], 2 / sqrt(5)) close(g.nx[4], -1 / sqrt(5)) close(g.ny[4], 0)
g = G.facets{ facets = 3, columns = 7, rows = 1, spacing = 1, profile = "arc", radius = 2, arc_deg = 90 }
for i, facet in ipairs{ 1, 1, 2, 2, 3, 3, 3 } do assert(g.facet[i] == facet) end
assert(g.n == 7)
local columns = { 2, 2, 3 } -- 7 columns shared out
local first = 1
for f = 1, 3 do -- vertices at -45, -15, 15, 45 deg on a circle about (0, 2)
    local a, b = (-45 + 30 * (f - 1)) * ec.deg, (-15 + 30 * (f - 1)) * ec.deg
    local ax, az, bx, bz = 2 * sin(a), 2 - 2 * cos(a), 2 * sin(b), 2 - 2 * cos(b)
    for i = first, first + columns[f] - 1 do
        local t = (i - first + 0.5) / columns[f]
        close(g.x[i], ax + t * (bx - ax)) close(g.z[i], az + t * (bz - az))
        close(g.nx[i] * (bx - ax) + g.nz[i] * (bz - az), 0) -- perpendicular to the chord
    end
    first = first + columns[f]
end

-- given positions, symmetry
g = G.points{ x = { 1, 2 }, z = { 0, 5 }, nx = { 0, 3 }, ny = 0, nz = { 2, 4 } }
check("points", g, 2, { x = { 1, 2 }, y = { 0, 0 }, z = { 0, 5 }, nx = { 0, 0.6 }, ny = { 0, 0 }, nz = { 1, 0.8 } })
g = G.halves{ x = { 1, 2 }, y = { 3, 4 }, nx = { 1, 0 }, ny = 0, nz = { 0, 1 } }
check("halves", g, 4, { x = { 1, 2, -1, -2 }, y = { 3, 4, 3, 4 }, nx = { 1, 0, -1, 0 }, nz = { 0, 1, 0, 1 } })
g = G.quadrants{ x = { 1, 2 }, y = { 3, 4 }, z = 7 }
check("quadrants", g, 8, { x = { 1, 2, -1, -2, -1, -2, 1, 2 }, y = { 3, 4, 3, 4, -3, -4, -3, -4 },
    z = { 7, 7, 7, 7, 7, 7, 7, 7 } })
g = G.csv{ file = "elements.csv", unit = ec.mm }
check("csv", g, 3, { x = { 1e-3, 2e-3, -3e-3 }, y = { 0, 0, 0 }, z = { 0.5e-3, 0, 0 },
    nx = { 0, 0, 1 }, nz = { 1, 1, 0 } })
g = G.csv{ file = "table.csv" } -- columns u and level_db: no names of coordinates, so in order
assert(g.n == #g.y and g.nx == nil)

-- density: quantiles of a density of 1 and 3 on two halves: the integral of 4 is 0.5, 1.5, 2.5, 3.5
g = G.quantiles{ count = 4, aperture = 6, density = { 1, 3 } }
check("quantiles", g, 4, { x = { -1.5, 3 * 0.5 / 3, 3 * 1.5 / 3, 3 * 2.5 / 3 } })
g = G.quantiles{ count = 5, aperture = 6, density = { 1, 3 }, ends = true } -- 0, 1, 2, 3, 4
check("quantiles", g, 5, { x = { -3, 0, 1, 2, 3 } })
-- The pattern of a Taylor taper without weights: 2,048 elements over 1,000 wavelengths, side lobes of
-- -26.0 dB with spacings from 0.35 to 1.23 (an own calculation outside of Eciton).
g = G.quantiles{ count = 2048, aperture = 1000, density = ec.taper.taylor{ count = 20000, sll_db = -26, nbar = 20 } }
local least, largest = math.huge, 0
for i = 2, g.n do
    least, largest = math.min(least, g.x[i] - g.x[i - 1]), math.max(largest, g.x[i] - g.x[i - 1])
end
close(least, 0.35, 5e-3) close(largest, 1.23, 5e-3)
local line = ec.array{ x = g.x, wavelength = 1, u = ec.range(0, 1, 5001), precision = "double" }
close(ec.value(line:sll_db{ look_u = 0, exclude_u = 1.4e-3 }), -26.0, 0.05)

-- expressions where keys are: the same positions as from numbers
local a = ec.over{ values = { 0.6 } } -- an expression that is no design variable
local function agree(name, of)
    local numbers, expressions = of(0.6), of(a:sum())
    for _, axis in ipairs{ "x", "y", "z", "nx", "ny", "nz" } do
        if numbers[axis] then
            same(ec.value(ec.constant(0) + expressions[axis]), numbers[axis], name .. " as expression: " .. axis)
        end
    end
    for _, axis in ipairs{ "x", "y", "z" } do
        for i = 1, 2 do close(ec.value(expressions.extent[axis][i]), numbers.extent[axis][i]) end
    end
end
agree("line", function(v) return G.line{ count = 4, spacing = v } end)
agree("rectangle", function(v) return G.rectangle{ count_x = 3, count_y = 2, spacing_x = v, spacing_y = 2 * v } end)
agree("triangle", function(v) return G.triangle{ count_x = 3, count_y = 2, spacing = v } end)
agree("ring", function(v) return G.ring{ count = 5, radius = v, start_deg = 50 * v } end)
agree("rings", function(v) return G.rings{ radii = 2 * v, counts = 3 } end)
local function both(v) return type(v) == "number" and { v, 2 * v } or ec.concat(v, 2 * v) end
agree("rings", function(v) return G.rings{ radii = both(v), counts = { 3, 5 } } end)
agree("spiral", function(v) return G.spiral{ count = 5, radius = v, angle_deg = 200 * v } end)
agree("cylinder", function(v) return G.cylinder{ columns = 3, rows = 2, radius = v, spacing = v, arc_deg = 100 } end)
agree("cylinder", function(v) return G.cylinder{ columns = 3, rows = 2, radius = v, spacing = v, axis = "z" } end)
agree("sphere_cap", function(v) return G.sphere_cap{ count = 6, radius = v, half_angle_deg = 70 } end)
agree("paraboloid", function(v) return G.paraboloid{ diameter = 4, f_over_d = v, spacing = 1 } end)
agree("facets", function(v)
    return G.facets{ facets = 3, columns = 6, rows = 2, spacing = v, width = 4 * v, f_over_d = v }
end)
agree("facets", function(v)
    return G.facets{ facets = 3, columns = 6, rows = 2, spacing = 1, profile = "arc", radius = v, arc_deg = 100 }
end)
agree("quantiles", function(v) return G.quantiles{ count = 4, aperture = v, density = { 1, 2, 1 } } end)
agree("points", function(v)
    return G.points{ x = both(v), y = v, nx = both(v), ny = 0, nz = 1 }
end)
agree("quadrants", function(v)
    return G.quadrants{ x = both(v), y = both(v), nx = both(v), ny = 0, nz = 1 }
end)

-- through the array evaluator, as a variable: a line of the spacing that a search finds
local job = ec.job{ name = "ring" }
local spacing = job:real{ name = "spacing", min = 0.2, max = 0.8 }
g = G.line{ count = 8, spacing = spacing }
local array = ec.array{ x = g.x, y = g.y, z = g.z, wavelength = 1, u = ec.range(-1, 1, 201) }
job:minimize("f", (spacing - 0.5) ^ 2)
local best = job:solve{ generations = 60 }
close(best:value(array:hpbw_deg()), 12.8027, 0.01) -- the uniform line of 8 half-wave elements
close(best:value(g.extent.x[2]), 3.5 * best.variables.spacing)
print("all geometries agree")
