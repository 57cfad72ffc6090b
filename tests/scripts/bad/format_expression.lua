-- expect: format_expression.lua:4: string.format: value 2 is an expression
-- expect: best:value(expr) after job:solve
local ec = require "eciton"
print(("%d: %.3f"):format(1, ec.job{ name = "j" }:real{ name = "x", min = 0, max = 1 }))
