-- Design chart of a uniformly spaced line of 16 elements: taper against steering.
--
-- A cosine-squared taper on a pedestal, a(x) = pedestal + (1 - pedestal) cos^2(pi x / L), and a beam steered from
-- broadside to 50 degrees. The table answers, for each pedestal and angle: how high are the side lobes, how wide
-- is the beam, how much gain is left?
--
--   ./dev run examples/array_sweep.lua --out out
--
-- writes out/sweep.csv with a row for each design, and a picture of each quantity. Run again it evaluates nothing:
-- the rows are there. With --set columns=41 it evaluates only the new ones.
-- Expect: side lobes of -13.2 dB without a taper (pedestal 1), the lowest -39.5 dB at a pedestal of 0.1; beams from
-- 6.4 to 15.6 degrees, the widest at 50. Then which of the two matters for what: side lobes and directivity depend
-- on the taper alone, the beam width on both.
local ec = require "eciton"
local job = ec.job{ name = "line of 16", seed = 1 }

local count, spacing = 16, 0.5
local pedestal = job:real{ name = "pedestal", min = 0, max = 1 }
local steer_deg = job:real{ name = "steer_deg", min = 0, max = 50 }

local x = ec.geometry.line{ count = count, spacing = spacing }.x
local length = count * spacing
local bell = {}
for i = 1, count do
    bell[i] = math.cos(math.pi * x[i] / length)^2
end
local amplitude = pedestal + (1 - pedestal) * ec.constant(bell)

-- the look direction of the metrics is the steering direction, wherever the sweep puts it
local array = ec.array{ x = x, amplitude = amplitude, wavelength = 1, steer_u = ec.sin(steer_deg * ec.deg),
    element = "cosq", q = 0.5, u = ec.range(-1, 1, 801) }
job:minimize("sll_db", array:sll_db())
job:record("hpbw_deg", array:hpbw_deg())
job:record("directivity_db", array:directivity_db())
-- where the designs can be used: side lobes below -20 dB
job:subject_to("side lobes", array:sll_db(), { max = -20 })

local chart = job:sweep{ points = { pedestal = ec.arg("rows", 21), steer_deg = ec.arg("columns", 21) } }

print(("\n%10s %10s %10s %12s"):format("pedestal", "sll_db", "hpbw_deg", "directivity"))
local n = chart.shape[2]
for row = 1, #chart, math.max(1, chart.shape[1] // 5) * n do       -- broadside: the first column
    print(("%10.2f %10.2f %10.2f %12.2f"):format(chart.variables.pedestal[row], chart.objectives.sll_db[row],
        chart.recorded.hpbw_deg[row], chart.recorded.directivity_db[row]))
end
local best = chart:best("directivity_db", "max")
print(("most directive with side lobes below -20 dB: pedestal %.2f at %.0f deg, %.2f dB"):format(
    best.variables.pedestal, best.variables.steer_deg, best.recorded.directivity_db))

-- shares of the variance: the taper makes the side lobes, both make the beam width
local shares = job:sensitivity{ points = 256 }
print(("beam width: %.2f of its variance by steering alone"):format(shares.S1.hpbw_deg.steer_deg))
