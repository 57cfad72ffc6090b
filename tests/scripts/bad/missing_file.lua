-- expect: missing_file.lua:3: ec.load_csv: there is no file 'nowhere.csv' in
local ec = require "eciton"
local t = ec.load_csv("nowhere.csv")
