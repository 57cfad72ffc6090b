-- expect: capacity_without_snr.lua:4: ec.capacity: key 'snr_db' is missing
local ec = require "eciton"

ec.capacity({ { 1, 2 }, { 3, 4 } }, { normalize = "none" })
