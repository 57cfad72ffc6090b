-- expect: syntax.lua:2:
local x = = 3
