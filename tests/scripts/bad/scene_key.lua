-- expect: scene_key.lua:3: ec.scene: unknown key 'untit' (did you mean 'unit'?)
local ec = require "eciton"
ec.scene{ untit = 1, ec.box{ size = {1, 1, 1} } }
