-- expect: robust design
-- refuse: no gradient
local ec = require "eciton"
local function refuses(text, call, ...)
    local good, why = pcall(call, ...)
    assert(not good and tostring(why):find(text, 1, true), tostring(why))
end
local function close(got, wanted, limit, what)
    assert(math.abs(got - wanted) <= (limit or 1e-12), ("%s: %.15g, not %.15g"):format(what, got, wanted))
end

-- ---- a table of quantities: drawn together, combined with every row of the lists ----------------------
local e = ec.over{ z = ec.normal{ sigma = 1, count = 2 }, f = { 1, 2, 3 }, samples = 8, final_samples = 20, seed = 4 }
local f, z = ec.value(e.f), ec.value(e.z) -- of the final set
assert(#f == 60 and #z == 120)
for s = 1, 60 do
    assert(f[s] == (s - 1) // 20 + 1)
    for k = 1, 2 do
        assert(z[2 * (s - 1) + k] == z[2 * ((s - 1) % 20) + k]) -- the same draws with each f
    end
end
-- a Latin hypercube: one of 20 values in each 20th of the distribution
local below = 0
for s = 1, 20 do below = below + (z[2 * s - 1] < 0 and 1 or 0) end
assert(below == 10, below)
-- the same names and seed draw the same; another seed or another name does not
local function drawn(name, seed)
    local over = ec.over{ [name] = ec.normal{ sigma = 1, count = 2 }, f = { 1, 2, 3 }, samples = 8, final_samples = 20,
        seed = seed }
    return ec.value(over[name])
end
local same, seed, name = drawn("z", 4), drawn("z", 5), drawn("y", 4)
assert(same[1] == z[1] and same[7] == z[7] and seed[1] ~= z[1] and name[1] ~= z[1])

-- ---- reductions against plain Lua ---------------------------------------------------------------------
local x = e.z[1] * e.f + e.z[2]
local list, n, mean, square = {}, 60, 0, 0
for i, v in ipairs{ table.unpack(ec.value(x):table()) } do list[i] = v end
for _, v in ipairs(list) do mean = mean + v / n end
for _, v in ipairs(list) do square = square + (v - mean) ^ 2 / n end
table.sort(list)
close(ec.value(x:mean()), mean, 1e-13, "mean")
close(ec.value(x:sample_std()), math.sqrt(square), 1e-12, "std")
close(ec.value(x:max()), list[n], 0, "max")
local place = 0.9 * (n - 1)
local low = math.floor(place)
close(ec.value(x:percentile(90)), list[low + 1] + (place - low) * (list[low + 2] - list[low + 1]), 1e-13, "percentile")
local tail = { 0, 0 }
for i = 1, 6 do tail[1], tail[2] = tail[1] + list[n + 1 - i] / 6, tail[2] + list[i] / 6 end
close(ec.value(x:tail_mean(90)), tail[1], 1e-12, "upper tail")
close(ec.value(x:tail_mean(10)), tail[2], 1e-12, "lower tail")
local good = 0
for _, v in ipairs(list) do good = good + (v >= -1 and v <= 2 and 1 / n or 0) end
close(ec.value(x:yield{ min = -1, max = 2 }), good, 1e-12, "yield")
assert(ec.value(e.z:yield{ max = 0 }) <= ec.value(e.z[1]:yield{ max = 0 }))

-- ---- what is refused -----------------------------------------------------------------------------------
refuses("key 'samples' is missing", ec.over, { a = ec.normal{ sigma = 1 } })
refuses("nothing is drawn", ec.over, { a = { 1, 2 }, samples = 4 })
refuses("unknown key 'sample' (did you mean 'samples'?)", ec.over, { sample = 3, a = ec.normal{ sigma = 1 } })
refuses("a distribution has no name", ec.over, ec.normal{ sigma = 1 })
refuses("a distribution has no name", ec.over, { values = ec.normal{ sigma = 1 }, samples = 3 })
refuses("key 'values' is for a single quantity", ec.over, { values = { 1 }, a = { 1 } })
refuses("nothing to vary over", ec.over, { samples = 3 })
refuses("'a' is a distribution: ec.over draws from it", ec.combinations, { a = ec.normal{ sigma = 1 } })
refuses("method 'sobol' has 1 to 256", ec.over, { a = ec.normal{ sigma = 1, count = 300 }, samples = 3, sampling = "sobol" })
refuses("does not fit the 24 samples", ec.over, { a = ec.normal{ sigma = 1 }, samples = 8 })
refuses("at most 1000000 are allowed", ec.over, { a = ec.normal{ sigma = 1 }, b = ec.range(0, 1, 2000), samples = 1000 })
refuses("key 'sigma': -1 is not allowed", ec.normal, { sigma = -1 })
refuses("give count", ec.normal, { sigma = 1, correlation = 0.5 })
refuses("do not go together", ec.normal, { sigma = 1, correlation = 0.5, limit = 1, count = 2 })
refuses("give limit, or min and max", ec.uniform, { min = 1 })
refuses("give limit, or min and max", ec.uniform, { min = 1, max = 2, limit = 3 })
refuses("1 is above max, 0", ec.uniform, { min = 1, max = 0 })
refuses("key 'mode': 3 is not between", ec.triangular, { min = 1, max = 2, mode = 3 })
refuses("give one of the keys probability, failed and each", ec.failures, { count = 3 })
refuses("give one of the keys probability, failed and each", ec.failures, { count = 3, failed = 1, each = true })
refuses("4 elements cannot fail, there are 3", ec.failures, { count = 3, failed = 4 })
refuses("allowed is between 0 and 100", function() return x:tail_mean(100) end)
refuses("give min, max or both", function() return x:yield{} end)

-- ---- a search: tuned to its samples, judged by others ------------------------------------------------------
local function search(cost, polish)
    local job = ec.job{ name = "robust", seed = 1 }
    local a, b = job:real{ name = "a", min = -2, max = 2 }, job:real{ name = "b", min = -2, max = 2 }
    local y = (a - 1 - 0.1 * e.z[1]) ^ 2 + (b + 0.1 * e.z[2] * e.f) ^ 2
    job:minimize("y", cost(y))
    job:record("all", y)
    local best = job:solve{ evaluations = 3000, population = 30, polish = polish, report = false }
    assert(#best:value(y) == 60 and #best.recorded.all == 60)
    close(best.objectives.y, ec.value(ec.constant(best.objectives.y)), 0, "the final figure")
    return best, y
end
for what, cost in pairs{
    mean = function(y) return y:mean() end,
    percentile = function(y) return y:percentile(90) end,
    tail = function(y) return y:tail_mean(90) end,
    worst = function(y) return y:sample_max() end,
    spread = function(y) return y:mean() + 2 * y:sample_std() end } do
    local best, y = search(cost, true)
    close(best.objectives.y, best:value(cost(y)), 1e-12, what)
    close(best.variables.a, 1, 0.15, what)
    close(best.variables.b, 0, 0.3, what)
end
print("robust design")
