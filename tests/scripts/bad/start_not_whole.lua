-- expect: start_not_whole.lua:6: job:solve: key 'start': 'start_not_whole.csv', line 3: variable 'n': value 2.5 is not a whole number
local ec = require "eciton"
local job = ec.job{ name = "columns" }
local n = job:integer{ name = "n", min = 0, max = 9 }
job:minimize("f", n)
job:solve{ generations = 2, start = "start_not_whole.csv" }
