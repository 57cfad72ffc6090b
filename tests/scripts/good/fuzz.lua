-- flags: --set rounds=4000
-- expect: nothing broke
-- Calls everything with values that fit badly: each call works or raises an error, none breaks the program
-- (the sanitizers of the sanitize preset look on).
local ec = require "eciton"
math.randomseed(ec.arg("fuzz", 1))
local job = ec.job{ name = "fuzz" }
local x = job:real{ name = "x", count = 5, min = -1, max = 1 }
local y = job:real{ name = "y", min = 0, max = 1 }
local names = { "name", "count", "min", "max", "start", "x", "y", "z", "u", "v", "theta_deg", "phi_deg", "wavelength",
    "frequency", "amplitude", "phase", "q", "element", "mask", "values", "from", "method", "population", "evaluations",
    "generations", "circular", "fill", "look_u", "exclude_u", "aperture", "min_gap", "sum", "distinct", "relative",
    "sll_db", "nbar", "spacing", "radius", "odd", "centre", "limit", "direction", "group", "symmetric",
    "spacing_x", "count_x", "columns", "rows", "radii", "counts", "half_angle_deg", "diameter", "f_over_d", "facets",
    "coefficients", "degree", "terms", "at", "bits", "elements", "random", "nx", "ny", "nz", "density", "seed" }
local pool
local function any() return pool[math.random(#pool)] end
local function keys()
    local t = {}
    for _ = 1, math.random(0, 4) do t[names[math.random(#names)]] = any() end
    for i = 1, math.random() < 0.3 and math.random(0, 3) or 0 do t[i] = any() end
    return t
end
pool = { function() return 1 end, function() return any() end, 0, 1, -1, 2.5, 1e300, 0 / 0, 1 / 0, "a", "last", true,
    false, {}, { 1, 2, 3 }, { 1, nil, 3 }, { { 1, 2 }, { 3, 4 } }, { { 1 }, { 2, 3 } }, x, y, x[1], job,
    ec.range(0, 1, 5), ec.range(-1, 1, 21), ec.over{ 1, 2 }, ec.complex(x, x), { x, y }, { x[1], 1 }, "table.csv",
    ec.array{ x = x, wavelength = 1, u = ec.range(-1, 1, 41) } }
local functions = {}
for _, module in ipairs{ ec, ec.taper, ec.geometry, ec.steering, ec.basis, ec.errors } do
    for _, f in pairs(module) do
        if type(f) == "function" then functions[#functions + 1] = f end
    end
end
local methods = { "real", "integer", "binary", "choice", "spaced", "minimize", "maximize", "record", "subject_to" }
local metrics = { "sll_db", "hpbw_deg", "fnbw_deg", "directivity_db", "excess_db", "level_db", "null_depth_db" }
local operations = {
    function(a, b) return a + b end, function(a, b) return a[b] end, function(a, b) return a .. b end,
    function(a, b) return a < b end, function(a) return #a end, function(a) return -a end,
    function(a, b) return a ^ b end, function(a, b) return a % b end, function(a, b) return a(b) end,
    function(a, b) if a ~= pool and a ~= names then a[b] = 1 end end, function(a) return tostring(a) end,
    function(a, b) return a:slice(b, any()) end, function(a, b) return a == b end, function(a, b) return a // b end,
    function(a) for _ in pairs(a) do end end }
for i = 1, ec.arg("rounds", 4000) do
    local kind, good, result = math.random(6), nil, nil
    if kind == 1 then
        good, result = pcall(functions[math.random(#functions)], any(), any(), any())
    elseif kind == 2 then
        good, result = pcall(functions[math.random(#functions)], keys())
    elseif kind == 3 then
        local own = ec.job{ name = "job" .. i }
        good, result = pcall(own[methods[math.random(#methods)]], own, math.random() < 0.5 and any() or keys(), any(), keys())
    elseif kind == 4 then
        local own = ec.job{ name = "job" .. i }
        local v = own:real{ name = "v", count = 2, min = 0, max = 1 }
        pcall(own.minimize, own, "f", ec.sum(v))
        pcall(own.subject_to, own, "c", any(), keys())
        local t = keys()
        t.generations = 2
        good, result = pcall(own.solve, own, t)
    elseif kind == 5 then
        local array, name = pool[30], metrics[math.random(#metrics)]
        good, result = pcall(function(t) return array[name](array, t) end, keys())
    else
        good, result = pcall(operations[math.random(#operations)], any(), any())
    end
    if good and type(result) == "userdata" and #pool < 150 then pool[#pool + 1] = result end
end
print("nothing broke")
