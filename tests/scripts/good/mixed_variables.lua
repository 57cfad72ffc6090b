-- Integer, choice and binary variables by differential evolution: the known optimum for 10 of 10 seeds.
-- Gear train and pressure vessel: Sandgren, J. Mech. Design 112 (1990), 223-229; optimum of the vessel
-- with a length up to 200: 6059.7143. Distinct choices: an assignment, solved here by dynamic
-- programming. Bits: the best 6 of 20.
-- expect: all optima were found
local ec = require "eciton"
local items, slots = 12, 6
local cost = {}
for i = 1, slots do
    cost[i] = {}
    for j = 1, items do
        cost[i][j] = (i * 37 + j * 101 + i * j * 53 + i * i * 7) % 89
    end
end

-- lowest sum of slots i, i + 1, ... when the items of `taken` (bits) are gone
local known = {}
local function assign(i, taken)
    if i > slots then return 0 end
    known[taken] = known[taken] or {}
    local least = known[taken][i] or math.huge
    for j = 1, known[taken][i] and 0 or items do
        if taken & (1 << j) == 0 then
            least = math.min(least, cost[i][j] + assign(i + 1, taken | (1 << j)))
        end
    end
    known[taken][i] = least
    return least
end

local function solved(job, keys)
    keys.evaluations, keys.report = 40000, false
    return job:solve(keys).objectives.f
end

for seed = 1, 10 do
    local gear = ec.job{ name = "gear", seed = seed }
    local x = gear:integer{ name = "x", count = 4, min = 12, max = 60 }
    gear:minimize("f", (1 / 6.931 - x[1] * x[2] / (x[3] * x[4]))^2)
    local f = solved(gear, { method = "rand1bin", population = 40, restart = 100 })
    assert(f < 2.7009e-12, "gear train, seed " .. seed .. ": " .. f)

    local vessel = ec.job{ name = "vessel", seed = seed }
    local k = vessel:integer{ name = "k", count = 2, min = 1, max = 99 }
    local r, l = vessel:real{ name = "r", min = 10, max = 200 }, vessel:real{ name = "l", min = 10, max = 200 }
    local shell, head = k[1] * 0.0625, k[2] * 0.0625 -- thickness in inches
    vessel:minimize("f", 0.6224 * shell * r * l + 1.7781 * head * r^2 + 3.1661 * shell^2 * l + 19.84 * shell^2 * r)
    vessel:subject_to("shell", shell - 0.0193 * r, { min = 0 })
    vessel:subject_to("head", head - 0.00954 * r, { min = 0 })
    vessel:subject_to("volume", (ec.pi * r^2 * l + 4 / 3 * ec.pi * r^3) / 1296000, { min = 1 })
    f = solved(vessel, { method = "rand1bin", population = 40, restart = 100 })
    assert(f < 6059.7144, "pressure vessel, seed " .. seed .. ": " .. f)

    local pick = ec.job{ name = "pick", seed = seed }
    local p, sum = pick:choice{ name = "p", from = items, count = slots, distinct = true }, 0
    for i = 1, slots do
        for j = 1, items do
            sum = sum + ec.eq(p[i], j) * cost[i][j]
        end
    end
    pick:minimize("f", sum)
    f = solved(pick, { method = "lshade" })
    assert(f == assign(1, 0), "choices, seed " .. seed .. ": " .. f)

    local few = ec.job{ name = "few", seed = seed }
    local bits, weight, best = few:binary{ name = "bits", count = 20, sum = 6 }, {}, 0
    for i = 1, 20 do
        weight[i] = i * 7 % 41
    end
    few:minimize("f", (bits * ec.constant(weight)):sum())
    table.sort(weight)
    for i = 1, 6 do
        best = best + weight[i]
    end
    f = solved(few, { method = "jde" })
    assert(f == best, "bits, seed " .. seed .. ": " .. f)
end
print("all optima were found")
