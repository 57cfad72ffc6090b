-- expect: columns by name and number
local ec = require "eciton"
local t = ec.load_csv("table.csv")
assert(#t == 2 and #t.angle == 3 and t.level[3] == -13.2 and t[2][2] == -3.5 and t.angle:max() == 20)
assert(not pcall(function() return t.width end))
local sheet = ec.load_csv("sheet.csv") -- of a spreadsheet: a byte order mark, CRLF
assert(sheet.angle[2] == 10 and sheet.level[3] == -13.2 and #sheet.level == 3)
print("columns by name and number")
