-- flags: --set seconds=0.2
-- expect: time
local ec = require "eciton"
local job = ec.job{ name = "interrupt" }
local x = job:real{ name = "x", count = 10, min = -5, max = 10 }
local a, b = x:slice(1, 9), x:slice(2, 10)
job:minimize("f", ec.sum(100 * (b - a ^ 2) ^ 2 + (1 - a) ^ 2))
local best = job:solve{ population = 100, seconds = ec.arg("seconds", 0.2) }
print("stopped by " .. best.stop)
