-- What a search warns of, a value without one warns of too, and once.
-- expect: warning: sll_db: the look direction lies
-- expect: positions and wavelength in the same unit?
-- expect: done
local ec = require "eciton"
local array = ec.array{ x = { 0, 1e-4, 2e-4, 3e-4 }, wavelength = 1, u = ec.range(-1, 1, 101) }
ec.value(array:directivity_db())
local line = ec.array{ x = { 0, 0.5, 1, 1.5 }, wavelength = 1, u = ec.range(-1, 1, 101) }
local sll = line:sll_db{ look_u = 0.5, exclude_u = 0.1 }
for i = 1, 3 do
    ec.value(sll)
end
print("done")
