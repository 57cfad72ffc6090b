-- expect: file_outside_absolute.lua:3: ec.load_csv: the file '/etc/passwd' lies outside the script's folder
local ec = require "eciton"
local t = ec.load_csv("/etc/passwd")
