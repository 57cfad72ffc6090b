-- expect: a dipole of 2.15 dB
-- expect: S21 of 2 frequencies
local ec = require "eciton"
local one = ec.load_pattern("dipole.ffd", { frequency = 1*ec.GHz })
assert(one.n_theta == 13 and one.n_phi == 25 and one.frequency == 1e9)
assert(#one.theta_deg == 13 and math.abs(one.theta_deg[13] - 180) < 1e-12 and #one.phi_deg == 25)
assert(math.abs(one.peak - 1) < 1e-3)
-- on the directions of the table and between them
local re, im, cross = one:field(0, 0)
assert(math.abs(re + 1) < 1e-8 and im == 0 and math.abs(cross) < 1e-8)
re = one:field(0, 90)
assert(math.abs(re) < 1e-8)
assert(math.abs(select(3, one:field(0, 90)) - 1) < 1e-8)
local t = math.rad(40)
assert(math.abs(one:field(40, 0) + math.cos(math.pi / 2 * math.sin(t)) / math.cos(t)) < 1e-3)
local both = ec.load_pattern("dipole.ffd", { frequency = 1.5*ec.GHz })
assert(math.abs(both.peak - 2) < 2e-3 and both.frequency == 1.5e9)
local near = ec.load_pattern("dipole.ffd", { frequency = 9*ec.GHz, select = "nearest" })
assert(math.abs(near.peak - 3) < 3e-3 and near.frequency == 2e9)
print(("a dipole of %.2f dB"):format(one.directivity_db))

local s = ec.load_touchstone("coupling.s2p")
assert(s.n_ports == 2 and #s.frequency == 2 and s.frequency[1] == 0.9e9 and s.reference[2] == 50)
local x, y = s:s(2, 1)
assert(x[2] == -0.18 and y[2] == 0.11 and s:s(1, 2)[2] == -0.17)
print("S21 of " .. #x .. " frequencies")

-- what is wrong is an error
for _, bad in ipairs{
    function() return one.directivity end, function() return s.ports end,
    function() return one:field("up", 0) end, function() return s:s(0, 1) end,
    function() return s:s(3, 1) end, function() return one.field(1, 2) end,
    function() return ec.load_pattern("dipole.ffd", { frequency = -1 }) end,
    function() return ec.load_pattern(3) end, function() return ec.load_touchstone() end,
    function() one.peak = 3 end } do
    assert(not pcall(bad))
end
