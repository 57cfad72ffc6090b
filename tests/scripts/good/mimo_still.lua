-- expect: still
-- Links between antennas that stand still: a search by rays starts at each of them, so that what it finds does not
-- depend on who else is there; and antennas one above the other.
local ec = require "eciton"
local shapes = { ec.ground{ size = { 60, 60 }, material = "itu_concrete" } }
for i = 1, 4 do
    shapes[#shapes + 1] = ec.box{ size = { 6, 5, 8 + i }, at = { i * 12 - 30, i % 2 * 11 - 5, (8 + i) / 2 },
        rotate_deg = i * 7, material = "itu_concrete" }
end
local town = ec.scene(shapes)

local function link(paths, rx)
    return ec.mimo{ scene = town, frequency = 2e9, depth = 2, diffraction = 1, paths = paths,
        tx = { x = -26, y = -9, z = 6 }, rx = rx }
end
local x, y = { -24, -11.7, 0.3, 13, 26 }, { 14.5, -10.1, 13.7, -9, 12.7 }
local exact = ec.value(link("exhaustive", { x = x, y = y, z = 1.5 }):path_gain_db())
local found = ec.value(link("launched", { x = x, y = y, z = 1.5 }):path_gain_db())
for i = 1, #x do
    local alone = ec.value(link("launched", { x = x[i], y = y[i], z = 1.5 }):path_gain_db())[1]
    local all, some = exact[i], found[i]
    assert(math.abs(some - all) < 0.05, i .. ": " .. some .. " dB, all paths " .. all)
    assert(math.abs(alone - all) < 0.05, i .. ": " .. alone .. " dB alone, all paths " .. all)
end

-- 1 m and 3 m above a conductor: the free path of 2 m and an echo of 4 m, in phase at this wavelength
local ground = ec.scene{ ec.ground{ size = { 20, 20 } } }
local up = ec.mimo{ scene = ground, wavelength = 0.1, depth = 1, tx = { z = 1 }, rx = { z = 3 } }
local want = 20 * math.log(0.1 / (4 * math.pi) * (1 / 2 + 1 / 4), 10)
local got = ec.value(up:path_gain_db())[1]
assert(math.abs(got - want) < 1e-6, got .. " dB instead of " .. want)
print("still")
