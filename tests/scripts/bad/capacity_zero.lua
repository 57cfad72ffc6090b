-- expect: capacity (frobenius) has no value
-- expect: nothing but zeros
local ec = require "eciton"

print(ec.value(ec.capacity({ { 0, 0 }, { 0, 0 } }, { snr_db = 20 })))
