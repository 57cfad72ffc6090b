-- expect: scene_empty.lua:3: ec.scene: the scene is empty: give a file, or shapes
local ec = require "eciton"
ec.scene{ unit = ec.mm }
