-- Metrics of a link's paths: two rays over a conducting ground, polarised across the plane of
-- incidence, whose gains go as 1 / r^2; as goals of a search; their options.
-- flags: --quiet
-- expect: K right: true
-- expect: delay spread right: true
-- expect: mean delay right: true
-- expect: elevation right: true
-- expect: azimuth 0.0
-- expect: delay spread within its limit: true
-- expect: link:angular_spread_deg: key 'at' is missing
-- expect: did you mean 'delay_spread'?
local ec = require "eciton"

local ground = ec.scene{ ec.ground{ size = { 200, 200 }, material = "pec" } }
local function link_of(height)
    return ec.mimo{ scene = ground, frequency = 2.4 * ec.GHz, depth = 1, tx = { z = height, axis = { 0, 1, 0 } },
        rx = { x = 30, z = 1.5, axis = { 0, 1, 0 } } }
end
local link = link_of(10)
local r1, r2 = (30 ^ 2 + 8.5 ^ 2) ^ 0.5, (30 ^ 2 + 11.5 ^ 2) ^ 0.5
local p1, p2 = 1 / r1 ^ 2, 1 / r2 ^ 2
local function is(expr, value, near)
    return tostring(math.abs(ec.value(expr)[1] - value) < near)
end
print("K right: " .. is(link:k_factor_db(), 10 * math.log(p1 / p2, 10), 1e-9))
print("delay spread right: "
    .. is(link:delay_spread(), (p1 * p2) ^ 0.5 / (p1 + p2) * (r2 - r1) / ec.c0, 1e-16))
print("mean delay right: " .. is(link:mean_delay(), (p1 * r1 + p2 * r2) / (p1 + p2) / ec.c0, 1e-18))
local r = (p1 ^ 2 + p2 ^ 2 + 2 * p1 * p2 * math.cos(math.atan(11.5, 30) + math.atan(8.5, 30))) ^ 0.5 / (p1 + p2)
print("elevation right: "
    .. is(link:angular_spread_deg{ at = "rx", plane = "elevation" }, (-2 * math.log(r)) ^ 0.5 * 180 / math.pi, 1e-5))
print(("azimuth %.1f"):format(ec.value(link:angular_spread_deg{ at = "tx" })[1]))

local job = ec.job{ name = "height", seed = 1 }
local height = job:real{ name = "height", min = 2, max = 30 }
link = link_of(height)
job:maximize("height", height)
job:subject_to("delay", link:delay_spread():max(), { max = 2 * ec.ns })
local best = job:solve{ method = "rand1bin", population = 16, generations = 40 }
local spread = best:value(link:delay_spread())[1]
print("delay spread within its limit: " .. tostring(spread <= 2.0001 * ec.ns and spread > 1.99 * ec.ns))

print(select(2, pcall(function() return link:angular_spread_deg{ plane = "azimuth" } end)))
print(select(2, pcall(function() return link:delay_spred() end)))
