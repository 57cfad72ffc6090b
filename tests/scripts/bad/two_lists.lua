-- expect: two_lists.lua:4: ec.geometry.rectangle returns two lists: local x, y = ec.geometry.rectangle
local ec = require "eciton"
local grid = ec.geometry.rectangle{ count_x = 4, count_y = 4, spacing_x = 0.5, spacing_y = 0.5 }
print(#grid, grid.x)
