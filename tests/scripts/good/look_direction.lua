-- expect: warning: sll_db: the look direction lies
-- expect: is the array steered there?
-- expect: positions and wavelength in the same unit?
local ec = require "eciton"
local job = ec.job{ name = "forgotten" }
local a = job:real{ name = "a", count = 4, min = 0.5, max = 1 }
-- metres beside a wavelength of 1, and the beam is left at broadside
local array = ec.array{ x = { 0, 1e-4, 2e-4, 3e-4 }, amplitude = a, wavelength = 1, u = ec.range(-1, 1, 101) }
local line = ec.array{ x = { 0, 0.5, 1, 1.5 }, amplitude = a, wavelength = 1, u = ec.range(-1, 1, 101) }
job:minimize("sll_db", line:sll_db{ look_u = 0.5, exclude_u = 0.1 })
job:record("d", array:directivity_db())
job:subject_to("level", array:directivity_db(), { max = 10 })
job:solve{ generations = 3 }
