-- Side lobes against beam width: the amplitudes of 16 elements, half a wavelength apart, symmetric.
-- No amplitudes have a narrower beam between the first nulls for the same side lobes than those of
-- C. L. Dolph, Proc. IRE 34, 1946: the front that NSGA-II finds ends on his curve,
--   FNBW = 2 asin(acos(cos(pi/(2(N-1)))/x0)/(pi d)),  x0 = cosh(acosh(10^(S/20))/(N-1)),
-- which is printed beside some of its members.
-- Expected: every member within 3 % of the curve and none below it, from -10 to -30 dB and lower, in a few
-- seconds.
local ec = require "eciton"
local count, spacing = 16, 0.5
local job = ec.job{ name = "pareto_array", seed = ec.arg("seed", 1) }
local half = job:real{ name = "half", count = count / 2, min = 0.02, max = 1 }
local array = ec.array{ x = ec.geometry.line{ count = count, spacing = spacing }.x,
    amplitude = ec.mirror(half), wavelength = 1, u = ec.range(-1, 1, 1601) }
local sll = array:sll_db()
job:minimize("sll_db", sll)
job:minimize("fnbw_deg", array:fnbw_deg())
job:subject_to("level", sll, { min = -40, max = -10 })
job:record("directivity_db", array:directivity_db())
local best = job:solve{ method = "nsga2", population = 100, evaluations = 2e5 }

local function acosh(x) return math.log(x + math.sqrt(x * x - 1)) end
local function dolph_deg(sll_db)
    local x0 = math.exp(acosh(10 ^ (-sll_db / 20)) / (count - 1))
    x0 = (x0 + 1 / x0) / 2
    return 2 * math.deg(math.asin(math.acos(math.cos(math.pi / (2 * (count - 1))) / x0) / (math.pi * spacing)))
end
local front = best.front
local worst, low = 0, 0
print(("%10s %10s %10s %12s"):format("SLL dB", "FNBW deg", "Dolph deg", "D dBi"))
for i = 1, #front do
    local level, fnbw = front.objectives.sll_db[i], front.objectives.fnbw_deg[i]
    local over = fnbw / dolph_deg(level) - 1
    worst, low = math.max(worst, over), math.min(low, over)
    if i % 10 == 1 then
        print(("%10.3f %10.4f %10.4f %12.4f"):format(level, fnbw, dolph_deg(level), front.recorded.directivity_db[i]))
    end
end
print(("%d designs, at most %.2f %% above Dolph's curve, %.2f %% below it"):format(#front, 100 * worst, -100 * low))
