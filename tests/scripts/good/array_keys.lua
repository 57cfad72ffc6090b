-- expect: arrays as scripts see them
local ec = require "eciton"

local function close(expr, wanted, limit, what)
    local got = type(expr) == "number" and expr or ec.value(expr)
    assert(math.abs(got - wanted) <= limit, ("%s: %.8g, not %.8g"):format(what, got, wanted))
end

-- half-wave line, 15 elements, a cut in steps of 1 deg
local line = ec.geometry.line{ count = 15, spacing = 0.5 }.x
local a = ec.array{ x = line, wavelength = 1, theta_deg = ec.range(-90, 90, 181) }
close(a:hpbw_deg(), 6.7849, 1e-3, "hpbw")
close(a:fnbw_deg(), 15.3244, 1e-3, "fnbw")
close(a:sll_db(), -13.1310, 1e-3, "sll")
close(a:directivity_db(), 11.7609, 1e-4, "directivity")

-- steered to +20 deg the beam is at +20 deg, however the steering is given
local s = math.sin(20 * ec.deg)
for i, keys in ipairs{ { steer_theta_deg = 20 }, { steer_u = s }, { phase_deg = -360 * s * ec.constant(line) } } do
    keys.x, keys.wavelength, keys.theta_deg = line, 1, ec.range(-90, 90, 361)
    local b = ec.array(keys)
    local power = ec.value(ec.abs2(b:pattern()))
    local at = 1
    for k = 1, #power do
        if power[k] > power[at] then at = k end
    end
    assert(at == 221, "the beam is at element " .. at)
    if i < 3 then close(b:level_db{ theta_deg = 20 }, 0, 1e-6, "level at the beam") end
end

-- wavelength and frequency; metres and wavelengths
local lambda = ec.c0 / (10 * ec.GHz)
local f = ec.array{ x = lambda * ec.constant(line), frequency = 10 * ec.GHz, u = ec.range(-1, 1, 401) }
close(f:sll_db(), -13.1310, 1e-3, "sll by frequency")
local two = ec.array{ x = lambda * ec.constant(line), frequency = ec.over{ values = { 10 * ec.GHz, 5 * ec.GHz } },
    u = ec.range(-1, 1, 401) }
assert(#ec.value(two:hpbw_deg()) == 2)
close(two:hpbw_deg():max(), 13.65, 0.2, "beam width at half the frequency")

-- far away the pattern is the same
local far = ec.array{ x = ec.constant(line) + 1e4, wavelength = 1, u = ec.range(-1, 1, 401) }
close(far:sll_db(), -13.1310, 1e-3, "sll far away")

-- element factor: alone D = 2 (2 q + 1)
local one = ec.array{ x = { 0 }, wavelength = 1, element = "cosq", q = 1, theta_deg = ec.range(-90, 90, 181) }
close(one:directivity_db(), 10 * math.log(6, 10), 1e-3, "directivity of cos")

-- a u-v grid of 8 x 8: the principal planes of the line of 8
local square = ec.geometry.rectangle{ count_x = 8, count_y = 8, spacing_x = 0.5, spacing_y = 0.5 }
local x, y = square.x, square.y
local plane = ec.array{ x = x, y = y, wavelength = 1, u = ec.range(-1, 1, 101), v = ec.range(-1, 1, 101) }
close(plane:sll_db{ exclude_u = 0.25 }, -12.7973, 2e-3, "sll of the plane")
close(plane:level_db{ u = 0, v = 0 }, 0, 1e-6, "level of the plane")
-- a number beside a list is that of all directions
local row = ec.value(plane:level_db{ u = 0.1, v = { 0, 0.2 } })
assert(#row == 2)
close(plane:level_db{ u = 0.1, v = 0 }, row[1], 1e-9, "first of a row")
close(plane:level_db{ u = 0.1, v = 0.2 }, row[2], 1e-9, "second of a row")
close(plane:null_depth_db{ u = { 0.1, 0.1 }, v = 0.2 }, row[2], 1e-9, "a column")

-- masks from a list and from a file; levels and nulls
local m = ec.array{ x = line, wavelength = 1, u = ec.range(-1, 1, 801) }
local e = m:excess_db{ mask = { { -1, -0.2, max = -10 }, { 0.2, 1, max = -10 }, { -0.02, 0.02, min = -3 } } }
close(e, ec.value(m:excess_db{ mask = "mask.csv" }), 0, "mask from a file")
assert(ec.value(e) < 0)
close(m:excess_db{ mask = { { 0.14, 1, max = { -20, -20 } } } }, 20 - 13.1310, 1e-3, "excess over -20 dB")
local null = 2 / 15
assert(ec.value(m:null_depth_db{ u = null }) < -80)
local levels = ec.value(m:level_db{ u = { 0, null }, relative = false })
close(levels[1], 20 * math.log(15, 10), 1e-4, "absolute level")
assert(#levels == 2 and levels[2] < -50)

-- what does not fit says so
local function refuses(text, call, ...)
    local good, why = pcall(call, ...)
    assert(not good and why:find(text, 1, true), tostring(why))
end
refuses("key 'exclude_u' does not belong to the array's grid, a theta cut", a.sll_db, a, { exclude_u = 0.1 })
refuses("array:level_db: u has 2 directions, v has 3", plane.level_db, plane, { u = { 0, 0.1 }, v = { 0, 0.1, 0.2 } })
refuses("must ascend", ec.array, { x = line, wavelength = 1, u = { 0, 0.5, 0.5 } })
refuses("one of the keys wavelength and frequency", ec.array, { x = line, u = ec.range(-1, 1, 9) })
refuses("for several at once use frequency = ec.over", ec.array,
    { x = line, frequency = { 1e9, 2e9 }, u = ec.range(-1, 1, 9) })
refuses("no positions", ec.array, { wavelength = 1, u = ec.range(-1, 1, 9) })
refuses("(did you mean 'exclude_u'?)", m.sll_db, m, { exlude_u = 0.1 })
refuses("no method 'sll' (did you mean 'sll_db'?)", function() return m:sll() end)
print("arrays as scripts see them")
