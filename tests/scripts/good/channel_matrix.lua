-- Functions of channel matrices against figures of an independent computation (numpy).
-- expect: singular values 5.601933 0.931848
-- expect: capacity 10.286574 10.296407 16.089668
-- expect: condition 15.579853 dB, 6.011635
-- expect: degrees of freedom 1.055298, effective rank 1.506353
-- expect: sum rate 1.093342, MMSE 1.793967
-- expect: float32 10.2866, bisection 5.601933
-- expect: two matrices 10.286574 13.316423
-- expect: percentile 2.2 4
local ec = require "eciton"

local H = ec.complex({ { 1, 2 }, { 3, 4 } }, { { 0, 1 }, { 0.5, -1 } })
local value = ec.value
local s = value(ec.singular_values(H))
print(("singular values %.6f %.6f"):format(s[1], s[2]))
print(("capacity %.6f %.6f %.6f"):format(value(H:capacity{ snr_db = 20 }),
    value(ec.capacity(H, { snr_db = 20, power = "water_filling" })),
    value(H:capacity{ snr_db = 20, normalize = "none" })))
print(("condition %.6f dB, %.6f"):format(value(ec.condition_db(H)), value(ec.condition_number(H))))
print(("degrees of freedom %.6f, effective rank %.6f"):format(value(H:degrees_of_freedom()),
    value(H:effective_rank())))
print(("sum rate %.6f, MMSE %.6f"):format(value(ec.sum_rate(H, { snr_db = 0 })),
    value(ec.sum_rate(H, { snr_db = 0, combining = "mmse" }))))
print(("float32 %.4f, bisection %.6f"):format(value(H:capacity{ snr_db = 20, precision = "float32" }),
    value(ec.singular_values(H, { svd = "bisection" }))[1]))
local eye = ec.constant{ { 1, 0 }, { 0, 1 } }
local two = ec.reshape(ec.concat(H, ec.complex(eye, 0 * eye)), 2, 2, 2)
local both = value(two:capacity{ snr_db = 20 })
print(("two matrices %.6f %.6f"):format(both[1], both[2]))
-- the samples of ec.over come first
local x = ec.constant{ 5, 1, 2, 4, 3 }
local over = ec.over{ 1, 2, 3, 4, 5 }
print(("percentile %.14g %.14g"):format(value(x:percentile(30)), value((x * over):percentile(75))[2]))
