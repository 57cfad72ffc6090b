-- One word changes the element: what turns it has no effect on an isotropic one.
-- expect: warning: isotropic_turned.lua:13: ec.array: key 'normals' has no effect
-- expect: warning: isotropic_turned.lua:13: ec.array: key 'rotation_deg' has no effect
-- expect: same	true	true
-- refuse: isotropic_turned.lua:13: ec.array: key 'normal' 
local ec = require "eciton"
local g = ec.geometry.cylinder{ columns = 8, rows = 1, radius = 3, spacing = 0.5, arc_deg = 60 }
local function sll(element, turned)
    local keys = { x = g.x, y = g.y, z = g.z, wavelength = 1, element = element, theta_deg = ec.range(-90, 90, 181) }
    if turned then
        keys.normals, keys.rotation_deg, keys.polarization = { g.nx, g.ny, g.nz }, 10, "co"
    end
    return ec.value(ec.array(keys):sll_db())
end
print("same", sll("isotropic", true) == sll("isotropic"), sll("cosq", true) ~= sll("cosq"))
