-- Three objectives with whole numbers among the variables, and a sweep of three variables.
local ec = require "eciton"
local job = ec.job{ name = "front" }
local x = job:real{ name = "x", count = 3, min = 0, max = 1 }
local n = job:integer{ name = "n", min = 1, max = 4 }
job:minimize("f1", ec.sum(x ^ 2) + 0.1 * n)
job:minimize("f2", ec.sum((x - 1) ^ 2))
job:minimize("f3", 3 * ec.sum((x - 0.5) ^ 2))
job:solve{ evaluations = 400, method = "nsga2", population = 40, keep = "all" }

local chart = ec.job{ name = "chart" }
local a = chart:real{ name = "a", min = 0, max = 10 }
local b = chart:real{ name = "b", min = 0, max = 1 }
local c = chart:integer{ name = "c", min = 1, max = 2 }
chart:record("height", ec.log(ec.sin(a) * b * c)) -- fails where the sine is below 0
chart:sweep{ points = { a = 11, b = 5, c = 2 } }
