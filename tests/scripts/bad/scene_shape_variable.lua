-- expect: scene_shape_variable.lua:6: ec.box: key 'size': wants a number or a list of numbers, got an expression with design variables
local ec = require "eciton"
local job = ec.job{ name = "x" }
local w = job:real{ name = "w", min = 1, max = 2 }
local box = ec.box{ size = {w, 1, 1} }
ec.scene{ box }
