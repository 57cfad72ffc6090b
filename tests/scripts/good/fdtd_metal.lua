-- expect: conductors lose what the skin effect takes
-- Quality factors of resonators with walls of metal against theory, from one band: the surface's resistance grows with
-- the root of the frequency, and its inductance lowers the resonances.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local mu, eta, c = 4e-7 * math.pi, 376.730313, 299792458
local function near(what, value, wanted, part)
    assert(math.abs(value / wanted - 1) < part, ("%s: %.6g instead of %.6g"):format(what, value, wanted))
end

-- a line of parallel plates between electric walls: Q is the distance of the plates over the skin depth
local L, w, d = 60*mm, 4*mm, 6*mm
local function parallel(solid, metal, sigma, both)
    local size, off = solid and { L, w, 4*mm } or { L, w }, solid and 2*mm or 0
    local make = solid and ec.box or ec.plate
    local model = ec.fdtd{ frequency = ec.range(2*GHz, 8*GHz, 13), cell = 2*mm, steps = 5000,
        boundary = { x = "pec", y = "pmc", z = solid and "pec" or "pmc" },
        domain = { from = { 0, 0, -4*mm }, to = { L, w, d + 4*mm } },
        make{ size = size, at = { L/2, w/2, -off }, material = metal },
        make{ size = size, at = { L/2, w/2, d + off }, material = metal },
        ec.source{ name = "in", from = { 8*mm, 2*mm, 2*mm }, to = { 8*mm, 2*mm, 4*mm } } }
    local f, q = ec.value(model:modes{ count = 3 }, model:q{ count = 3 })
    for i = 1, 3 do
        local depth = 1 / math.sqrt(math.pi * f[i] * mu * sigma)
        near(("Q of mode %d"):format(i), q[i], d / depth * (both and 2 or 1), 0.01)
        if i == 1 then near("its frequency", f[i], c / (2*L) * (1 - depth / (both and 4 or 2) / d), 5e-4) end
    end
end
parallel(true, { metal = 1e6 }, 1e6)
parallel(false, { metal = 1e6 }, 1e6)
parallel(false, { metal = 1e6, sides = 2 }, 1e6, true)

-- TE101 of a cavity of copper
local a, b, l, cell = 50*mm, 20*mm, 60*mm, 5*mm
local cavity = ec.fdtd{ frequency = ec.range(3.5*GHz, 4.5*GHz, 11), boundary = "pec", cell = cell, steps = 6000,
    domain = { from = { -cell, -cell, -cell }, to = { a + cell, b + cell, l + cell } },
    ec.box{ size = { a + 2*cell, b + 2*cell, l + 2*cell }, at = { a/2, b/2, l/2 }, material = "copper" },
    ec.box{ size = { a, b, l }, at = { a/2, b/2, l/2 }, material = "air" },
    ec.source{ name = "in", from = { 20*mm, 10*mm, 25*mm }, to = { 20*mm, 15*mm, 25*mm } } }
local f = c / 2 * math.sqrt(1 / a^2 + 1 / l^2)
local k, ohms = 2 * math.pi * f / c, math.sqrt(math.pi * f * mu / 5.8e7)
near("Q of the cavity", ec.value(cavity:q{ count = 1 }[1]), (k * a * l)^3 * b * eta /
    (2 * math.pi^2 * ohms * (2 * a^3 * b + 2 * b * l^3 + a^3 * l + a * l^3)), 0.015)

-- a port's ends lie on metal as on any conductor, not in it; more than one surface at a time
local function ported(keys, from, material)
    local all = { frequency = 10*GHz, steps = 50, air = 4*mm, layers = 4,
        ec.plate{ size = { 10*mm, 10*mm }, material = material or "copper" },
        ec.box{ size = { 6*mm, 6*mm, 1*mm }, at = { 0, 0, 2.5*mm }, material = "gold" },
        ec.port{ from = { 0, 0, from }, to = { 0, 0, 2*mm } } }
    for key, value in pairs(keys) do all[key] = value end
    return ec.value(ec.fdtd(all):steps(1))
end
assert(ported({}, 0) == 50 and ported({ edge_correction = true }, 0, { metal = 4e7 }) == 50)
for _, case in ipairs{
    { { {}, 3*mm }, "port '1' lies in metal at" },
    { { { conformal = true }, 0 }, "its metal has losses, which conformal conductors do not have" },
    { { {}, 0, "coper" }, "unknown material 'coper' (did you mean 'copper'?)" },
    { { {}, 0, { metal = 1e6, eps_r = 2 } }, "key 'metal': it goes without eps_r" },
    { { {}, 0, { metal = 1e6, mu_r = 2 } }, "key 'metal': it goes without mu_r" },
    { { {}, 0, { sides = 2 } }, "key 'sides': it goes with metal" },
    { { {}, 0, { metal = 0 } }, "key 'metal': 0 is not allowed" },
    { { {}, 0, { metal = 5 } }, "5 S/m is no metal at 10 GHz, where one has at least 5.56 S/m" },
    { { { [3] = ec.wire{ from = { 3*mm, 0, 0 }, to = { 3*mm, 0, 1*mm }, material = "copper" } }, 0 }, "a wire is pec" },
} do
    local ok, message = pcall(ported, table.unpack(case[1]))
    assert(not ok and tostring(message):find(case[2], 1, true), message)
end
print("conductors lose what the skin effect takes")
