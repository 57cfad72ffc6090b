-- expect: other_jobs_variable.lua:6: job:minimize: objective 'f': the expression has a variable of another job (made in line 4)
local ec = require "eciton"
local a, b = ec.job{ name = "a" }, ec.job{ name = "b" }
local x = a:real{ name = "x", min = 0, max = 1 }
local y = b:real{ name = "y", min = 0, max = 2 }
b:minimize("f", x + y)
