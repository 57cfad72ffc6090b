-- flags: --set polish_seconds=0.000001
-- expect: tight: no feasible design found: 'gap' misses min = 0.9 by
-- expect: what can help: start =
-- expect: tight: polishing
-- expect: polish: ended by its time limit
-- expect: (ended by its time limit: it may be inexact)
-- expect: status infeasible
-- expect: warning: infeasible.lua:22: best:value: hpbw_deg is nan: a half-power point is off the grid
-- expect: beam nan
-- refuse: loose: no feasible design found
local ec = require "eciton"
local function array(x, from, to)
    return ec.array{ x = x, wavelength = 1, u = ec.range(from, to, 101) }
end
local job = ec.job{ name = "tight" }
local x = job:real{ name = "x", count = 4, min = 0, max = 2 }
job:minimize("sll_db", array(x, -1, 1):sll_db{ look_u = 0, exclude_u = 0.4 })
job:subject_to("gap", ec.min_gap(x), { min = 0.9 })
job:subject_to("first", x[1], { max = 1.5 })
local best = job:solve{ evaluations = 2000, polish = true, polish_seconds = ec.arg("polish_seconds", 10) }
print("status " .. best.status)
print("beam " .. best:value(array(x, -0.01, 0.01):hpbw_deg()))

local loose = ec.job{ name = "loose" }
local y = loose:real{ name = "y", count = 4, min = 0, max = 2 }
loose:minimize("sll_db", array(y, -1, 1):sll_db{ look_u = 0, exclude_u = 0.4 })
loose:subject_to("gap", ec.min_gap(y), { min = 0.1 })
loose:solve{ evaluations = 2000 }
