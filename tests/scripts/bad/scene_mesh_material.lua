-- expect: scene_mesh_material.lua:4: ec.scene: object 'floor' of 'scene_tile.obj' is of the unknown material 'lino': say what it is, as in materials = { ["lino"] = "itu_concrete" }
local ec = require "eciton"
local file = "scene_tile.obj"
ec.scene{ file = file }
