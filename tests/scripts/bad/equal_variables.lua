-- Equal variables of two jobs are two: neither job takes the other's.
-- expect: equal_variables.lua:9: best:value: the expression has a variable of another job (made in line 5)
local ec = require "eciton"
local one, two = ec.job{ name = "one" }, ec.job{ name = "two" }
local x = one:real{ name = "x", count = 3, min = 0, max = 1 }
local y = two:real{ name = "y", count = 3, min = 0, max = 1 }
two:minimize("f", y:sum())
local best = two:solve{ generations = 3 }
best:value(x:sum())
