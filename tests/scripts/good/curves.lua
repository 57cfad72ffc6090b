-- expect: curves agree with closed forms
-- Quantities over frequency: a resonator's reflection, S = (1 - z) / (1 + z) with z = r + j Q (f/f0 - f0/f).
local ec = require "eciton"
local f = ec.range(0.8e9, 1.2e9, 401)
local job = ec.job{ name = "curves" }
local f0 = job:real{ name = "f0", min = 0.9e9, max = 1.1e9, start = 1.01234e9 }
local r, Q = 0.9, 20

local function near(name, got, wanted, tolerance)
    assert(math.abs(got - wanted) <= tolerance,
        ("%s: %.12g, expected %.12g"):format(name, got, wanted))
end

local function resonator(at)
    local x = Q * (ec.constant(f) / at - at / ec.constant(f))
    local z = ec.complex(r, x)
    return ec.curve((1 - z) / (1 + z), f)
end

local c = 1.01234e9
local s = resonator(c)
local function level(g)
    local x = Q * (g / c - c / g)
    return 10 * math.log(((1 - r)^2 + x^2) / ((1 + r)^2 + x^2), 10)
end
assert(#s == 401 and #s:db() == 401 and #s:frequency() == 401)
near("element", ec.value(s:db()[100]), level(f[100]), 1e-9)
near("argmin", ec.value(s:argmin()), c, 2e4)
near("argmin in dB", ec.value(s:db():argmin()), c, 2e4)
near("min_db", ec.value(s:min_db()), level(1.012e9), 1e-9)
near("max_db", ec.value(s:max_db()), math.max(level(0.8e9), level(1.2e9)), 1e-9)
near("phase", ec.value(s:phase_deg()[1]), ec.value(s:value():arg()[1]) * 180 / math.pi, 1e-9)
near("re", ec.value(s:re():at(0.9e9)), ec.value(s:at(0.9e9):re()), 1e-12)
near("im", ec.value(s:im():at(0.9e9)), ec.value(s:at(0.9e9):im()), 1e-12)
near("at", ec.value(s:db():at(0.85e9)), level(0.85e9), 1e-9)
near("between", ec.value(s:db():at(0.8505e9)), (level(0.850e9) + level(0.851e9)) / 2, 1e-9)
near("at the end", ec.value(s:db():at(1.2e9)), level(1.2e9), 1e-9)
near("abs", ec.value(s:abs()[7]), 10^(level(f[7]) / 20), 1e-12)
near("max", ec.value(s:db():max()), ec.value(s:max_db()), 0)
near("arithmetic", ec.value((s:db() + 1)[3]), ec.value(s:db()[3]) + 1, 1e-12)

-- |S|^2 = L where x^2 = (L (1 + r)^2 - (1 - r)^2) / (1 - L), and f - c^2 / f = x c / Q at either edge
local L = 10^-1
local x = math.sqrt((L * (1 + r)^2 - (1 - r)^2) / (1 - L))
near("band", ec.value(s:band_below_db(-10)), x * c / Q, 2e4)
near("its low end", ec.value(s:edges_below_db(-10)[1]), c * (math.sqrt(1 + (x / Q)^2 / 4) - x / Q / 2), 2e4)
near("its high end", ec.value(s:edges_below_db(-10)[2]), c * (math.sqrt(1 + (x / Q)^2 / 4) + x / Q / 2), 2e4)
near("no end", ec.value(s:edges_below_db(-40)[2]), 1.012e9, 1e-3)
near("no band", ec.value(s:band_below_db(-40)), 0, 0)
near("all of it", ec.value(s:band_below_db(0)), 0.4e9, 1)
near("to the end", ec.value(resonator(1.2e9):band_below_db(-10)), 1.2e9 - (math.sqrt((x * 1.2e9 / Q)^2 / 4 + 1.2e9^2) - x * 1.2e9 / Q / 2), 2e4)
near("lowest at the end", ec.value(resonator(1.3e9):argmin()), 1.2e9, 0)
near("argmax", ec.value(ec.curve(-s:db():value(), f):argmax()), c, 2e4)

-- masks: 0.9 to 0.95 GHz at most -1 dB, the middle at most -15 dB, a slope
near("mask", ec.value(s:mask{ { from = 0.9e9, to = 0.95e9, max_db = -1 } }), level(0.9e9) + 1, 1e-9)
near("mask of two", ec.value(s:mask{ { from = 0.9e9, to = 0.95e9, max_db = 0 }, { from = 1.012e9, to = 1.0125e9, max_db = -60 } }),
    level(1.012e9) + 60, 1e-9)
near("floor", ec.value(s:mask{ { from = 1.012e9, to = 1.0125e9, min_db = -20 } }), -20 - level(1.012e9), 1e-9)
near("slope", ec.value(s:db():mask{ { from = 0.9e9, to = 0.95e9, max_db = { -10, -2 } } }), math.max(level(0.9e9) + 10, level(0.95e9) + 2), 1e-6)

-- parts
local part = s:part(1.1e9, 1.15e9)
assert(#part == 51 and part:frequency()[1] == 1.1e9)
near("part", ec.value(part:min_db()), level(1.1e9), 1e-9)
near("part in dB", ec.value(s:db():part(1.1e9, 1.15e9):max_db()), level(1.15e9), 1e-9)

-- frequencies a long way apart, and few of them
near("uneven", ec.value(ec.curve({ 4, 1, 0, 1, 4, 9 }, { 1, 2, 3, 4, 5, 6 }):argmin()), 3, 1e-12)
near("uneven parabola", ec.value(ec.curve({ 9, 0.25, 6.25 }, { 1, 3.5, 6.5 }):argmin()), 4, 1e-12)
near("flat", ec.value(ec.curve({ 2, 2, 2 }, { 1, 2, 3 }):argmin()), 1, 0)
near("two", ec.value(ec.curve({ 4, 1 }, { 1, 2 }):argmin()), 2, 0)
near("one", ec.value(ec.curve({ 4 }, { 1 }):at(1)), 4, 0)
near("zero", ec.value(ec.curve({ 0, 1 }, { 1, 2 }):db():min_db()), -300, 1e-9)

-- of a design variable: the search finds where the dip is wanted
local moved = resonator(f0)
job:minimize("miss", ec.abs(moved:argmin() - 0.95e9))
job:record("level", moved:db())
job:record("band", moved:band_below_db(-10))
local best = job:solve{ method = "rand1bin", population = 20, generations = 40 }
near("search", best.variables.f0, 0.95e9, 1e5)
near("recorded", best.recorded.band, x * 0.95e9 / Q, 3e4)

-- errors
local cases = {
    { function() return s:argmn() end, "expressions have no method 'argmn' (did you mean 'argmin'?)" },
    { function() return s:at(2e9) end, "curve:at: 2000000000 Hz is not among the frequencies, 800000000 to 1200000000 Hz" },
    { function() return s:at() end, "curve:at: wants a frequency in Hz" },
    { function() return s:at{ 1e9, 1.1e9 } end, "curve:at: wants a single frequency, got 2" },
    { function() return s:abs():min_db() end, "curve:min_db: the values are not in dB" },
    { function() return s:abs():im() end, "curve:im: the values are real" },
    { function() return s:band_below_db() end, "curve:band_below_db: wants a level in dB" },
    { function() return s:mask(3) end, "curve:mask: wants a list of lines, as in" },
    { function() return s:mask{} end, "curve:mask: the list of lines is empty" },
    { function() return s:mask{ { from = 1e9, to = 1.1e9 } } end, "curve:mask: line 1: no limit: give max_db or min_db" },
    { function() return s:mask{ { from = 1e9, max_db = 3 } } end, "curve:mask: line 1: key 'to' is missing" },
    { function() return s:mask{ { from = 1e9, to = 1.1e9, max = 3 } } end, "curve:mask: line 1: unknown key 'max'" },
    { function() return s:mask{ { from = 2e9, to = 1e9, max_db = 3 } } end, "from, 2000000000 Hz, lies above to, 1000000000 Hz" },
    { function() return s:mask{ { from = 2e9, to = 3e9, max_db = 3 } } end, "no frequency lies from 2000000000 to 3000000000 Hz" },
    { function() return s:mask{ { from = 1e9, to = 1.1e9, max_db = { 1, 2, 3 } } } end, "key 'max_db': 3 numbers; one, or two" },
    { function() return s:part(1e9) end, "curve:part: wants two frequencies in Hz" },
    { function() return s:part(2e9, 3e9) end, "curve:part: no frequency lies from 2000000000 to 3000000000 Hz" },
    { function() return ec.curve({ 1, 2 }) end, "ec.curve: wants an expression and its frequencies" },
    { function() return ec.curve({ 1, 2 }, { 1, 2, 3 }) end, "ec.curve: the expression has 2 elements for 3 frequencies" },
    { function() return ec.curve({ 1, 2 }, { 2, 1 }) end, "ec.curve: frequency 2 is 1; they have to be at least 0 and ascending" },
}
for i, case in ipairs(cases) do
    local good, message = pcall(case[1])
    assert(not good and message:find(case[2], 1, true) and message:find("^curves.lua:%d+: "),
        ("case %d: expected '%s', got '%s'"):format(i, case[2], tostring(message)))
end
print("curves agree with closed forms")
