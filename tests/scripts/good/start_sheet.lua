-- Designs of a spreadsheet, which begins with a byte order mark and has CRLF.
-- expect: from a sheet
local ec = require "eciton"
local job = ec.job{ name = "sheet" }
local r = job:real{ name = "r", min = -1, max = 1 }
local n = job:integer{ name = "n", min = -3, max = 6 }
job:minimize("cost", ec.where(ec.lt(ec.abs(r - 0.25) + ec.abs(n - 3), 1e-12), 0, 1))
local best = job:solve{ start = "sheet_designs.csv", generations = 1, population = 8 }
assert(best.objectives.cost == 0 and best.variables.n == 3)
print("from a sheet")
