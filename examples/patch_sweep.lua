-- A patch on a substrate of eps_r 3.38, 1.524 mm, with a probe 6 mm from its middle: resonance and match over its width
-- and length, 17 x 13 = 221 candidates in one stack. The lines of each candidate's grid lie on its own
-- edges, so that the resonance falls smoothly with the length.
-- Expected: f0 from 2.21 to 2.63 GHz (1.8 % higher with 24 cells a wavelength and 8 layers, of 3.2 times the cells); the
-- second differences of f0 over the length below 0.2 % of it. 96,512 cells a candidate.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "patch_sweep" }
local w = job:real{ name = "width", min = 36*mm, max = 44*mm }
local l = job:real{ name = "length", min = 28*mm, max = 34*mm }
local h = 1.524*mm
local model = ec.fdtd{ frequency = ec.range(1*GHz, 4*GHz, 301), boundary = "pml",
    cells_per_wavelength = ec.quick and 8 or 14, decay_db = ec.quick and 20 or 40,
    air = ec.quick and 10*mm or 30*mm, least_cells = ec.quick and 1 or 2, layers = ec.quick and 5 or 6,
    ec.box{ size = { 60*mm, 60*mm, h }, at = { 0, 0, h/2 }, eps_r = 3.38, loss_tangent = 0.0027 },
    ec.plate{ size = { 60*mm, 60*mm } },
    ec.plate{ size = { l, w }, at = { 0, 0, h } },
    ec.port{ name = "in", from = { -6*mm, 0, 0 }, to = { -6*mm, 0, h }, ohms = 50 } }
print(model:report())

local s11 = model:s("in", "in")
job:record("f0", s11:argmin())
job:record("depth_db", s11:min_db())
job:record("band", s11:band_below_db(-10))
local points = ec.quick and 3 or nil
local sweep = job:sweep{ points = { width = points or 17, length = points or 13 } }

local f0 = sweep.recorded.f0
print(("f0 from %.4f to %.4f GHz"):format(f0:min() / 1e9, f0:max() / 1e9))
if not ec.quick then -- the largest second difference of f0 over the length, which goes fastest
    local n, worst = 13, 0
    for first = 0, #f0 - n, n do
        for k = first + 2, first + n - 1 do
            worst = math.max(worst, math.abs(f0[k - 1] - 2*f0[k] + f0[k + 1]) / f0[k])
        end
    end
    print(("second differences of f0 up to %.3f %%"):format(100 * worst))
end
