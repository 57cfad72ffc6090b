-- flags: --out OUT --trust
-- expect: grids are as they are asked for
-- expect: fdtd: edges of plate 'left' and plate 'right' are 0.05 mm apart along x, less than the smallest cell
-- What the directions of axes, snapped edges and edges that nearly meet do to results.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local f = ec.range(2*GHz, 6*GHz, 5)

-- a model turned about (1, 1, 1) gives what it gave
local function turned(k)
    local function turn(x, y, z)
        local from, to = { x, y, z }, {}
        for i = 1, 3 do to[(i - 1 + k) % 3 + 1] = from[i] end
        return to
    end
    local along = ({ "x", "y", "z" })[(2 + k) % 3 + 1]
    local model = ec.fdtd{ frequency = f, max_steps = 300, cells_per_wavelength = 10, air = 4*mm, layers = 4,
        precision = "float64",
        ec.box{ size = turn(12*mm, 10*mm, 0.5*mm), at = turn(0, 0, -0.25*mm) },
        ec.box{ size = turn(9*mm, 6*mm, 0.5*mm), at = turn(0, 0, 2.25*mm) },
        ec.box{ size = turn(6*mm, 5*mm, 2*mm), at = turn(1*mm, 0.5*mm, 1*mm), eps_r = 3, conductivity = 0.1 },
        ec.port{ from = turn(2*mm, 0, 0), to = turn(2*mm, 0, 2*mm) },
        ec.port{ axis = along, from = turn(-3*mm, -1*mm, 0), to = turn(-3*mm, 1*mm, 2*mm), ohms = 75 },
        ec.lumped{ from = turn(3*mm, 2*mm, 0), to = turn(3*mm, 2*mm, 2*mm), ohms = 100, farads = 1e-12,
            connection = "series" } }
    local s, all = ec.value(ec.concat(model:s(1, 1):db(), model:s(2, 1):db(), model:s(1, 2):db(), model:s(2, 2):db())), {}
    for i = 1, #s do all[i] = s[i] end
    return all
end
local upright = turned(0)
for k = 1, 2 do
    for i, value in ipairs(turned(k)) do
        assert(math.abs(value - upright[i]) < 1e-9, ("turned %d times: %g instead of %g dB"):format(k, value, upright[i]))
    end
end

-- snapped: a patch and a port between two lines are on the nearer one, and nowhere else
local function snapped(h)
    local model = ec.fdtd{ frequency = f, max_steps = 200, cell = 1*mm, snap = true, layers = 4,
        domain = { from = { -9*mm, -8*mm, -4*mm }, to = { 9*mm, 8*mm, 7*mm } },
        ec.plate{ size = { 12*mm, 10*mm } }, ec.plate{ name = "patch", size = { 8*mm, 6*mm }, at = { 0, 0, h } },
        ec.port{ from = { 0, 0, 0 }, to = { 0, 0, h } } }
    local s = ec.value(model:s(1, 1):db())
    return s[1], s[#s]
end
local low, high = snapped(2*mm)
for _, h in ipairs{ 1.7*mm, 2.3*mm } do
    local a, b = snapped(h)
    assert(a == low and b == high)
end

-- two edges that come close in a sweep do not make cells of that size
local job = ec.job{ name = "meeting" }
local at = job:real{ name = "at", min = 2*mm, max = 6*mm }
local meeting = ec.fdtd{ frequency = f, max_steps = 100, cells_per_wavelength = 10, air = 4*mm, layers = 4,
    ec.plate{ size = { 12*mm, 10*mm } }, ec.plate{ size = { 6*mm, 6*mm }, at = { 0, 0, 2*mm } },
    ec.plate{ size = { 2*mm, 6*mm }, at = { at, 0, 2*mm } }, ec.port{ from = { 0, 0, 0 }, to = { 0, 0, 2*mm } } }
local report = meeting:report()
assert(report:find("time step [%d.]+ ps in the middle of the ranges, [%d.]+ ps at the least of 3 designs, by cells of"), report)
-- but a gap that is always open stays, until `smallest` closes it
local function gap(keys)
    local all = { frequency = f, cells_per_wavelength = 10, air = 4*mm, layers = 4,
        ec.plate{ name = "left", size = { 6*mm, 6*mm }, at = { -3.025*mm, 0, 0 } },
        ec.plate{ name = "right", size = { 6*mm, 6*mm }, at = { 3.025*mm, 0, 0 } } }
    for key, value in pairs(keys) do all[key] = value end
    return ec.fdtd(all):report()
end
assert(gap{}:find("smallest cell 0.05 mm", 1, true))
local closed = gap{ smallest = 0.5*mm }
assert(closed:find("x: edges up to 0.05 mm apart share a line, as those of plate 'left' and plate 'right'", 1, true), closed)
assert(tonumber(closed:match("by cells of ([%d.]+) mm")) >= 0.5, closed)

-- tolerances
local over = ec.over{ d = ec.uniform{ min = -0.2*mm, max = 0.2*mm }, samples = 2, final_samples = 2 }
local width = job:real{ name = "width", min = 3*mm, max = 5*mm }
local robust = ec.fdtd{ frequency = f, max_steps = 300, cells_per_wavelength = 10, air = 4*mm, layers = 4,
    ec.plate{ size = { 12*mm, 10*mm } }, ec.plate{ size = { 6*mm, width + over.d }, at = { 0, 0, 2*mm } },
    ec.port{ name = "in", from = { 0, 0, 0 }, to = { 0, 0, 2*mm } } }
job:minimize("worst", robust:s(1, 1):min_db():max())
local best = job:solve{ method = "de", population = 4, evaluations = 4, report = false }
assert(best.objectives.worst == best.objectives.worst)

-- one reference for all ports in a file
best:save("own.s1p", robust)
best:save("fifty.s1p", robust, { reference = 75 })
print("grids are as they are asked for")
