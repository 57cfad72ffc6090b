-- Bistatic radar cross section of spheres of 72 mm radius at 1 GHz, of eps_r = 4 and of metal, beside Mie's series
-- (G. Mie 1908; C. F. Bohren and D. R. Huffman 1983, section 4.4).
-- Grid: cubic cells of 2 mm; with --quick of 7.2 mm; those that the metal's surface cuts are conformal. The wave comes from theta = 180 deg, its E along x.
-- Expected: within 0.5 dB wherever the cross section is above -20 dB of its largest value, in the plane of E and across.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local radius, f = 72*mm, 1*GHz
local cell = ec.quick and 7.2*mm or 2*mm
local angles = ec.range(0, 180, 37) -- from the way of the wave

-- x j_n(x) and x h2_n(x) (real and imaginary part) of orders 0 to n, and their derivatives.
local function riccati(x, n)
    local j, y = {}, { [0] = -math.cos(x) / x, -math.cos(x) / x^2 - math.sin(x) / x }
    j[63], j[62] = 0, 1e-300
    for k = 62, 1, -1 do j[k - 1] = (2*k + 1) / x * j[k] - j[k + 1] end
    for k = 1, n - 1 do y[k + 1] = (2*k + 1) / x * y[k] - y[k - 1] end
    local scale = math.sin(x) / x / j[0]
    local p, q, dp, dq = {}, {}, {}, {}
    for k = 0, n do
        p[k], q[k] = x * scale * j[k], -x * y[k]
        if k > 0 then dp[k], dq[k] = p[k - 1] - k * p[k] / x, q[k - 1] - k * q[k] / x end
    end
    return p, dp, q, dq
end

-- Cross sections in the plane of E and across it; index nil: metal.
local function mie(index, angle)
    local N, k = 12, 2 * math.pi * f / ec.c0
    local p, dp, q, dq = riccati(k * radius, N)
    local s, ds = {}, {}
    if index then s, ds = riccati(index * k * radius, N) end
    local mu, before, now = math.cos(math.rad(angle)), 0, 1
    local sum = { 0, 0, 0, 0 } -- S1, S2
    for n = 1, N do
        -- a and b are u / (u + j v)
        local au, av, bu, bv = dp[n], dq[n], p[n], q[n]
        if index then
            au, av = index * s[n] * dp[n] - p[n] * ds[n], index * s[n] * dq[n] - q[n] * ds[n]
            bu, bv = s[n] * dp[n] - index * p[n] * ds[n], s[n] * dq[n] - index * q[n] * ds[n]
        end
        local tau, w = n * mu * now - (n + 1) * before, (2*n + 1) / (n * (n + 1))
        local a, b = w * au / (au^2 + av^2), w * bu / (bu^2 + bv^2)
        sum[1] = sum[1] + a * au * now + b * bu * tau
        sum[2] = sum[2] - a * av * now - b * bv * tau
        sum[3] = sum[3] + a * au * tau + b * bu * now
        sum[4] = sum[4] - a * av * tau - b * bv * now
        before, now = now, ((2*n + 1) * mu * now - (n + 1) * before) / n
    end
    local scale = 4 * math.pi / k^2
    return scale * (sum[3]^2 + sum[4]^2), scale * (sum[1]^2 + sum[2]^2)
end

for _, case in ipairs{ { "eps_r = 4", 4 }, { "metal" } } do
    local name, eps_r = case[1], case[2]
    local half = (math.ceil(radius / cell) + 7) * cell
    local model = ec.fdtd{ frequency = f, cell = cell, snap = true, conformal = not eps_r, pulse_width = 0.5*GHz,
        domain = { from = {-half, -half, -half}, to = {half, half, half} },
        plane_wave = { theta_deg = 180 },
        ec.sphere{ radius = radius, eps_r = eps_r } }
    local along, across = ec.value(model:far{ quantity = "rcs", theta_deg = angles },
                                   model:far{ quantity = "rcs", theta_deg = angles, phi_deg = 90 })
    local exact, most, worst = {}, 0, 0
    for i, angle in ipairs(angles) do
        exact[i] = { mie(eps_r and math.sqrt(eps_r), angle) }
        most = math.max(most, exact[i][1], exact[i][2])
    end
    print(name .. ": angle, cross section in the plane of E (m^2, dB off), across it")
    for i, angle in ipairs(angles) do
        local off = { 10 * math.log(along[i] / exact[i][1], 10), 10 * math.log(across[i] / exact[i][2], 10) }
        for plane = 1, 2 do
            if exact[i][plane] > 0.01 * most then worst = math.max(worst, math.abs(off[plane])) end
        end
        print(("%5g  %.6f %+.3f  %.6f %+.3f"):format(angle, along[i], off[1], across[i], off[2]))
    end
    print(("%s: at most %.3f dB off"):format(name, worst))
end
