-- Links of ec.mimo against what is known: free space, and the scene of a cylinder and a plate with
-- four transmitters on y = -40 and four receivers on y = 40 (unit wavelength, 20 dB, normalised
-- matrices). The cylinder is of a material that reflects nothing: it only blocks.
-- flags: --quiet
-- expect: free space to 1e-9: true
-- expect: gap 0.5: 8.96, with plate 14.47
-- expect: gap 1.0: 10.91, with plate 16.11
-- expect: gap 1.5: 13.01, with plate 20.66
-- expect: gap 2.0: 15.22, with plate 19.78
-- expect: printed positions: 23.65, blocked 24.03
-- expect: 28 receivers of 2 x 4
-- expect: snr 106.98 dB
-- expect: line of antennas: true
-- expect: free-space gain -42.0 dB
local ec = require "eciton"

local far = ec.scene{ ec.plate{ at = { 0, 0, -500 }, size = { 1, 1 } } }
local close = true
for _, wavelength in ipairs{ 1, 0.37 } do
    local x, y = { 10, 3.7, -250 }, { 0, 2, 31 }
    local link = ec.mimo{ scene = far, wavelength = wavelength, depth = 0, tx = { x = 0 }, rx = { x = x, y = y } }
    local re, im = ec.value(ec.re(link:h())), ec.value(ec.im(link:h()))
    for i = 1, 3 do
        local r = (x[i] ^ 2 + y[i] ^ 2) ^ 0.5
        local a, t = wavelength / (4 * math.pi * r), 2 * math.pi * r / wavelength
        close = close and math.abs(re[i] - a * math.cos(t)) < 1e-9 * a
            and math.abs(im[i] + a * math.sin(t)) < 1e-9 * a
    end
end
print("free space to 1e-9: " .. tostring(close))

local plate = ec.plate{ at = { 30, 0, 0 }, normal = { 1, 0, 0 }, size = { 50, 15 } }
local function capacity(scene, depth, tx, rx)
    local link = ec.mimo{ scene = scene, wavelength = 1, depth = depth, tx = { x = tx, y = -40 }, rx = { x = rx, y = 40 } }
    return ec.value(link:capacity{ snr_db = 20 })
end
local open = ec.scene{ plate }
for _, gap in ipairs{ 0.5, 1, 1.5, 2 } do
    local x = {}
    for i = 1, 4 do
        x[i] = 15 + (i - 2.5) * gap
    end
    print(("gap %.1f: %.2f, with plate %.2f"):format(gap, capacity(open, 0, x, x), capacity(open, 1, x, x)))
end
local blocked = ec.scene{ plate, ec.cylinder{ radius = 10, length = 15, eps_r = 1 } }
local tx, rx = { 7.0, 12.6, 18.0, 20.9 }, { 7.08, 12.9, 17.1, 22.0 }
print(("printed positions: %.2f, blocked %.2f"):format(capacity(open, 1, tx, rx), capacity(blocked, 1, tx, rx)))

-- users on a grid, places on a ceiling, a link budget
local room = ec.scene{ ec.box{ name = "room", size = { 8, 5, 3 }, at = { 4, 2.5, 1.5 }, inward = true,
    material = "itu_concrete" } }
local job = ec.job{ name = "room", seed = 1 }
local site = job:choice{ name = "site", count = 4, distinct = true,
    from = room:surface("room"):grid(0.5, { facing = { 0, 0, -1 }, clearance = 0.1 }) }
local users = ec.grid{ from = { 0.7, 0.7, 1.2 }, to = { 7.4, 4.4, 1.2 }, step = 1 }
local link = ec.mimo{ scene = room, frequency = 3.5 * ec.GHz, bandwidth = 100 * ec.MHz, noise_figure_db = 7,
    depth = 1, tx = { at = site, antenna = "halfwave", power_dbm = 20 },
    rx = { at = users, count = 2, spacing = 43 * ec.mm, antenna = "halfwave" } }
job:maximize("p10", link:capacity{ normalize = "none" }:percentile(10))
job:record("paths", link:paths():sum())
local best = job:solve{ method = "rand1bin", population = 8, generations = 2 }
print(("%d receivers of 2 x 4"):format(#best:value(link:capacity{ normalize = "none" })))
print(("snr %.2f dB"):format(link:snr_db()))
-- each of the 56 x 4 pairs has the line of sight and six walls
assert(best.recorded.paths == 56 * 4 * 7, best.recorded.paths)

-- a line by point and direction is the same as coordinates
local line = ec.mimo{ scene = open, wavelength = 1, rx = { x = 15, y = 40 },
    tx = { point = { 15, -40, 0 }, direction = { 3, 4, 0 }, along = { 0, 5 } } }
local same = ec.mimo{ scene = open, wavelength = 1, rx = { x = 15, y = 40 }, tx = { x = { 15, 18 }, y = { -40, -36 } } }
local a, b = ec.value(line:path_gain_db()), ec.value(same:path_gain_db())
print("line of antennas: " .. tostring(math.abs(a[1] - b[1]) < 1e-9 and math.abs(a[2] - b[2]) < 1e-9))
print(("free-space gain %.1f dB"):format(
    ec.value(ec.mimo{ scene = far, wavelength = 1, tx = { x = 0 }, rx = { x = 10 } }:path_gain_db())[1]))
