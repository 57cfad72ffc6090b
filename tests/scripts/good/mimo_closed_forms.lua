-- Links of ec.mimo, from shapes to H, against closed forms: two rays over a conductor and a lossy
-- ground, a street canyon with its images, corners of two and three plates, the edge of a screen at
-- grazing, an antenna above its own image, walls drawn as two sheets. 12 or 12,288 triangles have the
-- same paths and the same H to rounding; other receivers and their order change no bit.
-- flags: --quiet
-- expect: two rays, conductor: true
-- expect: two rays, lossy: true
-- expect: canyon of 2 x 12 images: true
-- expect: corner of 2 plates: true
-- expect: corner of 3 plates: true
-- expect: knife edge 6.02 dB
-- expect: above its image: true
-- expect: two sheets, before and behind: 2 paths, 0 paths
-- expect: 12 and 12288 triangles: true
-- expect: alone, among 100, backwards: true
-- expect: on the diagonal of a plate: 2 paths
local ec = require "eciton"
local pi = math.pi

local function h_of(link)
    return ec.value(ec.re(link:h())), ec.value(ec.im(link:h()))
end

-- the sum of images { x, y, z, factor } at a receiver, wavelength 1
local function field(images, x, y, z)
    local re, im = 0, 0
    for _, s in ipairs(images) do
        local r = ((x - s[1]) ^ 2 + (y - s[2]) ^ 2 + (z - s[3]) ^ 2) ^ 0.5
        re = re + s[4] * math.cos(2 * pi * r) / (4 * pi * r)
        im = im - s[4] * math.sin(2 * pi * r) / (4 * pi * r)
    end
    return re, im
end

local function agrees(link, images, x, y, z)
    local re, im = h_of(link)
    local a, b = field(images, x, y, z)
    return math.abs(re[1] - a) + math.abs(im[1] - b) < 1e-9 * (math.abs(a) + math.abs(b))
end

-- antennas along y, across the plane of incidence: a conductor's factor is -1
local function pair(scene, depth, tx, rx, more)
    local link = { scene = scene, wavelength = 1, depth = depth,
        tx = { x = tx[1], y = tx[2], z = tx[3], axis = more.axis },
        rx = { x = rx[1], y = rx[2], z = rx[3], axis = more.axis }, diffraction = more.diffraction or 0 }
    return ec.mimo(link)
end
local along_y, along_z = { axis = { 0, 1, 0 } }, { axis = { 0, 0, 1 } }

local floor = ec.scene{ ec.ground{ size = { 2000, 2000 }, material = "pec" } }
print("two rays, conductor: " .. tostring(agrees(pair(floor, 3, { 0, 0, 12 }, { 80, 0, 2 }, along_y),
    { { 0, 0, 12, 1 }, { 0, 0, -12, -1 } }, 80, 0, 2)))

-- eps_r = 4 without loss, beyond nothing but cos: (c - q) / (c + q), q = sqrt(eps - sin^2)
local ground = ec.scene{ ec.ground{ size = { 2000, 2000 }, eps_r = 4 } }
local c = 14 / (80 ^ 2 + 14 ^ 2) ^ 0.5
local q = (4 - 1 + c ^ 2) ^ 0.5
print("two rays, lossy: " .. tostring(agrees(pair(ground, 3, { 0, 0, 12 }, { 80, 0, 2 }, along_y),
    { { 0, 0, 12, 1 }, { 0, 0, -12, (c - q) / (c + q) } }, 80, 0, 2)))

-- walls at y = -3 and y = 3.5, fields along both: factor (-1)^n
local canyon = ec.scene{ ec.plate{ at = { 0, -3, 0 }, normal = { 0, 1, 0 }, size = { 4000, 4000 } },
    ec.plate{ at = { 0, 3.5, 0 }, normal = { 0, -1, 0 }, size = { 4000, 4000 } } }
local images = { { 0, 1, 0, 1 } }
for first = 0, 1 do
    local y, sign = 1, 1
    for k = 1, 12 do
        y, sign = ((first + k) % 2 == 0 and -6 or 7) - y, -sign
        images[#images + 1] = { 0, y, 0, sign }
    end
end
print("canyon of 2 x 12 images: " .. tostring(agrees(pair(canyon, 12, { 0, 1, 0 }, { 40, -0.7, 0 }, along_z),
    images, 40, -0.7, 0)))

-- conducting planes x = 0, y = 0 and z = 0; the dipole moments along z keep their sign in z = 0
local wall = 400
local planes = { ec.plate{ at = { 0, wall, wall }, normal = { 1, 0, 0 }, size = { 2 * wall, 2 * wall } },
    ec.plate{ at = { wall, 0, wall }, normal = { 0, 1, 0 }, size = { 2 * wall, 2 * wall } },
    ec.plate{ at = { wall, wall, 0 }, normal = { 0, 0, 1 }, size = { 2 * wall, 2 * wall } } }
local two = ec.scene{ planes[1], planes[2] }
print("corner of 2 plates: " .. tostring(agrees(pair(two, 4, { 5, 7, 300 }, { 9, 3, 300 }, along_z),
    { { 5, 7, 300, 1 }, { -5, 7, 300, -1 }, { 5, -7, 300, -1 }, { -5, -7, 300, 1 } }, 9, 3, 300)))

-- three plates: isotropic antennas along z, so each image's factor is the part of the fields that
-- their theta^ share: 1, but for the turn that a reflection in z = 0 gives the vertical field: +1
local three = ec.scene(planes)
local eight = {}
for i = 0, 7 do
    local sx, sy, sz = i % 2 == 0 and 1 or -1, i // 2 % 2 == 0 and 1 or -1, i // 4 == 0 and 1 or -1
    eight[#eight + 1] = { 5 * sx, 7 * sy, 4 * sz, sx * sy }
end
print("corner of 3 plates: " .. tostring(agrees(pair(three, 4, { 5, 7, 4 }, { 9, 3, 6 }, along_z), eight, 9, 3, 6)))

-- a screen below z = 0 whose edge touches the line of sight: half of the field, from far away
local screen = ec.scene{ ec.plate{ at = { 0, 0, -1e6 }, normal = { 1, 0, 0 }, size = { 2e6, 2e6 } } }
local gain = ec.value(pair(screen, 1, { -90000, 0, 1e-9 }, { 90000, 0, 1e-9 },
    { axis = { 0, 0, 1 }, diffraction = 1 }):path_gain_db())
print(("knife edge %.2f dB"):format(20 * math.log(1 / (4 * pi * 180000), 10) - gain[1]))

-- receiver beside the transmitter, as near as may be: nothing but its own image counts
local re, im = h_of(pair(floor, 1, { 0, 0, 7.3 }, { 0.001, 0, 7.3 }, along_y))
local a, b = field({ { 0, 0, 7.3, 1 }, { 0, 0, -7.3, -1 } }, 0.001, 0, 7.3)
print("above its image: " .. tostring(math.abs(re[1] - a) + math.abs(im[1] - b) < 1e-9))

-- a wall as two sheets 2 cm apart
local sheets = ec.scene{ ec.plate{ at = { 0, 0, 0 }, normal = { 1, 0, 0 }, size = { 20, 20 } },
    ec.plate{ at = { 0.02, 0, 0 }, normal = { 1, 0, 0 }, size = { 20, 20 } } }
local function paths(scene, tx, rx)
    return ec.value(pair(scene, 3, tx, rx, along_z):paths())[1]
end
print(("two sheets, before and behind: %d paths, %d paths"):format(
    paths(sheets, { 4, 1, 1 }, { 5, -1, 0.5 }), paths(sheets, { 4, 1, 1 }, { -5, -1, 0.5 })))

-- however a box is cut
local function among(divisions, order)
    local scene = ec.scene{ ec.box{ size = { 6, 4, 3 }, inward = true, material = "itu_concrete", divisions = divisions },
        ec.box{ size = { 1, 1, 1 }, at = { 1, 0.4, -0.7 }, divisions = divisions } }
    local rx = { x = {}, y = {}, z = 0.3 }
    for _, k in ipairs(order) do
        rx.x[#rx.x + 1], rx.y[#rx.y + 1] = -2.7 + 0.045 * k, 1.9 - 0.7 * (k * 0.61 % 1)
    end
    local link = ec.mimo{ scene = scene, frequency = 2.4e9, depth = 2, diffraction = 1,
        tx = { x = { -2.1, -2.2 }, y = -1.3, z = { 1, 1.1 }, antenna = "halfwave" }, rx = { at = rx } }
    local part_re, part_im = h_of(link)
    return part_re, part_im, ec.value(link:paths())
end
local forward, backward = {}, {}
for k = 1, 100 do
    forward[k], backward[k] = k, 101 - k
end
local all_re, all_im, all_paths = among(1, forward)
local fine_re, fine_im, fine_paths = among(32, forward)
local same = #all_re == 200
for i = 1, #all_re do
    local off = math.abs(all_re[i] - fine_re[i]) + math.abs(all_im[i] - fine_im[i])
    same = same and all_paths[i] == fine_paths[i] and all_paths[i] > 10
        and off < 1e-10 * (math.abs(all_re[i]) + math.abs(all_im[i]))
end
print("12 and 12288 triangles: " .. tostring(same))
local back_re, back_im = among(1, backward)
same = true
for k = 1, 100 do
    for t = 1, 2 do
        local i, j = 2 * (k - 1) + t, 2 * (100 - k) + t
        same = same and all_re[i] == back_re[j] and all_im[i] == back_im[j]
    end
end
for _, k in ipairs{ 1, 37, 100 } do
    local one_re, one_im = among(1, { k })
    for t = 1, 2 do
        same = same and one_re[t] == all_re[2 * (k - 1) + t] and one_im[t] == all_im[2 * (k - 1) + t]
    end
end
print("alone, among 100, backwards: " .. tostring(same))

-- reflected in the middle of a square plate, on the edge that its two triangles share
local square = ec.scene{ ec.plate{ size = { 4, 4 } } }
print(("on the diagonal of a plate: %d paths"):format(paths(square, { -1, 0.5, 3 }, { 1, -0.5, 3 })))
