-- expect: scene_grid_none.lua:3: surface:grid: no place is left on 'plate': step 0.1 m, inset 0.6 m
local ec = require "eciton"
ec.scene{ ec.plate{ size = {1, 1} } }:surface("plate"):grid(0.1, { inset = 0.6 })
