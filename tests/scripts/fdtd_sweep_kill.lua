-- A sweep of structures on grids, a few rows a batch: run_scripts.sh kills it and lets it go on.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "killed" }
local length = job:real{ name = "length", min = 4*mm, max = 8*mm }
local model = ec.fdtd{ frequency = ec.range(2*GHz, 6*GHz, 5), steps = 1000, cells_per_wavelength = 10,
    air = 4*mm, layers = 4, ec.plate{ size = { 12*mm, 10*mm } },
    ec.plate{ size = { length, 6*mm }, at = { 0, 0, 2*mm } }, ec.port{ from = { 0, 0, 0 }, to = { 0, 0, 2*mm } } }
job:record("s11", model:s(1, 1):min_db())
print(job:sweep{ points = { length = 16 }, name = "rows" })
