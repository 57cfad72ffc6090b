-- expect: escape_columns.lua:11: this column was valid only inside the function of ec.host
local ec = require "eciton"
local job, kept = ec.job{ name = "bad" }, nil
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", ec.host(function(c)
    kept = c.x
    return c.x * 1
end, { x = x }))
job:solve{ generations = 5, population = 20 }
print(#kept)
print(kept[1])
