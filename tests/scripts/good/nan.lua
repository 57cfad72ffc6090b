-- expect: nan	nan	nan nan|{nan, 1}
-- refuse: -nan
local ec = require "eciton"
local zero = 0
local list = ec.value(ec.constant{ 0, 1 } / ec.constant{ 0, 1 })   -- 0/0, as a processor makes it
print(0 / zero, list[1], string.format("%g %s", 0 / zero, tostring(0 / zero)) .. "|" .. tostring(list))
