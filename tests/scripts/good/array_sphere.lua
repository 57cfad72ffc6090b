-- expect: side lobes of the whole sphere
-- expect: outside the cone of 15 deg about the steering direction
local ec = require "eciton"
local function close(expr, wanted, limit, what)
    local got = ec.value(expr)
    assert(math.abs(got - wanted) <= limit, ("%s: %.8g, not %.8g"):format(what, got, wanted))
end

-- level of a line's highest side lobe over psi from the first null on, |sin(n psi / 2) / (n sin(psi / 2))|
local function line_level(n, most)
    local top = 0
    for k = 0, 200000 do
        local psi = 2 * math.pi / n + (most - 2 * math.pi / n) * k / 200000
        top = math.max(top, math.abs(math.sin(n * psi / 2) / (n * math.sin(psi / 2))))
    end
    return 20 * math.log(top, 10)
end

-- grids of the sphere: phi from 0 and from -180, its end given twice or once, and an odd step
local grids = {
    { ec.range(0, 180, 91), ec.range(0, 360, 121) },
    { ec.range(0, 180, 91), ec.range(-180, 177, 120) },
    { ec.range(0, 180, 76), ec.range(10, 370, 145) },
}

-- ---- a uniform plane: the line's lobe in front, and behind the same pattern once more --------------
local plane = ec.geometry.rectangle{ count_x = 8, count_y = 8, spacing_x = 0.5, spacing_y = 0.5 }
local lobe = line_level(8, math.pi)
for i, grid in ipairs(grids) do
    local function array(keys)
        keys.x, keys.y, keys.wavelength, keys.theta_deg, keys.phi_deg = plane.x, plane.y, 1, grid[1], grid[2]
        return ec.array(keys)
    end
    close(array{}:sll_db(), 0, 1e-6, "the back lobe counts, grid " .. i)
    close(array{}:sll_db{ exclude_deg = 16 }, 0, 1e-6, "outside a cone too, grid " .. i)
    local front = array{ element = "hemispheric" }
    close(front:sll_db(), lobe, 2e-3, "main beam at a pole, grid " .. i)
    close(front:sll_db{ exclude_deg = 14.4775 }, lobe, 2e-3, "a cone about a pole, grid " .. i)
    local back = array{ element = "hemispheric", normal = { 0, 0, -1 }, steer_theta_deg = 180 }
    close(back:sll_db(), lobe, 2e-3, "main beam at the other pole, grid " .. i)
    close(back:sll_db{ exclude_deg = 14.4775 }, lobe, 2e-3, "a cone about the other pole, grid " .. i)
    -- steered to every side of the turn, beyond its seam too: what the u-v grid sees
    for _, phi in ipairs{ 0, 90, 180, 355 } do
        local keys = { x = plane.x, y = plane.y, wavelength = 1, u = ec.range(-1, 1, 81), v = ec.range(-1, 1, 81),
            steer_theta_deg = 30, steer_phi_deg = phi }
        local wanted = ec.value(ec.array(keys):sll_db())
        local steered = array{ element = "hemispheric", steer_theta_deg = 30, steer_phi_deg = phi }
        close(steered:sll_db(), wanted, 2e-3, ("steered to phi %d, grid %d"):format(phi, i))
        close(steered:pointing_error_deg(), 0, 1e-5, "its peak")
    end
    -- next to the pole the beam holds it
    local near = array{ element = "hemispheric", steer_theta_deg = 2.5, steer_phi_deg = 10 }
    close(near:sll_db(), ec.value(near:sll_db{ exclude_deg = 14.6 }), 1e-6, "beam over the pole, grid " .. i)
end

-- ---- an end-fire line: one cone of a beam, its lobes rings, the last lobe behind -------------------
local n, spacing = 10, 0.3
local wanted = line_level(n, 4 * math.pi * spacing)
local list = ec.geometry.line{ count = n, spacing = spacing }.x
for i, grid in ipairs(grids) do
    for _, way in ipairs{ { "z", 0, 0 }, { "z", 180, 0 }, { "x", 90, 0 }, { "x", 90, 180 }, { "y", 90, 90 } } do
        local keys = { wavelength = 1, theta_deg = grid[1], phi_deg = grid[2], steer_theta_deg = way[2],
            steer_phi_deg = way[3] }
        keys[way[1]] = list
        local array = ec.array(keys)
        local what = ("end-fire along %s to %d, %d, grid %d"):format(way[1], way[2], way[3], i)
        close(array:sll_db(), wanted, 2e-3, what)
        -- the first null is at cos = 1 - 1 / (n spacing)
        close(array:sll_db{ exclude_deg = math.deg(math.acos(1 - 1 / (n * spacing))) }, wanted, 2e-3, what .. ", a cone")
        close(array:pointing_error_deg(), 0, 1e-4, what .. ", its peak")
    end
end

-- ---- the search sees the same, to its grid ----------------------------------------------------------
local job = ec.job{ name = "sphere", seed = 1 }
local tilt = job:real{ name = "tilt_deg", min = 0, max = 60 }
local array = ec.array{ x = plane.x, y = plane.y, wavelength = 1, element = "hemispheric", steer_theta_deg = tilt,
    steer_phi_deg = 0, theta_deg = ec.range(0, 180, 91), phi_deg = ec.range(0, 360, 121) }
job:minimize("sll", array:sll_db{ exclude_deg = 15 })
local best = job:solve{ population = 16, evaluations = 64 }
assert(best.objectives.sll < -12.5 and best.objectives.sll > -14, best.objectives.sll)
print("side lobes of the whole sphere")
