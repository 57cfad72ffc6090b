-- expect: scene_material_figures.lua:3: material: key 'eps_r': 0.5 is not allowed, it must be at least 1
local ec = require "eciton"
ec.scene{ ec.plate{ size = {1, 1}, material = { eps_r = 0.5 } } }
