-- Weights of linear arrays. Positions are those of a centred, evenly spaced line.
local _, core = ... -- from require, which gives the core to the library only

local taper = {}

-- Divides by the largest weight.
local function normalized(w)
    local most = math.max(table.unpack(w, 1, math.min(#w, 200)))
    for i = 201, #w do
        most = math.max(most, w[i])
    end
    for i = 1, #w do
        w[i] = w[i] / most
    end
    return w
end

function taper.uniform(keys)
    local w = {}
    for i = 1, core.parse("ec.taper.uniform", keys).count do
        w[i] = 1
    end
    return w
end

-- Chebyshev polynomial T_n, also outside [-1, 1].
local function chebyshev(n, x)
    if math.abs(x) <= 1 then
        return math.cos(n * math.acos(x))
    end
    local a = math.abs(x)
    local t = (a + math.sqrt(a * a - 1)) ^ n
    local value = (t + 1 / t) / 2
    return (x < 0 and n % 2 == 1) and -value or value
end

-- C. L. Dolph, "A current distribution for broadside arrays ...", Proc. IRE 34, 1946: the array factor is
-- T_{N-1}(x0 cos(psi/2)), sampled at N angles and transformed back.
function taper.chebyshev(keys)
    local k = core.parse("ec.taper.chebyshev", keys)
    local n = k.count
    local ratio = 10 ^ (-k.sll_db / 20)
    local y = math.log(ratio + math.sqrt(ratio * ratio - 1)) / (n - 1)
    local x0 = (math.exp(y) + math.exp(-y)) / 2
    local factor = {}
    for i = 0, n - 1 do
        factor[i] = chebyshev(n - 1, x0 * math.cos(math.pi * i / n))
    end
    local w = {}
    for m = 1, n do
        local position, sum = m - (n + 1) / 2, 0
        for i = 0, n - 1 do
            sum = sum + factor[i] * math.cos(2 * math.pi * i * position / n)
        end
        w[m] = sum / n
    end
    for m = 1, n // 2 do -- exactly symmetric
        local mean = (w[m] + w[n + 1 - m]) / 2
        w[m], w[n + 1 - m] = mean, mean
    end
    return normalized(w)
end

-- T. T. Taylor, "Design of line-source antennas ...", IRE Trans. AP-3, 1955: nbar - 1 side lobes at the
-- level, the line source's distribution sampled at the elements.
function taper.taylor(keys)
    local k = core.parse("ec.taper.taylor", keys)
    local n, nbar = k.count, k.nbar
    local ratio = 10 ^ (-k.sll_db / 20)
    local a = math.log(ratio + math.sqrt(ratio * ratio - 1)) / math.pi
    local sigma2 = nbar ^ 2 / (a ^ 2 + (nbar - 0.5) ^ 2)
    local f = {}
    for m = 1, nbar - 1 do
        local above, below = 1, 1
        for i = 1, nbar - 1 do
            above = above * (1 - m ^ 2 / (sigma2 * (a ^ 2 + (i - 0.5) ^ 2)))
            if i ~= m then
                below = below * (1 - m ^ 2 / i ^ 2)
            end
        end
        f[m] = (m % 2 == 1 and 1 or -1) * above / (2 * below)
    end
    local w = {}
    for i = 1, n do
        local x = (i - (n + 1) / 2) / n
        w[i] = 1
        for m = 1, nbar - 1 do
            w[i] = w[i] + 2 * f[m] * math.cos(2 * math.pi * m * x)
        end
    end
    return normalized(w)
end

-- Zeros of Bayliss' difference pattern before they are stretched, polynomials in the side-lobe level (dB, positive):
-- four of his own, then sqrt(a^2 + n^2). E. T. Bayliss, "Design of monopulse antenna difference patterns with low
-- side lobes", Bell Syst. Tech. J. 47, 1968, table of coefficients.
local bayliss_a = { 0.30387530, 0.05042922, -0.00027989, 0.00000343, -0.00000002 }
local bayliss_zeros = {
    { 0.98583020, 0.03338850, 0.00014064, -0.00000190, 0.00000001 },
    { 2.00337487, 0.01141548, 0.00041590, -0.00000373, 0.00000001 },
    { 3.00636321, 0.00683394, 0.00029281, -0.00000161, 0 },
    { 4.00518423, 0.00501795, 0.00021735, -0.00000088, 0 },
}

local function polynomial(coefficients, x)
    local sum = 0
    for i = #coefficients, 1, -1 do
        sum = sum * x + coefficients[i]
    end
    return sum
end

local function bayliss_zero(n, level)
    if n <= 4 then
        return polynomial(bayliss_zeros[n], level)
    end
    return math.sqrt(polynomial(bayliss_a, level) ^ 2 + n ^ 2)
end

-- The difference pattern u cos(pi u) prod (1 - (u / zero)^2) / prod (1 - (u / (n + 1/2))^2) of a line source, as the
-- sum of sines over the aperture that Bayliss gives, sampled at the elements.
function taper.bayliss(keys)
    local k = core.parse("ec.taper.bayliss", keys)
    local n, nbar, zero = k.count, k.nbar, {}
    local stretch = (nbar + 0.5) / bayliss_zero(nbar, -k.sll_db)
    for i = 1, nbar - 1 do
        zero[i] = stretch * bayliss_zero(i, -k.sll_db)
    end
    local b = {}
    for m = 0, nbar - 1 do
        local above, below = (m + 0.5) ^ 2, 1
        for i = 1, nbar - 1 do
            above = above * (1 - ((m + 0.5) / zero[i]) ^ 2)
        end
        for i = 0, nbar - 1 do
            if i ~= m then
                below = below * (1 - ((m + 0.5) / (i + 0.5)) ^ 2)
            end
        end
        b[m] = (m % 2 == 0 and 1 or -1) * above / below
    end
    local w = {}
    for i = 1, n do
        local x = (i - (n + 1) / 2) / n
        w[i] = 0
        for m = 0, nbar - 1 do
            w[i] = w[i] + b[m] * math.sin(2 * math.pi * (m + 0.5) * x)
        end
    end
    return normalized(w)
end

-- R. W. Hamming's window: the ends of its period are the outer elements.
function taper.hamming(keys)
    local w, n = {}, core.parse("ec.taper.hamming", keys).count
    for i = 1, n do
        w[i] = 0.54 + 0.46 * math.cos(2 * math.pi * ((i - 1) / (n - 1) - 0.5))
    end
    return w
end

function taper.cosine(keys)
    local k = core.parse("ec.taper.cosine", keys)
    local w = {}
    for i = 1, k.count do
        local x = (i - (k.count + 1) / 2) / k.count
        w[i] = k.pedestal + (1 - k.pedestal) * math.cos(math.pi * x) ^ k.power
    end
    return w
end

return taper
