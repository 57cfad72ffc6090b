-- Plates cut by plates of air are what is left of them, to the bit; corrected edges of sheets; which hints a run gives.
-- flags: --out OUT --threads 1
-- expect: fdtd: plate 'few' has 2 cells along y: as a line its impedance is some 18 % low, a resonance along y some 25 %; edge_correction = true or 16 cells across it make it better
-- expect: fdtd: plate 'left' and plate 'right' are 1 um apart along x and do not touch: a slip of rounding? Overlap them, or give `smallest`
-- refuse: plate 'many'
-- holds: cut_conductors.vtp NumberOfPolys="84"
-- expect: plates are as they are drawn
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local f = ec.range(2*GHz, 8*GHz, 4)
local h, w = 0.8*mm, 1.2*mm

local function strip(keys, ...)
    local model = ec.fdtd{ frequency = f, cell = 0.4*mm, layers = 4, steps = 150, conformal = keys == "conformal",
        edge_correction = keys == "corrected", boundary = { z_low = "pec" },
        domain = { from = { -4*mm, -3.2*mm, 0 }, to = { 4*mm, 3.2*mm, 2.4*mm } },
        ec.box{ size = { 8*mm, 6.4*mm, h }, at = { 0, 0, h/2 }, eps_r = 2.2 },
        ec.port{ from = { -3.2*mm, 0, 0 }, to = { -3.2*mm, 0, h } }, ... }
    local s = ec.value(model:s(1, 1):re())
    return model, table.concat({ s[1], s[2], s[3], s[4] }, " ")
end
local function plate(from, to, keys)
    keys = keys or {}
    keys.size = { 8*mm, to - from }
    keys.at = { 0, (from + to) / 2, h }
    return ec.plate(keys)
end
local function air(from, to, priority)
    return plate(from, to, { material = "air", priority = priority })
end
local function air_polygon(from, to)
    return ec.polygon{ points = { { -4*mm, from }, { 4*mm, from }, { 4*mm, to }, { -4*mm, to } }, at = { 0, 0, h },
        material = "air" }
end
local low, high = -0.4*mm, 0.8*mm
for _, keys in ipairs{ "plain", "corrected", "conformal" } do
    local _, wanted = strip(keys, plate(low, high))
    local function same(name, ...)
        local model, got = strip(keys, ...)
        assert(got == wanted, ("%s, %s: %s instead of %s"):format(name, keys, got, wanted))
        return model
    end
    local cut = same("cut", plate(-2*mm, 2*mm), air(-2.4*mm, low), air(high, 2.4*mm))
    if keys == "plain" then cut:save("cut.vtm") end
    same("cut to its own edge", plate(-2*mm, 2*mm), air(-2*mm, low), air(high, 2*mm))
    same("by priority", air(-2.4*mm, low, 1), air(high, 2.4*mm, 1), plate(-2*mm, 2*mm))
    same("by polygons", plate(-2*mm, 2*mm), air_polygon(-2.4*mm, low), air_polygon(high, 2.4*mm))
    same("laid over the air", plate(-2*mm, 2*mm), air(-2.4*mm, 2.4*mm), plate(low, high))
    same("a later plate", air(-2.4*mm, 2.4*mm), plate(low, high))
    if keys ~= "conformal" then -- a sheet that almost is metal
        local _, sheet = strip(keys, plate(low, high, { ohms = 1e-6 }))
        local a, b = tonumber(sheet:match("%S+")), tonumber(wanted:match("%S+"))
        assert(math.abs(a - b) < 1e-4, keys .. ": " .. sheet .. " instead of " .. wanted)
    end
    local _, film = strip(keys, plate(-2*mm, 2*mm, { ohms = 0.1 }), air(-2.4*mm, low), air(high, 2.4*mm))
    local _, alone = strip(keys, plate(low, high, { ohms = 0.1 }))
    assert(film == alone, keys .. ": " .. film .. " instead of " .. alone)
end

-- hints
local function hinted(keys, ...)
    keys.frequency, keys.steps, keys.layers, keys.air, keys.largest = f, 1, 4, 2*mm, 1*mm
    keys[1] = ec.plate{ name = "many", size = { 20*mm, 20*mm } }
    keys[2] = ec.port{ from = { 0, 0, 0 }, to = { 0, 0, 1*mm } }
    for i, object in ipairs{ ... } do keys[2 + i] = object end
    local model = ec.fdtd(keys)
    return model, model:report()
end
local few = ec.plate{ name = "few", size = { 10*mm, 2*mm }, at = { 0, 0, 1*mm } }
ec.value((hinted({}, few)):s(1, 1):re())
local function says(words, keys, ...)
    local _, report = hinted(keys, ...)
    assert(report:find(words, 1, true), report)
end
local function metal(height)
    return ec.box{ name = "thick", size = { 10*mm, 2*mm, height }, at = { 0, 0, 1*mm + height/2 } }
end
says("box 'thick' has 2 cells along y", {}, metal(0.1*mm))
says("edge_correction leaves box 'thick' as it is: it has a thickness", { edge_correction = true }, metal(0.1*mm))
says("plate 'sheet' has 2 cells along y", {}, ec.plate{ name = "sheet", size = { 10*mm, 2*mm }, at = { 0, 0, 1*mm }, ohms = 0.1 })
says("edge_correction leaves plate 'sheet' as it is: it has more than 1 ohm a square", { edge_correction = true },
    ec.plate{ name = "sheet", size = { 10*mm, 2*mm }, at = { 0, 0, 1*mm }, ohms = 50 })
ec.value((hinted({ edge_correction = true }, ec.plate{ name = "left", size = { 10*mm, 2*mm }, at = { 0, 0, 1*mm } },
    ec.plate{ name = "right", size = { 5*mm, 2*mm }, at = { 7.501*mm, 0, 1*mm } })):s(1, 1):re())
print("plates are as they are drawn")
