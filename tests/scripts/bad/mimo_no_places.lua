-- expect: mimo_no_places.lua:4: ec.mimo: key 'rx': key 'at': x: the list is empty
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
ec.mimo{ scene = scene, wavelength = 1, tx = { x = 5 }, rx = { at = { x = {}, y = 0 } } }
