-- expect: scene_surface.lua:3: scene:surface: the scene has no object 'cieling' (did you mean 'ceiling'?); it has ceiling
local ec = require "eciton"
ec.scene{ ec.plate{ name = "ceiling", size = {1, 1} } }:surface("cieling")
