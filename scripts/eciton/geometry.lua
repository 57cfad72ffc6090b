-- Element positions of common arrays: lists of numbers, or expressions where a key is one.
local _, core = ... -- from require, which gives the core to the library only

local geometry = {}

local golden = math.pi * (3 - math.sqrt(5)) -- rad, the golden angle

-- ---- lists -------------------------------------------------------------------------------------------

local function filled(n, value)
    local list = {}
    for i = 1, n do
        list[i] = value
    end
    return list
end

-- Centred, one apart.
local function steps(n)
    local list = {}
    for i = 1, n do
        list[i] = i - (n + 1) / 2
    end
    return list
end

-- f(1) .. f(n) as a list that has arithmetic, with expressions too.
local function values(n, f)
    local list = {}
    for i = 1, n do
        list[i] = f(i)
    end
    return core.values(list)
end

-- What a script gets: a plain list, or the expression.
local function plain(value, n)
    local kind, length = core.kind(value)
    if kind == "list" then
        return type(value) == "table" and value or value:table()
    elseif length then
        return value
    end
    return kind == "number" and filled(n, value) or core.constant(filled(n, 1)) * value
end

local function gathered(list, index)
    if core.kind(list) == "expression" then
        return core.gather(list, index)
    end
    return values(#index, function(i) return list[index[i]] end)
end

-- ---- the result --------------------------------------------------------------------------------------

-- The bounding box is made when it is asked for: of expressions it is part of the graph.
local function extent(g)
    local box = {}
    for _, axis in ipairs{ "x", "y", "z" } do
        local list = g[axis]
        if core.kind(list) == "expression" then
            box[axis] = { core.min(list), core.max(list) }
        else
            local from, to = list[1], list[1]
            for i = 2, #list do
                from, to = math.min(from, list[i]), math.max(to, list[i])
            end
            box[axis] = { from, to }
        end
    end
    return box
end

local fields = { "x", "y", "z", "n", "nx", "ny", "nz", "extent" }
local meta = {
    __index = function(g, key)
        if key == "extent" then
            return extent(g)
        elseif key == "nx" or key == "ny" or key == "nz" or key == "facet" or math.type(key) == "integer" then
            return nil -- not a surface; no facets; not a list
        end
        local near = core.nearest(tostring(key), fields)
        core.fail(("a geometry has no '%s'%s; it has x, y, z, n, nx, ny, nz, extent"):format(tostring(key),
            near and (" (did you mean '%s'?)"):format(near) or ""))
    end,
    __len = function()
        core.fail("a geometry is no list: its number of elements is .n, its lists are .x, .y, .z")
    end,
    __metatable = false,
}

-- normals: { nx, ny, nz }, or nil.
local function new(n, x, y, z, normals)
    local g = { n = n, x = plain(x, n), y = plain(y, n), z = plain(z, n) }
    if normals then
        g.nx, g.ny, g.nz = plain(normals[1], n), plain(normals[2], n), plain(normals[3], n)
    end
    return setmetatable(g, meta)
end

local upwards = { 0, 0, 1 }

-- ---- lines and planes --------------------------------------------------------------------------------

function geometry.line(keys)
    local k = core.parse("ec.geometry.line", keys)
    local at = { x = 0, y = 0, z = 0 }
    at[k.axis] = core.values(steps(k.count)) * k.spacing
    return new(k.count, at.x, at.y, at.z)
end

-- count_x * count_y elements, row by row: the list of f(column, row).
local function grid(columns, rows, f)
    return values(columns * rows, function(i)
        return f((i - 1) % columns + 1, (i - 1) // columns + 1)
    end)
end

function geometry.rectangle(keys)
    local k = core.parse("ec.geometry.rectangle", keys)
    local column, row = steps(k.count_x), steps(k.count_y)
    return new(k.count_x * k.count_y, grid(k.count_x, k.count_y, function(i) return column[i] end) * k.spacing_x,
        grid(k.count_x, k.count_y, function(_, j) return row[j] end) * k.spacing_y, 0, upwards)
end

function geometry.triangle(keys)
    local k = core.parse("ec.geometry.triangle", keys)
    local column, row = steps(k.count_x), steps(k.count_y)
    local shift = k.count_y > 1 and 0.25 or 0 -- of a row to the left and of the next one to the right
    return new(k.count_x * k.count_y,
        grid(k.count_x, k.count_y, function(i, j) return column[i] + (j % 2 == 1 and -shift or shift) end) * k.spacing,
        grid(k.count_x, k.count_y, function(_, j) return row[j] end) * (k.row_spacing or math.sqrt(3) / 2 * k.spacing),
        0, upwards)
end

function geometry.ring(keys)
    local k = core.parse("ec.geometry.ring", keys)
    local angle = values(k.count, function(i) return 2 * math.pi * (i - 1) / k.count end)
    local x, y
    if core.kind(k.start_deg) == "expression" then
        angle = angle + k.start_deg * (math.pi / 180)
        x, y = core.cos(angle), core.sin(angle)
    else
        local start = k.start_deg * (math.pi / 180)
        x = values(k.count, function(i) return math.cos(angle[i] + start) end)
        y = values(k.count, function(i) return math.sin(angle[i] + start) end)
    end
    return new(k.count, x * k.radius, y * k.radius, 0, upwards)
end

-- Number of elements of each ring.
local function ring_counts(k)
    local kind, rings = core.kind(k.radii)
    if (k.counts == nil) == (k.spacing == nil) then
        core.fail("ec.geometry.rings: give one of the keys counts and spacing")
    elseif k.spacing and kind == "expression" then
        core.fail("ec.geometry.rings: key 'spacing': with an expression as radii give counts, "
            .. "the number of elements of each ring")
    end
    local counts = k.counts or {}
    for i = 1, k.spacing and rings or 0 do
        counts[i] = math.max(1, math.floor(2 * math.pi * k.radii[i] / k.spacing + 1e-9))
    end
    if #counts ~= (rings or 1) then
        core.fail(("ec.geometry.rings: key 'counts': %d values, but radii has %d"):format(#counts, rings or 1))
    end
    for i = 1, #counts do
        if counts[i] % 1 ~= 0 then
            core.fail(("ec.geometry.rings: key 'counts': element %d is %.14g, a whole number is needed")
                :format(i, counts[i]))
        elseif kind ~= "expression" and counts[i] > 1 and k.radii[i] == 0 then
            core.fail(("ec.geometry.rings: key 'counts': ring %d has radius 0, so only one element fits, not %.14g")
                :format(i, counts[i]))
        end
    end
    return counts
end

function geometry.rings(keys)
    local k = core.parse("ec.geometry.rings", keys)
    if type(k.radii) == "number" then
        k.radii = { k.radii }
    end
    local counts = ring_counts(k)
    local ring, cosine, sine = {}, {}, {}
    for r = 1, #counts do
        for i = 1, counts[r] do
            local angle = 2 * math.pi * (i - 1) / counts[r]
            ring[#ring + 1], cosine[#ring + 1], sine[#ring + 1] = r, math.cos(angle), math.sin(angle)
        end
    end
    local _, rings = core.kind(k.radii)
    local radius = rings and gathered(k.radii, ring) or k.radii
    return new(#ring, core.values(cosine) * radius, core.values(sine) * radius, 0, upwards)
end

function geometry.spiral(keys)
    local k = core.parse("ec.geometry.spiral", keys)
    local n = k.count
    local share = function(i) return math.sqrt((i - 0.5) / n) end
    if core.kind(k.angle_deg) == "expression" then
        local angle = values(n, function(i) return i * math.pi / 180 end) * k.angle_deg
        local radius = values(n, share) * k.radius
        return new(n, radius * core.cos(angle), radius * core.sin(angle), 0, upwards)
    end
    local turn = k.angle_deg * (math.pi / 180)
    return new(n, values(n, function(i) return share(i) * math.cos(i * turn) end) * k.radius,
        values(n, function(i) return share(i) * math.sin(i * turn) end) * k.radius, 0, upwards)
end

-- ---- curved surfaces ---------------------------------------------------------------------------------

function geometry.cylinder(keys)
    local k = core.parse("ec.geometry.cylinder", keys)
    local n, angle, row = k.columns * k.rows, {}, steps(k.rows)
    for i = 1, k.columns do
        angle[i] = ((i - 0.5) / k.columns - 0.5) * k.arc_deg * (math.pi / 180)
    end
    local function along(f) -- of the angle
        return grid(k.columns, k.rows, function(i) return f(angle[i]) end)
    end
    local cosine, sine = along(math.cos), along(math.sin)
    local rows = grid(k.columns, k.rows, function(_, j) return row[j] end) * k.spacing
    if k.axis == "z" then
        return new(n, cosine * k.radius, sine * k.radius, rows, { cosine, sine, 0 })
    end
    return new(n, sine * k.radius, rows, along(function(a) return -2 * math.sin(a / 2) ^ 2 end) * k.radius,
        { sine, 0, cosine })
end

function geometry.sphere_cap(keys)
    local k = core.parse("ec.geometry.sphere_cap", keys)
    local height = 1 - math.cos(k.half_angle_deg * (math.pi / 180)) -- equal heights are equal areas
    local function depth(i) return height * (i - 0.5) / k.count end
    local function radius(i) return math.sqrt(depth(i) * (2 - depth(i))) end
    local nx = values(k.count, function(i) return radius(i) * math.cos(i * golden) end)
    local ny = values(k.count, function(i) return radius(i) * math.sin(i * golden) end)
    return new(k.count, nx * k.radius, ny * k.radius, values(k.count, function(i) return -depth(i) end) * k.radius,
        { nx, ny, values(k.count, function(i) return 1 - depth(i) end) })
end

-- Points of a square lattice, one apart, with the origin in the middle of a cell: those in the circle of the
-- diameter, row by row.
local function disk(diameter)
    local x, y = {}, {}
    local half = math.floor(diameter / 2 + 0.5)
    for j = -half, half - 1 do
        for i = -half, half - 1 do
            if (i + 0.5) ^ 2 + (j + 0.5) ^ 2 <= diameter ^ 2 / 4 * (1 + 1e-12) then
                x[#x + 1], y[#x + 1] = i + 0.5, j + 0.5
            end
        end
    end
    return x, y
end

-- The count points of the lattice nearest to the middle, and the smallest diameter that holds them.
local function nearest_points(count)
    local x, y = disk(2 * math.sqrt(count / math.pi) + 4)
    local order = {}
    for i = 1, #x do
        order[i] = i
    end
    local function distance(i) return x[i] ^ 2 + y[i] ^ 2 end
    table.sort(order, function(a, b)
        local ra, rb = distance(a), distance(b)
        return ra < rb or ra == rb and a < b
    end)
    local kept, px, py = {}, {}, {}
    for i = 1, count do
        kept[i] = order[i]
    end
    local diameter = 2 * math.sqrt(distance(kept[count]))
    table.sort(kept)
    for i = 1, count do
        px[i], py[i] = x[kept[i]], y[kept[i]]
    end
    return px, py, diameter
end

function geometry.paraboloid(keys)
    local k = core.parse("ec.geometry.paraboloid", keys)
    if (k.spacing == nil) == (k.count == nil) then
        core.fail("ec.geometry.paraboloid: give one of the keys spacing and count")
    end
    local x, y, spacing
    if k.count then
        local across
        x, y, across = nearest_points(k.count)
        spacing = k.diameter / across
    else
        spacing = k.spacing
        if not (k.diameter / spacing <= 1100) then
            core.fail(("ec.geometry.paraboloid: key 'spacing': %.14g is not allowed, it must be at least "
                .. "diameter / 1100"):format(spacing))
        end
        x, y = disk(k.diameter / spacing)
        if #x == 0 then
            core.fail(("ec.geometry.paraboloid: key 'spacing': %.14g leaves no element in the diameter of %.14g")
                :format(spacing, k.diameter))
        end
    end
    local n = #x
    if k.jitter > 0 then
        for axis, list in ipairs{ x, y } do
            local draw = core.random(k.seed, axis - 1, n)
            for i = 1, n do
                list[i] = list[i] + (2 * draw[i] - 1) * k.jitter
            end
        end
    end
    x, y = core.values(x) * spacing, core.values(y) * spacing
    local square, twice = x ^ 2 + y ^ 2, 2 * k.diameter * k.f_over_d -- twice the focal length
    local length = (square / (twice * twice) + 1) ^ 0.5
    return new(n, x, y, square / (2 * twice), { -x / twice / length, -y / twice / length, 1 / length })
end

-- Vertices of the profile from left to right, x and z, and the slope of each facet: lists with arithmetic, or
-- expressions.
local function profile(k)
    local n = k.facets + 1
    local function absent(key)
        core.fail(("ec.geometry.facets: key '%s' is missing: a parabola needs width and f_over_d, an arc radius and "
            .. "arc_deg"):format(key))
    end
    if k.profile == "arc" then
        local radius, arc = k.radius or absent("radius"), (k.arc_deg or absent("arc_deg")) * (math.pi / 180)
        return values(n, function(i) return math.sin(((i - 1) / k.facets - 0.5) * arc) end) * radius,
            values(n, function(i) return 2 * math.sin(((i - 1) / k.facets - 0.5) * arc / 2) ^ 2 end) * radius,
            values(k.facets, function(i) return math.tan(((i - 0.5) / k.facets - 0.5) * arc) end)
    end
    local width, f_over_d = k.width or absent("width"), k.f_over_d or absent("f_over_d")
    local share = values(n, function(i) return (i - 1) / k.facets - 0.5 end)
    return share * width, share ^ 2 / 4 * width / f_over_d,
        values(k.facets, function(i) return ((i - 0.5) / k.facets - 0.5) / 2 end) / f_over_d
end

function geometry.facets(keys)
    local k = core.parse("ec.geometry.facets", keys)
    if k.columns < k.facets then
        core.fail(("ec.geometry.facets: key 'columns': %d is not allowed, it must be at least facets, %d"):format(
            k.columns, k.facets))
    end
    local vx, vz, slope = profile(k)
    local left, right, share = {}, {}, {} -- of each column: vertices, and how far it is from the left one
    for f = 1, k.facets do
        local before, after = (f - 1) * k.columns // k.facets, f * k.columns // k.facets
        for i = before + 1, after do
            left[i], right[i], share[i] = f, f + 1, (i - before - 0.5) / (after - before)
        end
    end
    local function repeated(list) -- in every row
        return grid(k.columns, k.rows, function(i) return list[i] end):table()
    end
    left, right, share = repeated(left), repeated(right), core.values(repeated(share))
    local dx, dz = gathered(vx, right) - gathered(vx, left), gathered(vz, right) - gathered(vz, left)
    local tilt, row = gathered(slope, left), steps(k.rows)
    local length = (tilt ^ 2 + 1) ^ 0.5
    local g = new(k.columns * k.rows, gathered(vx, left) + dx * share,
        grid(k.columns, k.rows, function(_, j) return row[j] end) * k.spacing, gathered(vz, left) + dz * share,
        { -tilt / length, 0, 1 / length })
    g.facet = left
    return g
end

-- ---- given positions ---------------------------------------------------------------------------------

local names = { "x", "y", "z", "nx", "ny", "nz" }

-- Divides the normals by their lengths.
local function unit_normals(what, k, n)
    local given = (k.nx and 1 or 0) + (k.ny and 1 or 0) + (k.nz and 1 or 0)
    if given == 0 then
        return nil
    elseif given < 3 then
        core.fail(("%s: a normal needs nx, ny and nz, but '%s' is missing"):format(what,
            not k.nx and "nx" or not k.ny and "ny" or "nz"))
    end
    local v = {}
    for i = 1, 3 do
        local list = plain(k[names[3 + i]], n)
        v[i] = core.kind(list) == "list" and core.values(list) or list
    end
    local square = v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2
    for i = 1, core.kind(square) == "list" and n or 0 do
        if square[i] == 0 then
            core.fail(("%s: the normal of element %d has zero length"):format(what, i))
        end
    end
    local length = square ^ 0.5
    return { v[1] / length, v[2] / length, v[3] / length }
end

-- Checks that all lists are as long as x and makes them so; k.x may be a single number.
local function from_lists(what, k)
    local _, n = core.kind(k.x)
    for _, name in ipairs(names) do
        local _, length = core.kind(k[name])
        if length and length ~= (n or 1) then
            core.fail(("%s: key '%s': %d values, but x has %d"):format(what, name, length, n or 1))
        end
    end
    n = n or 1
    return new(n, k.x, k.y, k.z, unit_normals(what, k, n))
end

function geometry.points(keys)
    return from_lists("ec.geometry.points", core.parse("ec.geometry.points", keys))
end

function geometry.csv(keys)
    local k = core.parse("ec.geometry.csv", keys)
    local columns, lists = core.load_csv(k.file), {}
    local named = false
    for _, name in ipairs(names) do
        named = named or rawget(columns, name) ~= nil
    end
    for i, name in ipairs(names) do
        lists[name] = rawget(columns, named and name or i)
    end
    local what = ("ec.geometry.csv: file '%s'"):format(k.file)
    if not lists.x then
        core.fail(what .. ": there is no column 'x'")
    end
    for name, list in pairs(lists) do
        for i = 1, #list do
            if not (math.abs(list[i]) < math.huge) then
                core.fail(("%s: column '%s', element %d is %g, a finite number is needed"):format(what, name, i,
                    list[i]))
            end
        end
    end
    for i = 1, 3 do
        lists[names[i]] = (lists[names[i]] or 0) * k.unit
    end
    return from_lists(what, lists)
end

-- ---- symmetry ----------------------------------------------------------------------------------------

-- Each sign pair { sx, sy } gives one image of all elements.
local function images(what, keys, signs)
    local k = core.parse(what, keys)
    local g = from_lists(what, k)
    local function joined(list, factor)
        if core.kind(list) == "expression" then
            local parts = {}
            for i, s in ipairs(signs) do
                parts[i] = factor(s) < 0 and -list or list
            end
            return core.concat(table.unpack(parts))
        end
        local n = #list
        return values(n * #signs, function(i) return factor(signs[(i - 1) // n + 1]) * list[(i - 1) % n + 1] end)
    end
    local function along_x(s) return s[1] end
    local function along_y(s) return s[2] end
    local function along_z() return 1 end
    local normals = g.nx and { joined(g.nx, along_x), joined(g.ny, along_y), joined(g.nz, along_z) }
    return new(g.n * #signs, joined(g.x, along_x), joined(g.y, along_y), joined(g.z, along_z), normals)
end

function geometry.halves(keys)
    return images("ec.geometry.halves", keys, { { 1, 1 }, { -1, 1 } })
end

function geometry.quadrants(keys)
    return images("ec.geometry.quadrants", keys, { { 1, 1 }, { -1, 1 }, { -1, -1 }, { 1, -1 } })
end

-- ---- density -----------------------------------------------------------------------------------------

-- Equal elements for a taper: the running integral of the density, which is even within each part, is the
-- same from one element to the next. W. Doyle, "On approximating linear array factors", RAND RM-3530, 1963.
function geometry.quantiles(keys)
    local k = core.parse("ec.geometry.quantiles", keys)
    local parts, total, sum = #k.density, 0, 0
    for i = 1, parts do
        total = total + k.density[i]
    end
    if total == 0 then
        core.fail("ec.geometry.quantiles: key 'density': all are 0, a sum above 0 is needed")
    elseif k.ends and k.count < 2 then
        core.fail("ec.geometry.quantiles: key 'count': with ends = true it must be at least 2")
    end
    local x, part = {}, 1
    for i = 1, k.count do
        local wanted = total * (k.ends and (i - 1) / (k.count - 1) or (i - 0.5) / k.count)
        while part < parts and sum + k.density[part] < wanted do
            sum, part = sum + k.density[part], part + 1
        end
        local within = k.density[part] > 0 and (wanted - sum) / k.density[part] or 0
        x[i] = (part - 1 + math.min(within, 1)) / parts - 0.5
    end
    for i = 1, k.count // 2 do -- exactly symmetric for a symmetric density
        local j = k.count + 1 - i
        if math.abs(x[i] + x[j]) < 1e-12 then
            x[j] = (x[j] - x[i]) / 2
            x[i] = -x[j]
        end
    end
    return new(k.count, core.values(x) * k.aperture, 0, 0)
end

return geometry
