-- flags: --out OUT --data OUT
-- expect: the files are those of the rows
-- file: rows_1.s2p
-- file: rows_3.s2p
-- Touchstone files of the rows of a sweep, from what it recorded.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "rows" }
local wide = job:real{ name = "wide", min = 1*mm, max = 3*mm }
local function port(name, x, ohms)
    return ec.port{ name = name, from = { x, 0, 2*mm }, to = { x, 4*mm, 2*mm }, ohms = ohms }
end
local function guide(ohms)
    return ec.fdtd{ frequency = ec.range(30*GHz, 40*GHz, 3), boundary = "pec", cell = 1*mm, snap = true, steps = 200,
        domain = { from = { 0, 0, 0 }, to = { 10*mm, 4*mm, 4*mm } },
        ec.box{ size = { wide, 4*mm, 4*mm }, at = { 5*mm, 2*mm, 2*mm }, eps_r = 4 }, port("a", 2*mm, 50), port("b", 8*mm, ohms) }
end
local model = guide(75)
for i = 1, 2 do
    for j = 1, 2 do
        job:record(("s%d%d_re"):format(i, j), model:s(i, j):re())
        job:record(("s%d%d_im"):format(i, j), model:s(i, j):im())
    end
end
local rows = job:sweep{ points = { wide = 3 } }
rows:save("rows.s2p", model)
for i = 1, 3 do
    local file, row = ec.load_touchstone(("rows_%d.s2p"):format(i)), rows:design(i).recorded
    assert(file.n_ports == 2 and file.reference[1] == 50 and file.reference[2] == 75 and file.frequency[3] == 40*GHz)
    for k, name in ipairs{ "s11", "s21", "s12", "s22" } do
        local re, im = file:s(k % 2 == 0 and 2 or 1, k > 2 and 2 or 1)
        for f = 1, 3 do assert(re[f] == row[name .. "_re"][f] and im[f] == row[name .. "_im"][f], name) end
    end
end
for _, case in ipairs{ { "rows.s1p", model, "the S-parameters of 2 ports are saved as .s2p" },
    { "rows.s2p", guide(60), "model:s(1, 1):re() is not, as job:record(\"s11_re\", model:s(1, 1):re())" },
    { "rows.s2p", 3, "the second argument is a model of ec.fdtd, got number" } } do
    local ok, message = pcall(rows.save, rows, case[1], case[2])
    assert(not ok and tostring(message):find(case[3], 1, true), message)
end
print("the files are those of the rows")
