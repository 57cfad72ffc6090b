-- expect: mimo_no_receivers.lua:4: ec.mimo: key 'rx': key 'count': 0 is not allowed, it must be at least 1 and at most 64
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
ec.mimo{ scene = scene, wavelength = 1, tx = { x = 5 }, rx = { at = { x = 9 }, count = 0 } }
