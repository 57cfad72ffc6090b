-- expect: file_outside.lua:3: ec.load_csv: the file '../../../LICENSE' lies outside the script's folder
local ec = require "eciton"
local t = ec.load_csv("../../../LICENSE")
