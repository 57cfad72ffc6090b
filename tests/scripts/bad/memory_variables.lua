-- expect: memory_variables.lua:5: not enough memory: the script may hold 1 GiB
local ec = require "eciton"
local job = ec.job{ name = "bad" }
for i = 1, 400 do
    job:real{ name = "x" .. i, count = 1e6, min = 0, max = 1 }
end
