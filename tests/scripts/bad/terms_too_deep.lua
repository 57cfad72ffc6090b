-- expect: terms_too_deep.lua:10: job:solve: array: method 'nufft': the elements' z spans 3500 wavelengths
-- expect: more than 64 terms
-- Terms that the script gives do not make an array of any depth possible.
local ec = require "eciton"
local job = ec.job{ name = "deep" }
local shift = job:real{ name = "shift", min = 0, max = 0.1 }
local array = ec.array{ x = shift + ec.constant{ 0, 1, 2 }, z = { 0, 2000, 3500 }, wavelength = 1, method = "nufft",
    terms = 3, u = ec.range(-1, 1, 41), v = ec.range(-1, 1, 41) }
job:minimize("sll_db", array:sll_db{ exclude_u = 0.2 })
job:solve{ generations = 1 }
