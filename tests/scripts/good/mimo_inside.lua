-- expect: places inside solids are left out however these touch
-- Boxes on, in and above a ground, beside and in each other, in rooms: places that are free by arithmetic.
local ec = require "eciton"

local function free(what, want, scene, from, to, step)
    local n = ec.grid{ from = from, to = to, step = step or 1, scene = ec.scene(scene) }.n
    assert(n == want, ("%s: %d places are free, not %d"):format(what, n, want))
end

local ground = ec.ground{ size = { 100, 100 } }
local function box(x, y, z, sx, sy, sz) return ec.box{ at = { x, y, z }, size = { sx, sy, sz } } end
local low, high = { -14.5, 0.5, 1.5 }, { 14.5, 19.5, 1.5 } -- 30 x 20 places
for _, z in ipairs{ 3, 3.000001, 2.9, 3.5, 1.6 } do
    free("box at height " .. z, 600 - 200, { ground, box(0, 10, z, 20, 10, 6) }, low, high)
end
free("two that touch", 600 - 250, { ground, box(0, 10, 3, 20, 10, 6), box(12.5, 10, 2, 5, 10, 4) }, low, high)
free("one in the other", 600 - 200, { ground, box(0, 10, 3, 20, 10, 6), box(0, 10, 1, 4, 4, 2) }, low, high)
free("one on the other", 600 - 200, { ground, box(0, 10, 0.5, 20, 10, 1), box(0, 10, 3.5, 20, 10, 5) }, low, high)
free("on and under the ground", 11, { ground }, { -5, 0, -1.5 }, { 5, 0, 0.5 }, { 1, 1, 2 })
free("on a mast", 600, { ground, ec.cylinder{ radius = 3, length = 8, at = { 40.2, 0, 4 } } }, low, high)
free("a mast between", 8, { ground, ec.cylinder{ radius = 0.9, length = 8, at = { 0.3, 0.2, 4 } } },
    { -0.7, -0.8, 1.5 }, { 1.3, 1.2, 1.5 })

-- rooms of 8 x 5 x 3 m: nothing is outside of them
local room = ec.box{ at = { 4, 2.5, 1.5 }, size = { 8, 5, 3 }, inward = true }
local all, ends = { -2.5, -2.5, 0.7 }, { 14.5, 9.5, 0.7 } -- 18 x 13 places, 40 of them within
free("a room", 40, { room }, all, ends)
free("a table on its floor", 40 - 6, { room, box(3.5, 2, 0.4, 3, 2, 0.8) }, all, ends)
free("a table in its floor", 40 - 6, { room, box(3.5, 2, 0.3, 3, 2, 1) }, all, ends)
free("a pillar from floor to ceiling", 40 - 1, { room, box(3.5, 2.5, 1.5, 0.4, 0.4, 3) }, all, ends)
free("the next room", 40 + 25, { room, ec.box{ at = { 10.5, 2.5, 1.5 }, size = { 5, 5, 3 }, inward = true } }, all, ends)
-- walls that let rays through have two sides
local wall = { eps_r = 5, conductivity = 0.05, thickness = 0.1 }
free("thin walls", 18 * 13, { ec.box{ at = { 4, 2.5, 1.5 }, size = { 8, 5, 3 }, inward = true, material = wall } },
    all, ends)

print("places inside solids are left out however these touch")
