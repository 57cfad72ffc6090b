-- A link in the open over a block, whose users stand on a lattice: paths, coverage, channels.
local ec = require "eciton"
local scene = ec.scene{ ec.ground{ size = {40, 40}, material = "itu_concrete" },
    ec.box{ at = {0, 0, 1.5}, size = {2, 3, 3}, material = "itu_concrete" } }
local job = ec.job{ name = "link" }
local y = job:real{ name = "y", min = -6, max = 6 }
local link = ec.mimo{ scene = scene, frequency = {2.4e9, 2.5e9}, depth = 2, rays = 2000, bandwidth = 20e6, noise_figure_db = 7,
    tx = { at = { x = -6, y = y, z = 3 }, power_dbm = 10, antenna = "halfwave", count = 2, spacing = 0.1 },
    rx = { at = { x = {4, 6, 4, 6}, y = {-2, -2, 2, 2}, z = {1.5, 1.5, 1.5, 1.5} }, antenna = "halfwave", count = 2, spacing = 0.06 } }
job:maximize("capacity", link:capacity{ normalize = "none" }:mean())
job:solve{ evaluations = 12, population = 6 }
