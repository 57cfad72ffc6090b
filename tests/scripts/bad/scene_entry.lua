-- expect: scene_entry.lua:3: ec.scene: entry 2 is a string; without a key there are shapes, as ec.box{ ... }
local ec = require "eciton"
ec.scene{ ec.box{ size = {1, 1, 1} }, "room.obj" }
