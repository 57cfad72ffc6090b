-- Antennas of a link: a loaded pattern with its orientation, an antenna of its own for each, two
-- crossed antennas about each place.
-- flags: --quiet
-- expect: pattern as the dipole: true
-- expect: turned pattern as the turned dipole: true
-- expect: co 6.0 dB, cross below -100: true
-- expect: own axes: true
-- expect: pairs about each place: true
-- expect: key 'axis': 3 entries for 2 antennas
-- expect: tx: antenna 1 has up = (0, 0, 2) along its axis (0, 0, 1)
-- expect: key 'antenna': unknown word 'halfwav'
-- expect: it has no up
local ec = require "eciton"

local free = ec.scene{ ec.plate{ at = { 0, 0, -500 }, size = { 1, 1 } } }
local function gain(tx, rx, y)
    tx.x, rx.x, rx.y = tx.x or 0, rx.x or 8, y or 3
    local link = ec.mimo{ scene = free, wavelength = 1, depth = 0, tx = tx, rx = rx }
    return ec.value(link:path_gain_db())
end
local function same(a, b)
    for i = 1, #a do
        if math.abs(a[i] - b[i]) > 0.01 then return false end
    end
    return #a == #b
end
local file = ec.load_pattern("dipole.ffd", { frequency = 1 * ec.GHz }) -- of a dipole along its x
print("pattern as the dipole: " .. tostring(same(
    gain({ antenna = file, axis = { 1, 0, 0 }, up = { 0, 0, 1 } }, { antenna = "halfwave" }),
    gain({ antenna = "halfwave" }, { antenna = "halfwave" }))))
-- its z along y, its x as near to {1, 1, 1} as that allows
print("turned pattern as the turned dipole: " .. tostring(same(
    gain({ antenna = file, axis = { 0, 2, 0 }, up = { 1, 1, 1 } }, { axis = { 1, -1, 0 } }),
    gain({ antenna = "halfwave", axis = { 1, 0, 1 } }, { axis = { 1, -1, 0 } }))))
-- a cosq antenna that looks along x, polarised along z: gain 2 (2 q + 1) = 6 dB over isotropic
local loss = 20 * math.log(1 / (4 * math.pi * 8), 10)
local up = gain({ antenna = "cosq", q = 0.5, axis = { 1, 0, 0 }, up = { 0.3, 0, 1 } }, {}, 0)[1] - loss
local across = gain({ antenna = "cosq", q = 0.5, axis = { 1, 0, 0 }, up = { 0, 1, 0 } }, {}, 0)[1]
print(("co %.1f dB, cross below -100: %s"):format(up, across < -100))

local x = { 0, 1 }
local each = gain({ x = x, antenna = { "halfwave", "short" }, axis = { { 0, 0, 1 }, { 0, 1, 1 } } }, {})
local first = gain({ x = x, antenna = "halfwave" }, {})
local second = gain({ x = x, antenna = "short", axis = { 0, 1, 1 } }, {})
print("own axes: " .. tostring(each[1] == first[1] and each[2] == second[2]))

local places = ec.grid{ from = { 5, 0, 1 }, to = { 9, 0, 1 }, step = 2 }
local function users(axis)
    local link = ec.mimo{ scene = free, wavelength = 1, depth = 0, tx = { x = 0, axis = { 0, 1, 1 } },
        rx = { at = places, count = 2, spacing = 0.5, axis = axis } }
    return ec.value(link:path_gain_db())
end
local crossed, a, b = users{ { 0, 0, 1 }, { 0, 1, 0 } }, users{ 0, 0, 1 }, users{ 0, 1, 0 }
local right = #crossed == 6
for i = 1, 6 do
    right = right and crossed[i] == (i % 2 == 1 and a or b)[i]
end
print("pairs about each place: " .. tostring(right))

local function fails(tx)
    print(select(2, pcall(gain, tx, {})))
end
fails{ x = x, axis = { { 0, 0, 1 }, { 0, 1, 0 }, { 1, 0, 0 } } }
fails{ antenna = file, up = { 0, 0, 2 } }
fails{ antenna = "halfwav" }
fails{ antenna = "halfwave", up = { 1, 0, 0 } }
