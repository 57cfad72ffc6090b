-- command: check
-- flags: --backend cpu
-- expect: 9 k-d parts about planes along x within the ranges
-- The log names parts and planes.
local ec = require "eciton"
local job = ec.job{ name = "parts" }
local x = job:real{ name = "x", count = 900, min = -6, max = 6 }
local y = job:real{ name = "y", count = 900, min = -6, max = 6 }
local grid = ec.range(-0.3, 0.3, 32)
job:minimize("peak", ec.abs(ec.array{ x = x, y = y, z = (x + y) / 3 + x * y / 30, wavelength = 1, u = grid, v = grid,
    method = "nufft", parts = 3, partition = "kd" }:pattern()):max())
job:solve{ evaluations = 100 }
