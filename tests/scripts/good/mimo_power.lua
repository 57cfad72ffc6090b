-- Link budgets with the power of each transmitter: SINR, sum rate and capacity in free space against their
-- closed forms.
-- expect: all agree
-- expect: ec.mimo: key 'tx': key 'power_dbm': 2 powers for 3 antennas; one for each, or a number for all
-- expect: key 'power_dbm'
local ec = require "eciton"
local far = ec.scene{ ec.plate{ at = { 0, 0, -5000 }, size = { 1, 1 } } }
local noise_w = 1.380649e-23 * 290 * 20e6 * 10 ^ 0.5
local tx, rx = { { 0, 0 }, { 3, 0 }, { 7, 0 } }, { { 1, 6 }, { 4, 9 }, { 6, 5 } }
local function axis(list, k)
    local to = {}
    for i, p in ipairs(list) do
        to[i] = p[k]
    end
    return to
end
local function link_of(power_dbm)
    return ec.mimo{ scene = far, wavelength = 0.1, depth = 0, bandwidth = 20e6, noise_figure_db = 5,
        tx = { x = axis(tx, 1), y = axis(tx, 2), power_dbm = power_dbm },
        rx = { x = axis(rx, 1), y = axis(rx, 2) } }
end
-- |h_ij|^2 of receiver i and transmitter j
local function gain(i, j)
    local square = (tx[j][1] - rx[i][1]) ^ 2 + (tx[j][2] - rx[i][2]) ^ 2
    return (0.1 / (4 * math.pi)) ^ 2 / square
end
local function close(got, wanted, what)
    assert(math.abs(got - wanted) <= 1e-9 * math.abs(wanted), ("%s: %.15g, not %.15g"):format(what, got, wanted))
end
-- a number is the power of each transmitter for SINR and sum rate
for _, case in ipairs{ { { -20, -35, -28 }, { -20, -35, -28 } }, { -25, { -25, -25, -25 } } } do
    local link, p = link_of(case[1]), {}
    for j = 1, 3 do
        p[j] = 1e-3 * 10 ^ (0.1 * case[2][j])
    end
    local sinr, rate = ec.value(link:sinr{ normalize = "none" }), 0
    for i = 1, 3 do
        local other = noise_w
        for j = 1, 3 do
            other = other + (j ~= i and p[j] * gain(i, j) or 0)
        end
        local wanted = p[i] * gain(i, i) / other
        close(sinr[i], wanted, "sinr " .. i)
        rate = rate + math.log(1 + wanted, 2)
    end
    close(ec.value(link:sum_rate{ normalize = "none" }), rate, "sum rate")
end
-- capacity of one receiving antenna: log2(1 + sum p |h|^2 / N) with the power of each; a number is that of
-- all together; the best shares of all power go to the only singular value
local function single(power_dbm)
    return ec.mimo{ scene = far, wavelength = 0.1, depth = 0, bandwidth = 20e6, noise_figure_db = 5,
        tx = { x = axis(tx, 1), y = axis(tx, 2), power_dbm = power_dbm }, rx = { x = 1, y = 6 } }
end
local own, all, equal, total = single{ -20, -35, -28 }, 0, 0, 0
for j, dbm in ipairs{ -20, -35, -28 } do
    local p = 1e-3 * 10 ^ (0.1 * dbm)
    equal, all, total = equal + p * gain(1, j) / noise_w, all + gain(1, j) / noise_w, total + p
end
close(ec.value(own:capacity{ normalize = "none" }), math.log(1 + equal, 2), "capacity")
close(ec.value(own:capacity{ normalize = "none", power = "water_filling" }), math.log(1 + total * all, 2), "filled")
close(own:snr_db(), 10 * math.log(total / noise_w, 10), "snr")
close(ec.value(single(-20):capacity{ normalize = "none" }), math.log(1 + 1e-5 / 3 * all, 2), "power of all")
-- powers have no part in what is normalised, or where the SNR is given
close(ec.value(own:capacity{ snr_db = 13 }), ec.value(single(-20):capacity{ snr_db = 13 }), "normalised")
close(ec.value(own:capacity{ snr_db = 90, normalize = "none" }),
    ec.value(single(-20):capacity{ snr_db = 90, normalize = "none" }), "snr given")
print("all agree")
print(select(2, pcall(link_of, { -20, -35 })))
print(select(2, pcall(link_of, "20")))
