-- Four transmitters on y = -40, four receivers on y = 40, both along x, unit wavelength: line of
-- sight, and the image in a conducting plate at x = 30 whose reflection is -1. Capacities in bit/s/Hz
-- at 20 dB with normalised matrices; those with variables are the best of a search.
-- flags: --quiet
-- expect: gap 0.50: 8.96, with plate 14.47
-- expect: gap 1.00: 10.91, with plate 16.11
-- expect: gap 1.50: 13.01, with plate 20.66
-- expect: gap 2.00: 15.22, with plate 19.78
-- expect: gap 4.47: 26.63
-- expect: printed positions: 23.65
-- expect: free gaps: 21.875
-- expect: three coefficients: 21.281
local ec = require "eciton"

local N, snr_db = 4, 20

-- exp(-2 pi j r) / (4 pi r) of each pair; rx is a row index, tx a column index
local function field(dx)
    local r = ec.sqrt(dx ^ 2 + 80 ^ 2)
    return ec.complex(ec.cos(2 * math.pi * r), -ec.sin(2 * math.pi * r)) / (4 * math.pi * r)
end

local function channel(tx, rx, plate)
    local row, column = {}, {}
    for i = 1, N do
        for j = 1, N do
            row[#row + 1], column[#column + 1] = i, j
        end
    end
    local x, t = ec.gather(rx, row), ec.gather(tx, column)
    local h = field(x - t)
    if plate then
        h = h - field(x - (60 - t))
    end
    return ec.reshape(h, N, N)
end

local function capacity(tx, rx, plate)
    return ec.capacity(channel(tx, rx, plate), { snr_db = snr_db })
end

local function uniform(gap)
    return ec.constant{ 15 - 1.5 * gap, 15 - 0.5 * gap, 15 + 0.5 * gap, 15 + 1.5 * gap }
end

for _, gap in ipairs{ 0.5, 1, 1.5, 2 } do
    local x = uniform(gap)
    print(("gap %.2f: %.2f, with plate %.2f"):format(gap, ec.value(capacity(x, x)),
        ec.value(capacity(x, x, true))))
end
local wide = uniform(20 ^ 0.5)
print(("gap 4.47: %.2f"):format(ec.value(capacity(wide, wide))))
print(("printed positions: %.2f"):format(ec.value(capacity(ec.constant{ 7.0, 12.6, 18.0, 20.9 },
    ec.constant{ 7.08, 12.9, 17.1, 22.0 }, true))))

-- three gaps each, the mean at 15
local free = ec.job{ name = "gaps", seed = 2 }
local function spaced(name)
    local gap = free:real{ name = name, min = 0.25, max = 2, count = N - 1 }
    local x = ec.concat(0, ec.cumsum(gap))
    return x - ec.mean(x) + 15
end
free:maximize("capacity", capacity(spaced("tx_gap"), spaced("rx_gap"), true))
local best = free:solve{ method = "de", population = 128, evaluations = 60000, polish = true }
print(("free gaps: %.3f"):format(best.objectives.capacity))

-- Legendre polynomials on uniform nodes, the first coefficient 15
local three = ec.job{ name = "legendre", seed = 2 }
local nodes = ec.range(-1, 1, N)
local function placed(name)
    local slope = three:real{ name = name .. "_slope", min = 0.375, max = 3 }
    local bend = three:real{ name = name .. "_bend", min = -1.5, max = 1.5 }
    local x = ec.basis.legendre{ at = nodes, coefficients = ec.concat(15, slope, bend) }
    three:subject_to(name .. "_gaps", x:slice(2, N) - x:slice(1, N - 1), { min = 0.25, max = 2 })
    return x
end
three:maximize("capacity", capacity(placed("tx"), placed("rx"), true))
best = three:solve{ method = "de", population = 128, evaluations = 60000, polish = true }
print(("three coefficients: %.3f"):format(best.objectives.capacity))
