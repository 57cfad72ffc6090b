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
