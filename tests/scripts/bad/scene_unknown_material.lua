-- expect: scene_unknown_material.lua:3: ec.box: key 'material': unknown material 'chese'; known are pec, itu_vacuum
local ec = require "eciton"
ec.scene{ ec.box{ size = {1, 1, 1}, material = "chese" } }
