-- expect: mimo_material_range.lua:7: ec.mimo: key 'frequency': material 'itu_concrete': ITU-R P.2040 has figures from 1 to 100 GHz, not for 300 GHz
-- refuse: no design could be scored
local ec = require "eciton"
local scene = ec.scene{ ec.ground{ size = { 9, 9 }, material = "itu_concrete" } }
local job = ec.job{ name = "range" }
local f = job:real{ name = "f", min = 2e9, max = 300e9 }
local link = ec.mimo{ scene = scene, frequency = f, tx = { z = 1 }, rx = { x = 3, z = 1 } }
job:maximize("gain", link:path_gain_db():sum())
job:solve{ evaluations = 100 }
