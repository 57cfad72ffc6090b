-- expect: scene_no_file.lua:3: ec.scene: key 'file': there is no file 'nowhere.obj'
local ec = require "eciton"
ec.scene{ file = "nowhere.obj" }
