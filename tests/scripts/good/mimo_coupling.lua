-- Coupled antennas of a link: one port's mismatch, two ports by rows and by a file, what is refused; no
-- warning about near antennas where the coupling is given.
-- expect: one port: true
-- expect: two ports: true
-- expect: file as rows: true
-- expect: users: true
-- expect: the matrix has 2 ports for 3 antennas
-- expect: entry (1, 2) is a string; it has to be a number or {re, im}
-- expect: row 2 has to be a list of 2 entries
-- expect: tx: the coupling is not reciprocal
-- refuse: they couple
local ec = require "eciton"

local free = ec.scene{ ec.plate{ at = { 0, 0, -500 }, size = { 1, 1 } } }
local function h_of(tx, rx)
    tx.x, rx.x, rx.z = tx.x or 0, rx.x or 8, rx.z or 0
    local link = ec.mimo{ scene = free, frequency = 0.9 * ec.GHz, depth = 0, tx = tx, rx = rx }
    local h = link:h()
    return ec.value(ec.re(h)), ec.value(ec.im(h))
end
local function near(a, b) return math.abs(a - b) < 1e-15 end

-- h (1 - s)
local re, im = h_of({}, {})
local re1, im1 = h_of({ coupling = { { { 0.2, -0.1 } } } }, {})
print("one port: " .. tostring(near(re1[1], 0.8 * re[1] - 0.1 * im[1]) and near(im1[1], 0.8 * im[1] + 0.1 * re[1])))

local function pair() return { x = { 8, 8.05 } } end
re = h_of({}, { x = 8, coupling = { { 0 } } })
local other = h_of({}, { x = 8.05 })
local c = pair()
c.coupling = { { 0.1, -0.3 }, { -0.3, 0.1 } }
local got = h_of({}, c)
print("two ports: " .. tostring(near(got[1], 0.9 * re[1] + 0.3 * other[1]) and near(got[2], 0.3 * re[1] + 0.9 * other[1])))

local s = ec.load_touchstone("coupling.s2p")
local rows = {}
for i = 1, 2 do
    rows[i] = {}
    for j = 1, 2 do
        local x, y = s:s(i, j)
        rows[i][j] = { x[1], y[1] }
    end
end
local function both(coupling)
    return h_of({ y = { 0, 0.05 }, coupling = coupling }, { x = { 8, 8.05 }, coupling = coupling })
end
local a, b = both(s), both(rows)
local same = #a == 4
for i = 1, 4 do same = same and a[i] == b[i] end
print("file as rows: " .. tostring(same))

-- of each of three users
local users = ec.grid{ from = { 5, 0, 1 }, to = { 9, 0, 1 }, step = 2 }
local function at_users(coupling)
    local link = ec.mimo{ scene = free, frequency = 0.9 * ec.GHz, depth = 0, tx = { x = 0 },
        rx = { at = users, count = 2, spacing = 0.05, coupling = coupling } }
    return ec.value(ec.re(link:h()))
end
local plain, coupled = at_users{ { 0, 0 }, { 0, 0 } }, at_users(c.coupling)
same = #plain == 6
for u = 1, 5, 2 do
    same = same and near(coupled[u], 0.9 * plain[u] + 0.3 * plain[u + 1])
        and near(coupled[u + 1], 0.3 * plain[u] + 0.9 * plain[u + 1])
end
print("users: " .. tostring(same))

local function fails(tx)
    print(select(2, pcall(h_of, tx, {})))
end
fails{ x = { 0, 0.05, 0.1 }, coupling = c.coupling }
fails{ x = { 0, 0.05 }, coupling = { { 0, "0" }, { 0, 0 } } }
fails{ x = { 0, 0.05 }, coupling = { { 0, 0 }, { 0 } } }
fails{ x = { 0, 0.05 }, coupling = { { 0, 0.1 }, { 0.3, 0 } } }
