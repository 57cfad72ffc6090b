-- A u cut through v = 0 has a far field, even in theta; of other grids a line says why there is none.
-- flags: --out OUT --data OUT
-- expect: pattern_2.cut was not written: far field: the array has a u-v grid; a list theta_deg is needed
-- expect: pattern_3.cut was not written: far field: the array has a u cut beside v = 0
-- expect: pattern_4.cut was not written: far field: the array has a phi cut
-- expect: read back	31	2	90.0
-- file: pattern.cut
local ec = require "eciton"
local job = ec.job{ name = "files" }
local a = job:real{ name = "a", count = 6, min = 0.5, max = 1 }
local function array(keys)
    keys.x, keys.amplitude, keys.wavelength, keys.element = ec.geometry.line{ count = 6, spacing = 0.5 }.x, a, 1, "cosq"
    return ec.array(keys)
end
local line = array{ u = ec.range(-1, 1, 61), steer_u = 0.2 }
job:minimize("line", line:sll_db{ exclude_u = 0.4 })
job:record("plane", array{ u = ec.range(-1, 1, 21), v = ec.range(-1, 1, 21) }:sll_db{ exclude_u = 0.4 })
job:record("beside", array{ u = ec.range(-0.9, 0.9, 21), v = 0.1 }:sll_db{ exclude_u = 0.4 })
job:record("around", array{ theta_deg = 45, phi_deg = ec.range(0, 360, 73) }:sll_db{ look_deg = 90, exclude_deg = 40 })
local best = job:solve{ population = 20, generations = 2 }

local field = ec.load_pattern("pattern.cut")
print("read back", field.n_theta, field.n_phi, field.theta_deg[31])
local function power(theta, phi)
    local re_theta, im_theta, re_phi, im_phi = field:field(theta, phi)
    return re_theta ^ 2 + im_theta ^ 2 + re_phi ^ 2 + im_phi ^ 2
end
for _, theta in ipairs{ 0, 12, 27, 60 } do
    for phi = 0, 180, 180 do
        local u = math.sin(math.rad(theta)) * (phi == 0 and 1 or -1)
        local level = best:value(line:level_db{ u = u, relative = false })
        assert(math.abs(10 * math.log(power(theta, phi), 10) - level) < 1e-6, theta .. " " .. phi)
    end
end
