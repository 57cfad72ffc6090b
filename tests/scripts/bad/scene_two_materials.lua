-- expect: scene_two_materials.lua:3: ec.box: give material or eps_r, not both
local ec = require "eciton"
ec.box{ size = {1, 1, 1}, material = "pec", eps_r = 3 }
