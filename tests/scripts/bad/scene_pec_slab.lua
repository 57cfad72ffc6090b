-- expect: scene_pec_slab.lua:3: ec.scene: key 'materials': 'foil': nothing passes through a perfect conductor: no thickness
local ec = require "eciton"
ec.scene{ materials = { foil = { itu = "pec", thickness = 1e-3 } }, ec.plate{ size = {1, 1}, material = "foil" } }
