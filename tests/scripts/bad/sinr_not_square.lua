-- expect: sinr_not_square.lua:4: ec.sinr: H is 1 x 2: as many users as transmitters are needed
local ec = require "eciton"

ec.sinr({ { 1, 2 } }, { snr_db = 20 })
