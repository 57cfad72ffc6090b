-- 20 elements on 6.65 wavelengths whose beam has to end 0.12 from broadside in u: narrower than equal
-- weights allow. Low side lobes then take outer weights that are large and of both signs, which
-- errors of feeds and positions undo, and the drawing's optimum is no good aim (E. N. Gilbert and
-- S. P. Morgan, "Optimum design of directive antenna arrays subject to random variations", Bell Syst.
-- Tech. J. 34, 1955). So the taper is optimised for the side lobes that 95 % of built arrays keep: 64
-- of them in the search, the same for every design; the final figures are those of 1000 others.
-- Measured for seed 1, side lobes of the drawing, of 95 % of built arrays, and of 95 % with an element
-- failed besides: the drawing's optimum -16.3, -13.6 and -8.9 dB, the robust one -15.9, -14.5 and
-- -10.8 dB. About 20 s on two CPU cores.
local ec = require "eciton"
local count = 20
local line = ec.constant(ec.geometry.line{ count = count, spacing = 0.35 }.x)

local e = ec.over{
    shift = ec.normal{ sigma = 0.01, count = count, limit = 0.03 }, -- wavelengths
    gain_db = ec.normal{ sigma = 0.3, count = count },
    phase_deg = ec.normal{ sigma = 3, count = count },
    working = ec.failures{ count = count, failed = 1 },
    samples = 64, final_samples = 1000 }

-- side lobes of the drawing, of what is built of it, and of that with an element less
local function side_lobes(taper)
    local beam, weights = { exclude_u = 0.12 }, taper * 10 ^ (e.gain_db / 20)
    local drawing = ec.array{ x = line, amplitude = taper, wavelength = 1, u = ec.range(-1, 1, 301) }
    local built = drawing:with{ x = line + e.shift, amplitude = weights, phase_deg = e.phase_deg }
    local damaged = built:with{ amplitude = weights * e.working }
    return drawing:sll_db(beam), built:sll_db(beam), damaged:sll_db(beam)
end

local function optimise(name, choose)
    local job = ec.job{ name = name, seed = ec.arg("seed", 1) }
    local half = job:real{ name = "taper", count = count // 2, min = -1, max = 1 }
    local drawing, built, damaged = side_lobes(ec.mirror(half))
    job:minimize("sll_db", choose(drawing, built))
    job:record("drawing_db", drawing)
    job:record("built_db", built:percentile(95))
    job:record("yield", built:yield{ max = -14 })
    job:record("failed_db", damaged:percentile(95))
    job:record("worst_db", damaged:sample_max())
    return job:solve{ population = 64, evaluations = 20000 }
end

local nominal = optimise("nominal", function(drawing) return drawing end)
local robust = optimise("robust", function(_, built) return built:percentile(95) end)
print("side lobes         drawing   95 % of built   below -14 dB   one failed, 95 %       worst")
for i, best in ipairs{ nominal, robust } do
    local r = best.recorded
    print(("%s optimum %7.2f dB %12.2f dB %12.0f %% %15.2f dB %8.2f dB"):format(i == 1 and "nominal" or "robust ",
        r.drawing_db, r.built_db, 100 * r.yield, r.failed_db, r.worst_db))
end
