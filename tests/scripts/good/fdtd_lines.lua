-- Ports of lines side by side in one plane; lines that end before the wall behind their port.
-- flags: --threads 1
-- refuse: comes out of the ports
-- expect: lines are lines
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local h, w, apart = 0.8*mm, 2.4*mm, 14*mm

local function port(name, x, y, keys)
    local to = { name = name, from = { x, y - w/2, 0 }, to = { x, y + w/2, h }, axis = "z", line = x < 0 and "x" or "-x",
        plane = 2.4*mm }
    for key, value in pairs(keys or {}) do to[key] = value end
    return ec.port(to)
end
local function model(length, ...)
    return ec.fdtd{ frequency = ec.range(4*GHz, 8*GHz, 3), largest = 0.8*mm, layers = 5, boundary = { z_low = "pec" },
        edge_correction = true, domain = { from = { -6*mm, -12*mm, 0 }, to = { 6*mm, 12*mm, 4*mm } },
        ec.box{ size = { 12*mm, 24*mm, h }, at = { 0, 0, h/2 }, eps_r = 2.2 },
        ec.plate{ name = "first", size = { length, w }, at = { 0, -apart/2, h } },
        ec.plate{ name = "second", size = { 12*mm, w }, at = { 0, apart/2, h } }, ... }
end

local four = model(12*mm, port("a", -5*mm, -apart/2), port("b", -5*mm, apart/2), port("c", 5*mm, -apart/2),
    port("d", 5*mm, apart/2))
local through, back, beside, crossed, balance = ec.value(four:s("c", "a"):abs(), four:s("a", "c"):abs(), four:s("b", "a"):max_db(),
    four:s("d", "a"):max_db(), four:balance("a"))
for i = 1, #through do
    assert(math.abs(through[i] - back[i]) < 2e-3, through[i] .. " and " .. back[i])
    assert(through[i] > 0.985 and balance[i] < 1.005, through[i] .. ", " .. balance[i])
end
assert(beside < -35 and crossed < -35, beside .. " and " .. crossed .. " dB")

local function fails(words, ...)
    local ok, text = pcall(model, ...)
    assert(not ok and tostring(text):find(words, 1, true), ("'%s' instead of '%s'"):format(tostring(text), words))
end
fails("ports 'a' and 'b' overlap: they share edges of the grid", 12*mm, port("a", -5*mm, -apart/2),
    port("b", -5*mm, -apart/2, { to = { -5*mm, -apart/2, h } }))
fails("port 'a': its line ends behind it at x = -5.5 mm, before the absorbing wall at -6 mm: what comes back from there "
    .. "rings; let the conductor at `to` go on to the end of the domain, or end at the port and give ohms", 11*mm,
    port("a", -5*mm, -apart/2), port("c", 5*mm, apart/2))
-- alone, closed by an element, or with ohms at its end it is one
model(11*mm, port("a", -5*mm, -apart/2))
model(11*mm, port("a", -5*mm, -apart/2), port("c", 5*mm, apart/2),
    ec.lumped{ from = { -5.5*mm, -apart/2, 0 }, to = { -5.5*mm, -apart/2, h }, ohms = 50 })
model(11*mm, port("a", -5.5*mm, -apart/2, { ohms = 50 }), port("c", 5*mm, apart/2))
fails("are `from` (the ground) and `to` (the strip) swapped, or is `axis` another?", 12*mm,
    ec.port{ name = "a", from = { -5*mm, -apart/2 - w/2, h }, to = { -5*mm, -apart/2 + w/2, 0 }, axis = "z", line = "x",
        plane = 2.4*mm })
fails("does not converge (plate 'first' and plate 'stub' are 1 um apart along y and do not touch: a slip of rounding?",
    12*mm, port("a", -5*mm, -apart/2), ec.plate{ name = "stub", size = { w, 2*mm }, at = { 0, -apart/2 + w/2 + 1.001*mm, h } })
print("lines are lines")
