-- expect: pattern_outside.lua:3: ec.load_pattern: the file '../../../LICENSE' lies outside the script's folder
local ec = require "eciton"
local p = ec.load_pattern("../../../LICENSE")
