-- expect: not_a_table.lua:3: ec.job: wants a table of keys, as in ec.job{ name = "line", seed = 1 }, got the text 'bad'
local ec = require "eciton"
local job = ec.job("bad")
