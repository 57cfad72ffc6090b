-- expect: metrics beside own sums
-- flags: --out OUT
-- refuse: nan
local ec = require "eciton"

local function value(expr) return type(expr) == "number" and expr or ec.value(expr) end
local function close(expr, wanted, limit, what)
    local got = value(expr)
    assert(math.abs(got - wanted) <= limit, ("%s: %.8g, not %.8g"):format(what, got, wanted))
end
local function refuses(text, call, ...)
    local good, why = pcall(call, ...)
    assert(not good and why:find(text, 1, true), tostring(why))
end
local function db(power) return 10 * math.log(power, 10) end

-- |F|^2 of elements with weights a, phases p (rad) and positions in wavelengths, towards u, v, w
local function power(e, u, v, w)
    local re, im = 0, 0
    for m = 1, #e.x do
        local phase = 2 * math.pi * (e.x[m] * u + (e.y and e.y[m] or 0) * v + (e.z and e.z[m] or 0) * w)
            + (e.phase and e.phase[m] or 0)
        local a = e.amplitude and e.amplitude[m] or 1
        re, im = re + a * math.cos(phase), im + a * math.sin(phase)
    end
    return re * re + im * im
end

-- ---- dynamic range ---------------------------------------------------------------------------------
local x8 = ec.geometry.line{ count = 8, spacing = 0.5 }.x
local cut = ec.range(-1, 1, 401)
local tapered = ec.array{ x = x8, wavelength = 1, u = cut, amplitude = { 0.1, -0.5, 0, 0.8, 0.8, 0, 0.4, 0.05 } }
close(tapered:dynamic_range_db(), 20 * math.log(0.8 / 0.05, 10), 1e-12, "dynamic range, two elements off")
close(ec.array{ x = x8, wavelength = 1, u = cut }:dynamic_range_db(), 0, 0, "dynamic range of equal elements")
local chebyshev = ec.taper.chebyshev{ count = 8, sll_db = -30 }
local coupled = ec.array{ x = { 0, 0.5 }, frequency = 0.95 * ec.GHz, u = cut, amplitude = { 1, 0.25 },
    coupling = ec.load_touchstone("coupling.s2p") }
close(coupled:dynamic_range_db(), 20 * math.log(4, 10), 1e-12, "dynamic range of the waves that feed ports")
local optimal = ec.optimal{ x = x8, wavelength = 1, look_u = 0.1, null_u = { 0.5, -0.4 } }
local a = value(optimal.amplitude)
local most, least = 0, math.huge
for m = 1, 8 do most, least = math.max(most, math.abs(a[m])), math.min(least, math.abs(a[m])) end
close(ec.array{ weights = optimal, u = cut }:dynamic_range_db(), 20 * math.log(most / least, 10), 1e-9,
    "dynamic range of optimal weights")

-- ---- pointing error: a beam whose phases were set for other frequencies or rounded -----------------
local squint = { x = x8, wavelength = 0.8, amplitude = chebyshev, phase = {} }
for m = 1, 8 do squint.phase[m] = -2 * math.pi * x8[m] * 0.5 end -- u = 0.5 at wavelength 1, 0.4 at 0.8
local wanted = math.deg(math.asin(0.5) - math.asin(0.4))
local function with(keys)
    for k, v in pairs(squint) do keys[k] = v end
    return ec.array(keys)
end
close(with{ u = ec.range(-1, 1, 81) }:pointing_error_deg{ look_u = 0.5 }, wanted, 1e-6, "squint of a u cut")
close(with{ theta_deg = ec.range(-90, 90, 91) }:pointing_error_deg{ look_deg = 30 }, wanted, 1e-6, "of a theta cut")
close(with{ theta_deg = ec.range(-180, 180, 181) }:pointing_error_deg{ look_deg = 30 }, wanted, 1e-6,
    "of a full turn, with a mirror beam")
close(with{ u = ec.range(-1, 1, 41), v = ec.range(-0.6, 0.6, 25) }:pointing_error_deg{ look_u = 0.5 }, wanted, 1e-5,
    "of a u-v grid, along the ridge of a line")
close(with{ theta_deg = ec.range(0, 180, 61), phi_deg = ec.range(0, 360, 73) }:pointing_error_deg{
    look_theta_deg = 30, look_phi_deg = 0 }, wanted, 1e-5, "of a theta-phi grid with a mirror beam")
-- a plane: squint in both coordinates, the great-circle angle between the two directions
local plane = ec.geometry.rectangle{ count_x = 6, count_y = 5, spacing_x = 0.5, spacing_y = 0.45 }
local phase = {}
for m = 1, plane.n do phase[m] = -2 * math.pi * (plane.x[m] * 0.3 - plane.y[m] * 0.4) end
local function unit(u, v) return { u, v, math.sqrt(1 - u * u - v * v) } end
local function angle(p, q) return math.deg(math.acos(p[1] * q[1] + p[2] * q[2] + p[3] * q[3])) end
local wide = { x = plane.x, y = plane.y, wavelength = 0.9, phase = phase, steer_u = 0, steer_v = 0 }
wide.u, wide.v = ec.range(-1, 1, 41), ec.range(-1, 1, 37)
close(ec.array(wide):pointing_error_deg{ look_u = 0.3, look_v = -0.4 }, angle(unit(0.3, -0.4), unit(0.27, -0.36)), 1e-5,
    "squint of a plane")
wide.u, wide.v, wide.theta_deg, wide.phi_deg = nil, nil, ec.range(0, 90, 46), ec.range(0, 360, 91)
close(ec.array(wide):pointing_error_deg{ look_theta_deg = 30, look_phi_deg = -math.deg(math.atan(4 / 3)) },
    angle(unit(0.3, -0.4), unit(0.27, -0.36)), 1e-5, "squint of a plane in angles")
close(ec.array{ x = x8, wavelength = 1, u = cut, steer_u = 0.35 }:pointing_error_deg(), 0, 1e-6, "a steered beam")

-- ---- side-lobe average -----------------------------------------------------------------------------
-- a u cut by a dense sum over u
local e = { x = x8, amplitude = chebyshev }
local sum, n = 0, 40000
for k = 0, n - 1 do
    local u = 0.4 + 0.6 * (k + 0.5) / n
    sum = sum + power(e, u, 0, 0) / n
end
local line = ec.array{ x = x8, amplitude = chebyshev, wavelength = 1, u = ec.range(-1, 1, 201) }
close(line:sll_mean_db{ exclude_u = 0.4 }, db(sum / power(e, 0, 0, 0)), 5e-3, "mean of a u cut")
-- on one side only
close(ec.array{ x = x8, amplitude = chebyshev, wavelength = 1, u = ec.range(0, 1, 101) }:sll_mean_db{ exclude_u = 0.4 },
    db(sum / power(e, 0, 0, 0)), 5e-3, "mean of half a u cut")
-- to the first nulls: uniform line, nulls at +-2/8
sum = 0
for k = 0, n - 1 do sum = sum + power({ x = x8 }, 0.25 + 0.75 * (k + 0.5) / n, 0, 0) / n end
close(ec.array{ x = x8, wavelength = 1, u = ec.range(-1, 1, 201) }:sll_mean_db(), db(sum / 64), 5e-3,
    "mean to the first nulls")
-- a theta cut by the angle, a full turn
local turn, steer = 0, math.sin(math.rad(20))
local es = { x = x8, phase = {} }
for m = 1, 8 do es.phase[m] = -2 * math.pi * x8[m] * steer end
local weight = 0
for k = 0, n - 1 do
    local t = -180 + 360 * (k + 0.5) / n
    if math.abs(t - 20) > 25 then
        turn, weight = turn + power(es, math.sin(math.rad(t)), 0, 0), weight + 1
    end
end
close(ec.array{ x = x8, wavelength = 1, steer_theta_deg = 20, theta_deg = ec.range(-180, 180, 361) }
    :sll_mean_db{ exclude_deg = 25 }, db(turn / weight / 64), 5e-3, "mean of a full turn")
-- surfaces by the solid angle, the ellipse and the cone
local ep = { x = plane.x, y = plane.y }
local half, cone, whole, wh, wc, ww = 0, 0, 0, 0, 0, 0
local steps = 400
for i = 0, steps - 1 do
    local t = math.pi * (i + 0.5) / steps
    for k = 0, steps - 1 do
        local f = 2 * math.pi * (k + 0.5) / steps
        local u, v, w = math.sin(t) * math.cos(f), math.sin(t) * math.sin(f), math.cos(t)
        local s = math.sin(t)
        local p = power(ep, u, v, w) * s
        if w > 0 and (u / 0.4) ^ 2 + (v / 0.5) ^ 2 > 1 then half, wh = half + p, wh + s end
        if w < math.cos(math.rad(25)) then cone, wc = cone + p, wc + s end
    end
end
local flat = { x = plane.x, y = plane.y, wavelength = 1, u = ec.range(-1, 1, 81), v = ec.range(-1, 1, 81) }
close(ec.array(flat):sll_mean_db{ exclude_u = 0.4, exclude_v = 0.5 }, db(half / wh / 900), 0.03, "mean of a u-v grid")
local sphere = { x = plane.x, y = plane.y, wavelength = 1, theta_deg = ec.range(0, 180, 91), phi_deg = ec.range(0, 360, 121) }
close(ec.array(sphere):sll_mean_db{ exclude_deg = 25 }, db(cone / wc / 900), 0.03, "mean of a sphere")
-- the mean of |F|^2 over the whole sphere is the directivity's own integral
close(ec.array(sphere):sll_mean_db{ exclude_deg = 1e-3 }, -value(ec.array(sphere):directivity_db()), 0.02,
    "mean over all directions")

-- ---- scan loss -------------------------------------------------------------------------------------
-- isotropic half-wave line: no loss at all by its exact directivity; a large plane: the cosine of its projection
local steered = ec.array{ x = x8, wavelength = 1, u = cut, steer_u = 0.5 }
close(steered:scan_loss_db(), 0, 1e-9, "scan loss of a half-wave line")
local function pairs_sum(spacing, u) -- directivity by sum a_m a_n cos(..) sinc
    local s = 0
    for m = 1, 8 do
        for k = 1, 8 do
            local d = (m - k) * spacing
            s = s + math.cos(2 * math.pi * d * u) * (d == 0 and 1 or math.sin(2 * math.pi * d) / (2 * math.pi * d))
        end
    end
    return db(64 / s)
end
local sparse = ec.geometry.line{ count = 8, spacing = 0.7 }.x
local scanned = ec.array{ x = sparse, wavelength = 1, u = cut, steer_u = 0.6 }
close(scanned:scan_loss_db(), pairs_sum(0.7, 0) - pairs_sum(0.7, 0.6), 1e-6, "scan loss of a line")
close(scanned:scan_loss_db{ reference_u = 0.3 }, pairs_sum(0.7, 0.3) - pairs_sum(0.7, 0.6), 1e-6, "from a reference")
close(scanned:scan_loss_db{ reference_theta_deg = math.deg(math.asin(0.3)) }, pairs_sum(0.7, 0.3) - pairs_sum(0.7, 0.6),
    1e-6, "from a reference in angles")
-- off the cut and into the back half: the direction counts, not the grid
close(ec.array{ y = sparse, wavelength = 1, u = cut, steer_v = 0.6 }:scan_loss_db(),
    pairs_sum(0.7, 0) - pairs_sum(0.7, 0.6), 1e-6, "scan loss off the cut")
close(ec.array{ z = sparse, wavelength = 1, u = cut, steer_theta_deg = 120 }:scan_loss_db{ reference_theta_deg = 90 },
    pairs_sum(0.7, 0) - pairs_sum(0.7, -0.5), 1e-6, "scan loss backwards")
-- of the field: the element's pattern alone, and what coupled ports are fed with
close(ec.array{ x = sparse, wavelength = 1, u = cut, steer_u = 0.6, element = "cosq", q = 0.7 }
    :scan_loss_db{ gain = "field" }, -20 * 0.7 * math.log(0.8, 10), 1e-9, "scan loss by the element")
local matrix = ec.load_touchstone("coupling.s2p")
local pair, gain = { -0.08, 0.08 }, {}
for i, u in ipairs{ 0, 0.5 } do -- currents a - S a of waves with the steering's phase, by hand
    local k = 2 * math.pi * 0.95e9 / ec.c0
    local re, im = 0, 0
    local a = {}
    for m = 1, 2 do a[m] = { math.cos(-k * pair[m] * u), math.sin(-k * pair[m] * u) } end
    for m = 1, 2 do
        local cr, ci = a[m][1], a[m][2]
        for l = 1, 2 do
            local sr, si = matrix:s(m, l)
            local r, j = (sr[1] + sr[2]) / 2, (si[1] + si[2]) / 2 -- at 0.95 of 0.9 and 1 GHz
            cr, ci = cr - (r * a[l][1] - j * a[l][2]), ci - (r * a[l][2] + j * a[l][1])
        end
        local c, s = math.cos(k * pair[m] * u), math.sin(k * pair[m] * u)
        re, im = re + cr * c - ci * s, im + cr * s + ci * c
    end
    gain[i] = db(re * re + im * im)
end
close(ec.array{ x = pair, frequency = 0.95 * ec.GHz, u = cut, steer_u = 0.5, coupling = matrix }
    :scan_loss_db{ gain = "field" }, gain[1] - gain[2], 1e-6, "scan loss by coupling")
local big = ec.geometry.rectangle{ count_x = 24, count_y = 24, spacing_x = 0.5, spacing_y = 0.5 }
local loss = value(ec.array{ x = big.x, y = big.y, wavelength = 1, u = cut, steer_u = math.sin(math.rad(60)),
    element = "hemispheric" }:scan_loss_db())
assert(math.abs(loss - 3.01) < 0.35, "scan loss of a plane: " .. loss)

-- ---- what does not fit says so ---------------------------------------------------------------------
refuses("array:sll_mean_db: unknown key 'exlude_u' (did you mean 'exclude_u'?)", line.sll_mean_db, line, { exlude_u = 1 })
refuses("unknown key 'exclude_u'", line.pointing_error_deg, line, { exclude_u = 0.1 })
refuses("reference_u and reference_v, or reference_theta_deg", line.scan_loss_db, line,
    { reference_u = 0, reference_phi_deg = 0 })
refuses("must be at most 1", line.scan_loss_db, line, { reference_u = 0.8, reference_v = 0.8 })
refuses("give exclude_deg, a cone, or exclude_theta_deg", line.sll_db, ec.array(sphere),
    { exclude_deg = 10, exclude_theta_deg = 10, exclude_phi_deg = 10 })
refuses("has no method 'zzz'; it has sll_db, ", function() return line:zzz() end)

-- ---- in a search: gradients, final figures -----------------------------------------------------------
local job = ec.job{ name = "metrics", seed = 1 }
local amplitude = job:real{ name = "amplitude", count = 8, min = 0.05, max = 1 }
local array = ec.array{ x = x8, amplitude = amplitude, wavelength = 1, u = ec.range(-1, 1, 101) }
job:minimize("mean", array:sll_mean_db{ exclude_u = 0.4 })
job:subject_to("range", array:dynamic_range_db(), { max = 12 })
job:record("ratio", array:dynamic_range_db())
job:record("pointing", array:pointing_error_deg())
job:record("loss", array:with{ steer_u = 0.4 }:scan_loss_db())
local best = job:solve{ population = 32, evaluations = 3200, polish = true }
assert(best.status == "feasible" and best.objectives.mean < -24, best.objectives.mean)
local list = best.variables.amplitude:table()
sum = 0
for k = 0, n - 1 do
    sum = sum + power({ x = x8, amplitude = list }, 0.4 + 0.6 * (k + 0.5) / n, 0, 0) / n
    if k % 2 == 0 then sum = sum + power({ x = x8, amplitude = list }, -0.4 - 0.6 * (k + 0.5) / n, 0, 0) / n * 2 end
end
local peak = 0
for k = -400, 400 do peak = math.max(peak, power({ x = x8, amplitude = list }, k / 1e4, 0, 0)) end
close(best.objectives.mean, db(sum / 2 / peak), 5e-3, "the winner's mean")
local top, low = 0, 1
for m = 1, 8 do top, low = math.max(top, list[m]), math.min(low, list[m]) end
close(best.recorded.ratio, 20 * math.log(top / low, 10), 1e-9, "the winner's dynamic range")
print("metrics beside own sums")
