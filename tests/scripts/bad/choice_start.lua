-- expect: choice_start.lua:4: job:choice: variable 'x': index 0 is not a whole number from 1 to 3
local ec = require "eciton"
local job = ec.job{ name = "choice" }
job:choice{ name = "x", from = {10, 20, 30}, start = 0 }
