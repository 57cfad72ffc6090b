-- Binary (free and with a sum), choice, integer and bit-coded real variables in one ant colony.
-- flags: --out OUT
-- expect: right
-- file: best.csv
local ec = require "eciton"
local job = ec.job{ name = "kinds", seed = 3 }
local free = job:binary{ name = "free", count = 12 }
local five = job:binary{ name = "five", count = 16, sum = 5 }
local pick = job:choice{ name = "pick", count = 3, from = 7, distinct = true }
local n = job:integer{ name = "n", count = 2, min = -20, max = 30 }
local x = job:real{ name = "x", min = -1, max = 2 }
local weights, wanted = {}, {}
for i = 1, 16 do weights[i] = (i * 7) % 16 end
for i = 1, 12 do wanted[i] = i % 3 == 0 and 1 or 0 end
job:minimize("f", ec.abs(free - ec.constant(wanted)):sum() + (five * ec.constant(weights)):sum()
    + ec.abs(pick - ec.constant{ 6, 2, 3 }):sum() + ec.abs(n - ec.constant{ 17, -3 }):sum() + ec.abs(x - 2))
local best = job:solve{ method = "aco", colonies = 4, exchange = 10, generations = 4000, target = 10 }
print(best.objectives.f == 0 + 1 + 2 + 3 + 4 and "right" or "wrong: " .. best.objectives.f)
