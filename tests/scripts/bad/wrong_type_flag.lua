-- expect: wrong_type_flag.lua:6: job:solve: key 'polish': wants true or false, got the text 'yes'
local ec = require "eciton"
local job = ec.job{ name = "bad" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x * x)
job:solve{ generations = 5, polish = "yes" }
