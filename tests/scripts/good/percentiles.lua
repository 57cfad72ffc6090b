-- Percentiles over users, over samples of ec.over and over frequencies, against plain Lua; the files of a link
-- whose antennas move from sample to sample.
-- flags: --out OUT
-- holds: antennas.csv 1,tx,,1,
-- expect:   transmitting antennas, x y z in m, of the first sample
-- expect: all agree
-- expect: ec.mean: value 2 may only be the word 'first' or 'last' (over that axis)
-- expect: ec.min: 'first' wants a value of two axes or more
-- expect: ec.element_percentile: the percentile is 101, allowed are 0 to 100
local ec = require "eciton"
local function percentile(list, p)
    local sorted = { table.unpack(list) }
    table.sort(sorted)
    local place = p / 100 * (#sorted - 1)
    local low = math.min(math.floor(place), #sorted - 2)
    return sorted[low + 1] + (place - low) * (sorted[low + 2] - sorted[low + 1])
end
local function close(got, wanted, what)
    assert(math.abs(got - wanted) <= 1e-12, ("%s: %.15g, not %.15g"):format(what, got, wanted))
end
-- five users, four samples, three frequencies
local samples, users, tones = { 0.3, 1.7, 2.2, 0.9 }, { 1, 4, 2, 8, 5 }, { 1, 3, 2 }
local over = ec.over(samples)
local x = (ec.constant(users) - 3 * over) ^ 2
local each = ec.value(x:element_percentile(10))
local worst, along, all = {}, ec.value(x:sample_percentile(30)), ec.value(x:sample_min():percentile(10))
for u, user in ipairs(users) do
    local list = {}
    for s, sample in ipairs(samples) do
        list[s] = (user - 3 * sample) ^ 2
    end
    close(along[u], percentile(list, 30), "over samples")
    worst[u] = math.min(table.unpack(list))
end
close(all, percentile(worst, 10), "over users of the worst sample")
local lowest = math.huge
for s, sample in ipairs(samples) do
    local list = {}
    for u, user in ipairs(users) do
        list[u] = (user - 3 * sample) ^ 2
    end
    close(each[s], percentile(list, 10), "over users in each sample")
    lowest = math.min(lowest, each[s])
end
close(ec.value(x:element_percentile(10):min()), lowest, "worst sample of the percentile")
-- as before: over samples where there are some, else over elements
close(ec.value(x:percentile(30))[2], along[2], "samples")
close(ec.value(ec.constant(users):percentile(30)), ec.value(ec.constant(users):element_percentile(30)), "elements")
-- [frequency][user]: "first" is over the frequencies
local rows = {}
for f, tone in ipairs(tones) do
    rows[f] = {}
    for u, user in ipairs(users) do
        rows[f][u] = math.sin(tone * user)
    end
end
local matrix = ec.constant(rows)
local least, mean = ec.value(matrix:min("first")), ec.value(matrix:mean("first"))
local sum, most = ec.value(matrix:sum("first")), ec.value(matrix:max("first"))
assert(#least == 5 and #mean == 5)
for u = 1, 5 do
    close(least[u], math.min(rows[1][u], rows[2][u], rows[3][u]), "min over frequencies")
    close(most[u], math.max(rows[1][u], rows[2][u], rows[3][u]), "max over frequencies")
    close(sum[u], rows[1][u] + rows[2][u] + rows[3][u], "sum over frequencies")
    close(mean[u], (rows[1][u] + rows[2][u] + rows[3][u]) / 3, "mean over frequencies")
end
close(ec.value(matrix:min("first"):percentile(10)), percentile(least:table(), 10), "over users of the worst frequency")
close(ec.value(ec.constant(1):element_percentile(10)), 1, "of one")
local cube = ec.value(ec.reshape(ec.constant{ 1, 2, 3, 4, 5, 6, 7, 8 }, 2, 2, 2):sum("first"))
assert(cube[1] == 6 and cube[2] == 8 and cube[3] == 10 and cube[4] == 12)

-- a search for it, with antennas that are not quite where they should be
local job = ec.job{ name = "users", seed = 1 }
local at = job:real{ name = "at", min = -5, max = 5 }
local e = ec.over{ error = ec.normal{ sigma = 0.01 }, samples = 4, final_samples = 4 }
local scene = ec.scene{ ec.ground{ size = { 100, 100 } } }
local link = ec.mimo{ scene = scene, frequency = { 1e9, 1.1e9 }, depth = 1, tx = { x = at + e.error, z = 3 },
    rx = { at = { x = users, y = 10, z = 1.5 } } }
local gain = link:path_gain_db()
job:maximize("p10", ec.reshape(gain, 2, 5):min("first"):element_percentile(10):mean())
local best = job:solve{ method = "rand1bin", population = 6, generations = 3 }
local value = best:value(gain)
local mean = 0
for s = 1, 4 do
    local list = {}
    for u = 1, 5 do
        list[u] = math.min(value[10 * (s - 1) + u], value[10 * (s - 1) + 5 + u])
    end
    mean = mean + percentile(list, 10) / 4
end
assert(math.abs(best.objectives.p10 - mean) < 1e-9)
print("all agree")
print(select(2, pcall(function() return matrix:mean("both") end)))
print(select(2, pcall(function() return ec.constant(users):min("first") end)))
print(select(2, pcall(function() return matrix:element_percentile(101) end)))
