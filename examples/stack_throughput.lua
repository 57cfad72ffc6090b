-- How many cells a second this machine steps: one domain at a time against a stack of them, for domains of 100 x 100 x 25
-- cells and for the six orientations of one of 64 x 128 x 192. Metal walls, a strip over a board, a port with 50 ohm;
-- the domains differ by the board's permittivity. Each time is that of 768 steps less that of 256, so what is built
-- before is told apart. --set domains=N for stacks of N; --quick: domains so small that their times say nothing.
-- Expected: on a GPU a stack is faster than one domain at a time, on a CPU with one thread about as fast.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local domains = ec.arg("domains", ec.quick and 2 or 20)
local counts = ec.quick and { 64, 128 } or { 256, 768 } -- of steps

local function seconds(n, count, steps)
    local job = ec.job{ name = ("stack_%dx%dx%d_%d_%d"):format(n[1], n[2], n[3], count, steps) }
    local eps_r = job:real{ name = "eps_r", min = 2, max = 4 }
    local x, y = n[1] * mm, n[2] * mm
    local model = ec.fdtd{ frequency = { 1*GHz, 5*GHz }, boundary = "pec", cell = 1*mm, steps = steps,
        domain = { from = {0, 0, 0}, to = {x, y, n[3] * mm} },
        ec.box{ size = {x, y, 2*mm}, at = {x / 2, y / 2, 1*mm}, eps_r = eps_r },
        ec.plate{ size = {x - 8*mm, 4*mm}, at = {x / 2, 6*mm, 2*mm} },
        ec.port{ name = "in", from = {6*mm, 6*mm, 0}, to = {6*mm, 6*mm, 2*mm}, ohms = 50 } }
    job:record("steps", model:steps("in"))
    return job:sweep{ points = { eps_r = count } }.seconds
end

local function rate(n, count) -- Mcells/s
    local time = seconds(n, count, counts[2]) - seconds(n, count, counts[1])
    return n[1] * n[2] * n[3] * count * (counts[2] - counts[1]) / math.max(time, 1e-9) / 1e6
end

local function line(name, n, count)
    local alone, stacked = rate(n, 1), rate(n, count)
    print(("%3s %3d x %3d x %3d %9.0f %9.0f Mcells/s, %.2f times"):format(name, n[1], n[2], n[3], alone, stacked,
        stacked / alone))
end

local k = ec.quick and 4 or 1 -- smaller by
print(("one domain at a time against %d, steps alone"):format(domains))
line("", { 100 // k, 100 // k, ec.quick and 12 or 25 }, domains)
local sides = { 64 // k, 128 // k, 192 // k }
for _, o in ipairs{ "xyz", "xzy", "yxz", "yzx", "zxy", "zyx" } do -- short, medium, long side along
    local n = {}
    for i = 1, 3 do
        n[("xyz"):find(o:sub(i, i))] = sides[i]
    end
    line(o, n, domains)
end
