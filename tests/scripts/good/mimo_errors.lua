-- expect: every mistake is named
-- What ec.mimo, links, scenes' materials and text files say of mistakes: each message begins with the script's line.
local ec = require "eciton"
local nan = 0 / 0
local box = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local sheet = ec.scene{ ec.plate{ size = { 2, 2 } } }
local job = ec.job{ name = "errors", seed = 1 }
local site = job:choice{ name = "site", from = 9, count = 4, distinct = true }

local function mimo(more)
    local keys = { scene = box, wavelength = 1, tx = { x = 5 }, rx = { x = 9 } }
    for key, value in pairs(more or {}) do keys[key] = value end
    return ec.mimo(keys)
end
local function tx(keys) return function() mimo{ tx = keys } end end
local function rx(keys) return function() mimo{ rx = keys } end end
local link = mimo()
local budget = mimo{ tx = { x = 5, power_dbm = 20 }, bandwidth = 1e6, noise_figure_db = 7 }
local coupled = function(s) return rx{ x = { 9, 9.2 }, coupling = s } end

local cases = {
    -- positions
    { tx{ x = { 5, 6 }, y = { 1, 2, 3 } }, "ec.mimo: key 'tx': key 'y': 3 values, but x has 2" },
    { tx{ x = {} }, "ec.mimo: key 'tx': key 'x': the list is empty" },
    { rx{ at = { x = {}, y = 0 } }, "ec.mimo: key 'rx': key 'at': x: the list is empty" },
    { rx{ antenna = "short" }, "ec.mimo: key 'rx': no positions" },
    { rx{ at = { x = 9 }, count = 0 }, "key 'rx': key 'count': 0 is not allowed, it must be at least 1 and at most 64" },
    { rx{ at = { x = 9 }, count = 2 }, "ec.mimo: key 'rx': key 'spacing' is missing" },
    { tx{ x = 1, y = 0.25, z = 0.1 }, "tx: antenna 1 at (1, 0.25, 0.1) lies on a surface" },
    { function() mimo{ scene = sheet, rx = { x = 1, y = 1 } } end, "rx: antenna 1 at (1, 1, 0) lies on a surface" },
    { function() mimo{ scene = sheet, rx = { x = 1, y = 0.3 } } end, "rx: antenna 1 at (1, 0.3, 0) lies on a surface" },
    { rx{ x = 5 }, "rx: antenna 1 is at the place of tx's 1, (5, 0, 0); they are to be more than" },
    { tx{ x = 1 / (job:real{ name = "x", min = 5, max = 6 } - 5.5) },
        "ec.mimo: tx: x can be from -inf to inf: a finite range is needed" },
    { tx{ x = 1e300 }, "ec.mimo: tx: x can be from 1e+300 to 1e+300: up to 1e+09 m is allowed" },
    { rx{ x = { 9, 3 }, from = { 2, -1, -1 }, to = { 5, 1, 1 } },
        "ec.mimo: rx: x of antenna 1 is from 9 to 9, outside of the box of keys 'from' and 'to', 2 to 5" },
    { tx{ x = 5, from = { 6, 0, 0 }, to = { 4, 0, 0 } },
        "ec.mimo: tx: key 'from': x is 6, above 'to' with 4" },
    -- keys that go with others
    { rx{ x = 9, spacing = 1 }, "ec.mimo: key 'rx': keys 'count' and 'spacing' go with at" },
    { rx{ at = { x = 9 }, spacing = 1 }, "ec.mimo: key 'rx': key 'spacing' goes with count: each place has one" },
    { rx{ x = 9, point = { 0, 0, 0 } }, "ec.mimo: key 'rx': key 'point' goes with along" },
    { rx{ x = 9, direction = { 0, 1, 0 } }, "ec.mimo: key 'rx': key 'direction' goes with along, or with count of at" },
    { tx{ x = 5, q = 3 }, "ec.mimo: key 'tx': key 'q': 3, but only antenna = 'cosq' has an exponent" },
    { rx{ x = 9, power_dbm = 3 }, "ec.mimo: key 'rx': key 'power_dbm' is the transmitters'" },
    { rx{ x = 9, axis = { 0, 0, 0 } }, "ec.mimo: key 'rx': key 'axis': the direction has no length" },
    { function() mimo{ depth = 25 } end, "ec.mimo: key 'depth': 25 is not allowed, it must be at least 0 and at most 24" },
    { function() mimo{ scene = {} } end, "ec.mimo: key 'scene': wants a scene of ec.scene" },
    { function() ec.mimo{ scene = box, tx = { x = 5 }, rx = { x = 9 } } end,
        "ec.mimo: one of the keys wavelength and frequency is needed" },
    -- coupling
    { coupled{ { 0, nan }, { nan, 0 } }, "key 'coupling': entry (1, 2) is not finite" },
    { coupled{ { 0, { 0, 1 / 0 } }, { 0, 0 } }, "key 'coupling': entry (1, 2) is not finite: 0, inf" },
    { coupled{ { 0, "a" }, { 0, 0 } }, "key 'coupling': entry (1, 2) is a string; it has to be a number or {re, im}" },
    -- link budgets
    { function() mimo{ noise_figure_db = 7 } end, "ec.mimo: key 'noise_figure_db' goes with bandwidth" },
    { function() mimo{ bandwidth = 1e6, noise_figure_db = 7 } end, "ec.mimo: key 'tx': key 'power_dbm' is missing" },
    { function() link:snr_db() end, "link:snr_db: there is no link budget: ec.mimo lacks power_dbm of tx and bandw" },
    { function() link:capacity() end, "link:capacity: key 'snr_db' is missing, and there is no link budget" },
    { function() link:capacity{ normalize = "none" } end, "ec.mimo lacks power_dbm of tx and bandwidth" },
    { function() budget:capacity{} end, "link:capacity: key 'snr_db' is missing; with normalize = \"none\" it is that of" },
    { function() mimo{ tx = { x = 5, power_dbm = 20 } }:sum_rate() end, "ec.mimo lacks bandwidth" },
    -- methods
    { function() link:capasity() end, "a link has no method 'capasity' (did you mean 'capacity'?)" },
    { function() link:nothing_like_it() end, "a link has no method 'nothing_like_it'; it has h, paths," },
    { function() link:sinr{ snr = 20 } end, "link:sinr: unknown key 'snr' (did you mean 'snr_db'?)" },
    { function() link:sinr(20) end, "link:sinr: wants a table of keys, as in link:sinr{" },
    { function() mimo{ rx = { x = { 9, 10 } } }:sinr{ snr_db = 20 } end, "link:sinr: H is 2 x 1: as many users as" },
    { function() link:condition_db{ snr_db = 20 } end, "link:condition_db: unknown key 'snr_db'" },
    { function() link:degrees_of_freedom{ svd = "jacobi" } end, "link:degrees_of_freedom: takes no options" },
    { function() link:k_factor_db{ at = "rx" } end, "link:k_factor_db: takes nothing, got a table" },
    { function() link:h(1) end, "link:h: takes nothing, got a number" },
    { function() link.capacity() end, "link:capacity: call it with a colon on a link of ec.mimo" },
    { function() ec.sum_rate({ { 1 } }, {}) end, "ec.sum_rate: key 'snr_db' is missing" },
    { function() ec.condition_db({ { 1 } }, { snr_db = 1 }) end, "ec.condition_db: unknown key 'snr_db'" },
    -- scenes
    { function() ec.box{ size = { 1, 1e30, 1 } } end, "ec.box: key 'size': 1e+30 is not allowed, it must be above 0" },
    { function() ec.plate{ size = { 1, 1 }, at = { 0, 0, -1e30 } } end, "ec.plate: key 'at': -1e+30 is not allowed" },
    { function() ec.scene{ ec.box{ size = { 1, 1, 1 }, material = "itu_concret" } } end,
        "ec.box: key 'material': unknown material 'itu_concret' (did you mean 'itu_concrete'?" },
    { function() ec.scene{ ec.box{ size = { 1, 1, 1 }, material = { itu = "glas" } } } end,
        "unknown material 'glas' (did you mean 'glass'?" },
    -- a sweep over places of which none is taken twice
    { function() job:sweep{ points = { site = 3 } } end, "its elements depend on each other; give whole designs, { {...}, {" },
    { function() job:sweep{ points = { site = 3 } } end, "\"all\", every selection of different items" },
    -- text files
    { function() ec.load_csv("zero_byte.csv") end, "zero_byte.csv, line 2: a zero byte, so this is no text" },
}

job:record("sum", site:sum())
for i, case in ipairs(cases) do
    local ok, message = pcall(case[1])
    assert(not ok, ("case %d is no mistake: %s"):format(i, case[2]))
    message = tostring(message)
    assert(message:find(case[2], 1, true), ("case %d: %s\nwanted: %s"):format(i, message, case[2]))
    assert(message:find("^mimo_errors.lua:%d+: "), ("case %d has no line: %s"):format(i, message))
end
print("every mistake is named")
