-- expect: missing_module.lua:2: module 'eciton.antennas' not found
local a = require "eciton.antennas"
