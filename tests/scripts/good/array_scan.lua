-- expect: scan, frequency and beams
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

-- ---- every combination of two quantities -----------------------------------------------------------
local us, fs = { 0, 0.2, 0.45 }, { 9e9, 10e9 }
local s = ec.combinations{ steer_u = us, frequency = fs }
local u, f = value(s.steer_u), value(s.frequency)
assert(#u == 6 and #f == 6)
for i = 1, 6 do -- "frequency" comes before "steer_u" in the alphabet
    assert(f[i] == fs[(i - 1) // 3 + 1] and u[i] == us[(i - 1) % 3 + 1])
end
refuses("a list of 2 samples does not fit the 6 samples", ec.over, { 1, 2 })
refuses("nothing to combine", ec.combinations, {})
refuses("a list without a name", ec.combinations, { { 1, 2 } })
refuses("ec.combinations: 'a': wants a number or a list of numbers, got a string", ec.combinations, { a = "x" })
refuses("at most 1000000 are allowed", ec.combinations, { a = ec.range(0, 1, 2000), b = ec.range(0, 1, 2000) })

-- look direction and exclusion follow each sample: what the same array does alone
local lambda = ec.c0 / 10e9
local list = ec.geometry.line{ count = 12, spacing = 0.55 * lambda }.x
local taper = ec.taper.taylor{ count = 12, sll_db = -25 }
local function alone(grid, exclude, metric, i)
    local keys = { x = list, amplitude = taper, frequency = f[i], steer_u = u[i] }
    for k, v in pairs(grid) do keys[k] = v end
    local array = ec.array(keys)
    return value(array[metric](array, exclude))
end
local grids = {
    { { u = ec.range(-1, 1, 301) }, { exclude_u = 0.2 } },
    { { theta_deg = ec.range(-90, 90, 361) }, { exclude_deg = 14 } },
    { { u = ec.range(-1, 1, 101), v = ec.range(-0.5, 0.5, 11) }, { exclude_u = 0.2, exclude_v = 2 } },
    { { theta_deg = ec.range(0, 180, 61), phi_deg = ec.range(0, 360, 73) }, { exclude_deg = 40 } },
}
for g, case in ipairs(grids) do
    local keys = { x = list, amplitude = taper, frequency = s.frequency, steer_u = s.steer_u }
    for k, v in pairs(case[1]) do keys[k] = v end
    local array = ec.array(keys)
    -- the final grid is that of the highest frequency, which a mean shows a little
    for metric, limit in pairs{ sll_db = 1e-6, sll_mean_db = 0.05 } do
        for _, exclude in ipairs{ case[2], {} } do
            local all, worst, sum = value(array[metric](array, exclude)), -math.huge, 0
            for i = 1, 6 do
                local one = alone(case[1], exclude, metric, i)
                close(all[i], one, limit, ("%s on grid %d, sample %d"):format(metric, g, i))
                worst, sum = math.max(worst, one), sum + one
            end
            close(array[metric](array, exclude):sample_max(), worst, limit, "worst")
            close(array[metric](array, exclude):sample_mean(), sum / 6, limit, "mean")
        end
    end
    local off = value(array:pointing_error_deg())
    for i = 1, 6 do close(off[i], 0, 1e-4, ("pointing on grid %d, sample %d"):format(g, i)) end
end

-- ---- a true delay and phase shifters that were set at one frequency, elements on an arc -------------
local arc = ec.geometry.cylinder{ columns = 16, rows = 1, radius = 6 * lambda, spacing = lambda, arc_deg = 50 }
local look, f0 = 0.3, 9.5e9
local w0 = math.sqrt(1 - look * look)
local function own_power(freq, law, direction) -- |F|^2 with the phase law(m)
    local re, im, k = 0, 0, 2 * math.pi * freq / ec.c0
    for m = 1, 16 do
        local p = k * (arc.x[m] * direction + arc.z[m] * math.sqrt(1 - direction * direction)) + law(m)
        re, im = re + math.cos(p), im + math.sin(p)
    end
    return re * re + im * im
end
local at = { u = { 0.1, look, 0.32, 0.5 }, relative = false }
local function levels(phase)
    return value(ec.array{ x = arc.x, z = arc.z, frequency = s.frequency, phase = phase, u = ec.range(-1, 1, 201) }
        :level_db(at))
end
local keys = { x = arc.x, z = arc.z, frequency = s.frequency, u = look }
local delay = ec.steering.phase(keys)
keys.set_frequency = f0
local fixed = ec.steering.phase(keys)
local got_delay, got_fixed = levels(delay), levels(fixed)
for i = 1, 6 do
    for d = 1, 4 do
        local place = (i - 1) * 4 + d
        local function steered(freq)
            return function(m) return -2 * math.pi * freq / ec.c0 * (arc.x[m] * look + arc.z[m] * w0) end
        end
        close(got_delay[place], 10 * math.log(own_power(f[i], steered(f[i]), at.u[d]), 10), 1e-8, "true delay")
        close(got_fixed[place], 10 * math.log(own_power(f[i], steered(f0), at.u[d]), 10), 1e-8, "fixed phases")
    end
end
-- the delay stays on the beam, the fixed law squints: on a line by u f0 / f
local flat = { x = list, frequency = s.frequency, u = ec.range(-1, 1, 401) }
flat.phase = ec.steering.phase{ x = list, frequency = s.frequency, u = look, set_frequency = f0 }
local squint = value(ec.array(flat):pointing_error_deg{ look_u = look })
flat.phase = ec.steering.phase{ x = list, frequency = s.frequency, u = look }
local still = value(ec.array(flat):pointing_error_deg{ look_u = look })
for i = 1, 6 do
    close(squint[i], math.abs(math.deg(math.asin(look * f0 / f[i]) - math.asin(look))), 1e-6, "squint")
    close(still[i], 0, 1e-6, "no squint")
end
-- the same in numbers, and with the whole phase
local one = { x = arc.x, z = arc.z, frequency = 10e9, set_frequency = f0, u = look }
local part = ec.steering.phase(one)
one.total = true
local whole = ec.steering.phase(one)
for m = 1, 16 do
    close(whole[m], -2 * math.pi * f0 / ec.c0 * (arc.x[m] * look + arc.z[m] * w0), 1e-9, "the whole phase")
    close(part[m] - whole[m], 2 * math.pi * 10e9 / ec.c0 * arc.z[m], 1e-9, "without ec.array's own")
end
refuses("give set_wavelength or set_frequency, not both", ec.steering.phase,
    { x = list, frequency = 10e9, set_frequency = f0, set_wavelength = 0.03 })

-- ---- copies with other keys --------------------------------------------------------------------------
local base = ec.array{ x = list, wavelength = lambda, amplitude = taper, steer_u = 0.1, phase_deg = 5,
    u = ec.range(-1, 1, 301) }
local given = { exclude_u = 0.2 }
close(base:with{}:sll_db(given), value(base:sll_db(given)), 0, "a plain copy")
local function fresh(keys) return value(ec.array(keys):level_db{ u = { 0.05, 0.4 }, relative = false }) end
local function same(array, keys, what)
    local got, wanted = value(array:level_db{ u = { 0.05, 0.4 }, relative = false }), fresh(keys)
    for i = 1, 2 do close(got[i], wanted[i], 1e-9, what) end
end
local cut = ec.range(-1, 1, 301)
same(base:with{ amplitude = 2, phase = list }, { x = list, wavelength = lambda, amplitude = 2, steer_u = 0.1,
    phase = list, u = cut }, "phase for phase_deg")
same(base:with{ frequency = 9e9, steer_theta_deg = 30 }, { x = list, frequency = 9e9, amplitude = taper,
    steer_theta_deg = 30, phase_deg = 5, u = cut }, "frequency and angles")
same(base:with{ u = ec.range(0, 1, 50) }, { x = list, wavelength = lambda, amplitude = taper, steer_u = 0.1,
    phase_deg = 5, u = cut }, "another grid")
close(base:with{ theta_deg = ec.range(-90, 90, 181) }:hpbw_deg(), value(base:hpbw_deg()), 1e-6, "a grid of angles")
-- what the first array was made of may change afterwards
local changing = { x = { 0, 0.5, 1.1 }, wavelength = 1, u = cut }
local first = ec.array(changing)
local before = value(first:with{}:sll_db())
changing.x[2], changing.u = 0.9, nil
close(first:with{}:sll_db(), before, 0, "a copy of what was given")
refuses("array:with: unknown key 'stear_u' (did you mean 'steer_u'?)", base.with, base, { stear_u = 0 })
refuses("array:with: wants a table of keys", base.with, base)
refuses("array:with: key 'amplitude': wants", base.with, base, { amplitude = "much" })
refuses("give phase or phase_deg, not both", base.with, base, { phase = 0, phase_deg = 0 })
refuses("key 'amplitude': 3 values, but x has 12", base.with, base, { amplitude = { 1, 1, 1 } })
local optimal = ec.optimal{ x = list, wavelength = lambda, look_u = 0.1, null_u = 0.5 }
local weighted = ec.array{ weights = optimal, u = cut }
refuses("key 'amplitude': the array has weights, which hold it", weighted.with, weighted, { amplitude = 1 })
refuses("key 'weights': the array has its own amplitude, which they hold", base.with, base, { weights = optimal })
close(weighted:with{ weights = ec.optimal{ x = list, wavelength = lambda, look_u = 0.1, null_u = 0.7 } }
    :level_db{ u = 0.7 }, -300, 150, "other weights")

-- ---- difference tapers -------------------------------------------------------------------------------
-- a null at broadside, equal peaks beside it, nbar - 1 side lobes near the level
for _, case in ipairs{ { 200, -20, 4 }, { 200, -25, 5 }, { 200, -30, 5 }, { 201, -30, 8 }, { 200, -35, 6 }, { 40, -30, 6 } } do
    local count, level, nbar = case[1], case[2], case[3]
    local w = ec.taper.bayliss{ count = count, sll_db = level, nbar = nbar }
    local most = 0
    for m = 1, count do
        close(w[m], -w[count + 1 - m], 1e-12, "odd weights")
        most = math.max(most, w[m])
    end
    close(most, 1, 1e-12, "the largest weight")
    local function power(psi) -- psi in units of 2 pi / count: the line source's u
        local sum = 0
        for m = 1, count do sum = sum + w[m] * math.sin(2 * math.pi * psi * (m - (count + 1) / 2) / count) end
        return sum * sum
    end
    assert(power(0) == 0)
    local step, lobes, a, b = 0.01, {}, 0, 0
    for k = 1, math.floor((nbar + 3) / step) do
        local c = power(k * step)
        if b > a and b >= c then lobes[#lobes + 1] = 10 * math.log(b, 10) end
        a, b = b, c
    end
    for i = 2, nbar do
        local lobe = lobes[i] - lobes[1]
        assert(lobe < level + 1 and lobe > level - 4, ("lobe %d of %d, %g dB, nbar %d: %.2f"):format(i, count, level, nbar,
            lobe))
    end
    close(lobes[2] - lobes[1], level, 0.6, "the first side lobe")
    assert(lobes[nbar + 2] < lobes[nbar], "the far lobes fall")
end
refuses("ec.taper.bayliss: key 'sll_db': -50 is not allowed", ec.taper.bayliss, { count = 10, sll_db = -50 })
-- as an array: the difference peak is off the axis, side lobes over it
local w = ec.taper.bayliss{ count = 40, sll_db = -30, nbar = 6 }
local difference = ec.array{ x = ec.geometry.line{ count = 40, spacing = 0.5 }.x, wavelength = 1, amplitude = w,
    u = ec.range(-1, 1, 801) }
assert(value(difference:level_db{ u = 0, relative = false }) < -200)
close(difference:sll_db{ exclude_u = 0.11 }, -30, 0.6, "side lobes of the difference beam")
print("scan, frequency and beams")
