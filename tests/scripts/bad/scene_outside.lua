-- expect: scene_outside.lua:3: ec.scene: key 'file': the file '../good/scene_room.obj' lies outside the script's folder
local ec = require "eciton"
ec.scene{ file = "../good/scene_room.obj" }
