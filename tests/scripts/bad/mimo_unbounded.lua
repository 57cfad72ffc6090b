-- expect: mimo_unbounded.lua:6: ec.mimo: tx: x can be from -inf to inf: a finite range is needed
local ec = require "eciton"
local scene = ec.scene{ ec.box{ size = { 2, 2, 2 } } }
local job = ec.job{ name = "unbounded", seed = 1 }
local x = job:real{ name = "x", min = 5, max = 6 }
ec.mimo{ scene = scene, wavelength = 1, tx = { x = 1 / (x - 5.5) }, rx = { x = 9 } }
