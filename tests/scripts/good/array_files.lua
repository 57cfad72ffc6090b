-- flags: --out OUT --data OUT
-- expect: read back: 1241 directions
-- expect: pattern_3.cut was not written: a .cut file has even steps
-- file: elements.csv
-- file: pattern.csv
-- file: pattern_u_cut.csv
-- file: pattern_v_cut.csv
-- file: elements_2.csv
-- file: pattern_2.csv
-- file: pattern_2.ffd
-- file: pattern_2.cut
-- file: pattern_uv_2.csv
-- file: pattern_theta_cut_2.csv
-- file: pattern_phi_cut_2.csv
-- file: elements_3.csv
-- file: pattern_3.csv
-- file: pattern_4.cut
-- file: pattern_5.csv
-- file: line.cut
local ec = require "eciton"
local job = ec.job{ name = "files" }
local g = ec.geometry.cylinder{ radius = 2, spacing = 0.5, columns = 5, rows = 4 }
local a = job:real{ name = "a", count = #g.x, min = 0.5, max = 1 }
local function array(keys)
    keys.x, keys.y, keys.z, keys.amplitude, keys.wavelength = g.x, g.y, g.z, a, 1
    return ec.array(keys)
end
local dipole = { element = "short_dipole", axis = { 0, 1, 0 }, steer_theta_deg = 20, steer_phi_deg = 40 }
local function with(keys, more)
    for k, v in pairs(more) do keys[k] = v end
    return keys
end
local sphere = array(with({ theta_deg = ec.range(0, 80, 17), phi_deg = ec.range(0, 360, 73) }, dipole))
local plane = array{ u = ec.range(-1, 1, 41), v = ec.range(-1, 1, 41), steer_u = 0.1 }
local cut = array(with({ theta_deg = { -80, -10, 0, 5, 60 } }, dipole))
local line = array(with({ theta_deg = ec.range(-90, 90, 61) }, dipole))
job:minimize("sll_db", plane:excess_db{ mask = { { 0.35, 3, max = -20 } } })
job:record("directivity_db", sphere:directivity_db())
job:record("level_db", cut:level_db{ theta_deg = 0 })
job:record("xpol_db", line:xpol_db())
local best = job:solve{ population = 20, generations = 3 }

-- what is written is read back
local theta = array(with({ theta_deg = ec.range(0, 80, 17), phi_deg = ec.range(0, 360, 73), polarization = "theta" },
    dipole))
local phi = array(with({ theta_deg = ec.range(0, 80, 17), phi_deg = ec.range(0, 360, 73), polarization = "phi" },
    dipole))
local want = { best:value(ec.re(theta:pattern())), best:value(ec.im(theta:pattern())),
    best:value(ec.re(phi:pattern())), best:value(ec.im(phi:pattern())) }
best:save("own.ffd", sphere)
best:save("own.CUT", phi)
best:save("own.csv", plane)
best:save("line.cut", line)
for _, name in ipairs{ "pattern_2.ffd", "pattern_2.cut", "own.ffd", "own.CUT" } do
    local field, n = ec.load_pattern(name), 0
    assert(field.n_theta == 17 and field.n_phi == 73)
    assert(name:lower():find("cut") or math.abs(field.frequency - ec.c0) < 1)
    for i, t in ipairs(field.theta_deg) do
        for k, p in ipairs(field.phi_deg) do
            local is = { field:field(t, p) }
            for part = 1, 4 do
                -- on the last phi the spline's table has its first one again
                assert(math.abs(is[part] - want[part][(i - 1) * 73 + k]) < 1e-9 * field.peak, name)
            end
            n = n + 1
        end
    end
    if name == "own.ffd" then print(("read back: %d directions"):format(n)) end
end
for _, name in ipairs{ "elements.csv", "elements_2.csv", "own.csv" } do
    local table, geometry = ec.load_csv(name), ec.geometry.csv{ file = name }
    for i = 1, #g.x do
        assert(geometry.x[i] == g.x[i] and geometry.z[i] == g.z[i])
        assert(table.amplitude[i] == best.variables.a[i])
    end
end
-- of a u-v grid the cuts have the limits of the mask
local cut_u = ec.load_csv("pattern_u_cut.csv")
assert(#cut_u.max_db == 1001 and math.abs(cut_u.max_db[1] + 20) < 0.01 and cut_u.max_db[501] ~= cut_u.max_db[501])
-- the cross-polar field of array 4 has a pattern, but no table of its own
assert(not pcall(ec.load_csv, "elements_5.csv"))
-- arrays may be saved that the job does not use; what cannot be written is an error
for _, bad in ipairs{
    function() best:save("bad.ffd", plane) end, function() best:save("bad.cut", cut) end,
    function() best:save("bad.npy", sphere) end, function() best:save("bad.csv", g) end,
    function() best:save("bad.csv", nil) end, function() best:save("../bad.ffd", sphere) end } do
    assert(not pcall(bad))
end
