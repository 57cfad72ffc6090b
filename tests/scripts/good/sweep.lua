-- flags: --out OUT
-- expect: all sweeps are right
-- expect: smallest f
-- expect: fixed: b = 0.5
-- expect: interrupted
-- expect:  to 2, 2 values a row
-- refuse: recorded list[1]
-- refuse: warning
-- file: sweep.csv
-- file: sweep_f.gp
-- file: table.csv
-- file: table.npy
local ec = require "eciton"
local job = ec.job{ name = "sweep", seed = 3 }
local a = job:real{ name = "a", min = 0, max = 2 }
local b = job:real{ name = "b", min = 0, max = 1 }
local n = job:integer{ name = "n", min = 1, max = 4 }
local c = job:choice{ name = "c", from = {10, 20, 30} }
local x = job:real{ name = "x", count = 2, min = {0, 10}, max = {1, 20}, start = {0.5, 12} }
job:minimize("f", (a - 1)^2 + b + n * 0.001)
job:maximize("g", a - 100 * c)
job:record("list", ec.concat(a, b))
job:record("interrupted", ec.constant(7))

local function equal(p, q)
    if p ~= q then error(tostring(p) .. " is not " .. tostring(q), 2) end
end

-- a grid: the job's order, the last variable fastest
local s = job:sweep{ points = { n = "all", a = 3 } }
equal(#s, 12)
equal(s.shape[1], 3) equal(s.shape[2], 4)
equal(s.variables.a[5], 1) equal(s.variables.n[6], 2) equal(s.variables.b[12], 0.5)
equal(s.variables.x[2][7], 12) equal(s.recorded.list[1][9], 2)
equal(s.objectives.f:min(), 0.501)
equal(s.status:max(), 0) equal(s.failed, 0) equal(s.run, 12) equal(s.stop, "complete")
local best = s:best("f")
equal(best.row, 5) equal(best.variables.n, 1) equal(best.objectives.f, 0.501)
equal(best.recorded.list[2], 0.5) equal(best.variables.x[1], 0.5)
equal(s:best("g").variables.a, 2)
equal(s:best("list[1]", "min").row, 1)
equal(s:design(12).variables.n, 4)
s:save("table.csv")
s:save("table.npy")

-- values, elements, whole designs
s = job:sweep{ points = { a = {0.5}, c = 3, ["x[2]"] = ec.range(11, 13, 3) }, report = false }
equal(#s, 9)
equal(s.variables.x[2][1], 11) equal(s.variables.x[1][1], 0.5) equal(s.variables.c[4], 2)
s = job:sweep{ points = { x = { {0, 10}, {1, 20} }, b = {0.25, 0.75} }, report = false }
equal(#s, 4)
equal(s.variables.x[2][3], 10) equal(s.variables.b[3], 0.75)
s = job:sweep{ points = { x = 2 }, report = false }
equal(#s, 4)
equal(s.variables.x[1][3], 1) equal(s.variables.x[2][3], 10)

-- one at a time, the same number of values, samples
s = job:sweep{ points = { a = 3, b = 2 }, method = "one_at_a_time", report = false }
equal(#s, 6) equal(s.distinct, 5)
s = job:sweep{ points = 2, method = "grid", variables = { "a", "b" }, report = false }
equal(#s, 4)
for _, method in ipairs{ "sobol", "lhs", "halton", "random" } do
    s = job:sweep{ points = 64, method = method, report = false }
    equal(#s, 64)
    equal(s.variables.n:min(), 1) equal(s.variables.n:max(), 4)
end
s = job:sweep{ points = 8, variables = { "a" }, scramble = false, report = false }
equal(s.variables.a[2], 1) equal(s.variables.a[1], 0) equal(s.variables.b[3], 0.5)

-- designs of a file; results in it are passed over
s = job:sweep{ points = "sweep_designs.csv", report = false }
equal(#s, 3)
equal(s.variables.a[2], 0.25) equal(s.variables.x[1][3], 0.75) equal(s.variables.n[1], 4)
print("all sweeps are right")
