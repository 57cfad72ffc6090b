-- expect: scene_mistyped_material.lua:3: ec.scene: key 'materials': nothing is made of 'line' (did you mean 'lino'?)
local ec = require "eciton"
ec.scene{ file = "scene_tile.obj", material = "pec", materials = { line = "itu_wood" } }
