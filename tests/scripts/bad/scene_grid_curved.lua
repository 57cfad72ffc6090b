-- expect: scene_grid_curved.lua:3: surface:grid: object 'sphere' is curved: it has no flat facet for a grid
local ec = require "eciton"
ec.scene{ ec.sphere{ radius = 1 } }:surface("sphere"):grid(0.1)
