-- expect: one point of phi
-- A turn of phi in one step is one direction a ring; a cone about the look direction has no density there.
local ec = require "eciton"
ec.job{ name = "phi" }
local array = ec.array{ x = 0.5, wavelength = 1, theta_deg = ec.range(0, 90, 2), phi_deg = ec.range(0, 360, 2) }
assert(math.abs(ec.value(array:sll_db{ look_theta_deg = 0, look_phi_deg = 0, exclude_deg = 1 })) < 1e-9)
print("one point of phi")
