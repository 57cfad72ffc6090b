-- expect: half-wave dipole 2.151 dB
-- expect: short dipole 1.761 dB
-- expect: tilted cosq 7.782 dB
-- expect: loaded 2.151 dB
-- expect: cross-polar -12.86 dB
-- expect: co-polar field
local ec = require "eciton"
local job = ec.job{ name = "elements", seed = 1 }
local w = job:real{ name = "w", min = 0.9, max = 1 }
local function one(keys)
    keys.x, keys.wavelength, keys.amplitude = {0}, 1, w
    keys.theta_deg, keys.phi_deg = ec.range(0, 180, 19), ec.range(0, 360, 37)
    return ec.array(keys)
end
local dipole = one{ element = "halfwave_dipole", axis = {0, 0, 2} }
local short = one{ element = "short_dipole" }
local tilted = one{ element = "cosq", q = 1, normal = {1, 0, 1}, rotation_deg = 30 }
local loaded = one{ element = ec.load_pattern("dipole.ffd", { frequency = 1*ec.GHz }) }
-- the default axis is x; co of a dipole along x is all there is at broadside
local line = ec.array{ x = {-0.3, 0.2, 0.9}, amplitude = ec.concat(w, 1, 1), wavelength = 1,
    element = "halfwave_dipole", polarization = "co", theta_deg = ec.range(-90, 90, 181) }
local across = ec.array{ x = {-0.3, 0.2, 0.9}, amplitude = ec.concat(w, 1, 1), wavelength = 1,
    element = "halfwave_dipole", polarization = "cross", copolar_deg = 90,
    theta_deg = ec.range(-90, 90, 181) }
job:maximize("sll", line:sll_db{ exclude_deg = 30 })
local best = job:solve{ method = "de", population = 8, evaluations = 64 }
local function value(array, theta, phi)
    return best:value(array:directivity_db{ look_theta_deg = theta, look_phi_deg = phi })
end
print(("half-wave dipole %.3f dB"):format(value(dipole, 90, 0)))
print(("short dipole %.3f dB"):format(value(short, 0, 0)))
print(("tilted cosq %.3f dB"):format(value(tilted, 45, 0)))
print(("loaded %.3f dB"):format(value(loaded, 90, 90)))
-- at broadside the cross-polar field over y is the co-polar one over x
local at = { theta_deg = {10, 40}, relative = false }
local co, cross = best:value(line:level_db(at)), best:value(across:level_db(at))
assert(math.abs(co[1] - cross[1]) < 1e-9 and math.abs(co[2] - cross[2]) < 1e-9)
-- around a cylinder: normals, an angle for each, patterns of each
local sector = { -0.6, -0.2, 0.2, 0.6 }
local x, z, nx, ny, nz, turn = {}, {}, {}, {}, {}, {}
for i, a in ipairs(sector) do
    x[i], z[i], nx[i], ny[i], nz[i] = math.sin(a), math.cos(a), 2 * math.sin(a), 0, 2 * math.cos(a)
    turn[i] = 10 * i - 25
end
local grid = { x = x, z = z, wavelength = 1, theta_deg = ec.range(-90, 90, 181), phi_deg = 20 }
local function on_cylinder(keys)
    for k, v in pairs(grid) do keys[k] = v end
    keys.normals = { nx, ny, nz }
    return ec.array(keys)
end
local one = ec.load_pattern("dipole.ffd", { frequency = 1*ec.GHz })
local all = on_cylinder{ element = one, polarization = "cross", rotation_deg = turn }
local each = on_cylinder{ element = { one, one, one, one }, polarization = "cross", rotation_deg = turn }
local closed = on_cylinder{ element = "halfwave_dipole", polarization = "cross", rotation_deg = turn }
local behind = on_cylinder{ element = "cosq" }
local at = { theta_deg = {-50, 20, 70}, relative = false }
local a, e, c = best:value(all:level_db(at)), best:value(each:level_db(at)), best:value(closed:level_db(at))
for i = 1, 3 do assert(a[i] == e[i] and math.abs(a[i] - c[i]) < 0.05) end
print(("cross-polar %.2f dB"):format(best:value(closed:xpol_db())))
assert(best:value(behind:xpol_db()) < -20)
-- one normal and an angle for each: a quadrature over the front half, where hemispheric elements jump
local flat = { x = { -0.8, -0.1, 0.5, 1 }, y = { 0.3, -0.6, 0.9, -0.2 }, wavelength = 1, u = ec.range(-1, 1, 41),
    v = ec.range(-1, 1, 41) }
for _, element in ipairs{ "hemispheric", "cosq" } do
    local d = {}
    for i, rotation in ipairs{ 40, { 40, 40, 40, 40 } } do
        flat.element, flat.rotation_deg = element, rotation
        d[i] = ec.value(ec.array(flat):directivity_db())
    end
    assert(math.abs(d[1] - d[2]) < 1e-6, element)
end
