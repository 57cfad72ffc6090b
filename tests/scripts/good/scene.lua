-- Scenes from shapes and files, what they are made of, and places in them.
-- flags: --out OUT
-- expect: scene of 12 triangles in 1 objects: 6 facets, 12 wedges, 0 curved surfaces; from (-2, -3, 0) to (2, 3, 10) m
-- expect: scene of 14 triangles in 4 objects: 7 facets, 16 wedges, 0 curved surfaces; from (0, 0, 0) to (5, 4, 2.5) m
-- expect: read: 14 triangles, 28 vertices, 16 vertices welded (tolerance 6.87e-06 m)
-- expect: wedges: 0 outer edges, 4 free edges, 12 inner corners
-- expect: material walls: 8 triangles, ITU-R P.2040 concrete
-- expect: material floor_tiles: 2 triangles, eps_r 4, 0.01 S/m, loss tangent 0
-- expect: material itu_plasterboard.001: 2 triangles, ITU-R P.2040 plasterboard
-- expect: material board: 2 triangles, ITU-R P.2040 wood, slab of 0.03 m
-- expect: 0 solids, 1 rooms, 1 sheets
-- file: scene.ply
-- file: scene.vtk
local ec = require "eciton"

local box = ec.scene{ ec.box{ size = {4, 6, 10}, at = {0, 0, 5}, rotate_deg = 0 } }
assert(box.n_triangles == 12 and box.n_facets == 6 and box.n_wedges == 12 and box.n_surfaces == 0)
assert(box.low[1] == -2 and box.high[3] == 10)
print((box:report():match("[^\n]+")))
box:save("scene.ply")
box:save("scene.vtk")

-- the same box with 12,288 triangles
local fine = ec.scene{ ec.box{ size = {4, 6, 10}, at = {0, 0, 5}, divisions = 32 } }
assert(fine.n_triangles == 12288 and fine.n_facets == 6 and fine.n_wedges == 12)

local room = ec.scene{
    file = "scene_room.obj", unit = ec.mm,
    materials = { floor_tiles = { eps_r = 4, conductivity = 0.01 }, walls = "concrete",
        board = { itu = "wood", thickness = 30 * ec.mm } } }
assert(room.n_facets == 7)
print(room:report())
local places = room:surface("ceiling"):grid(0.5)
assert(places.n == 10 * 8 and #places.x == 80)
for i = 1, places.n do
    assert(math.abs(places.z[i] - 2.45) < 1e-6)
end
local fewer = room:surface("ceiling"):grid(0.5, { clearance = 0.2, inset = 1, facing = {0, 0, -1},
    keep_out = { { from = {0, 0, 0}, to = {2.3, 9, 9} } } })
assert(fewer.n == 4 * 5, fewer.n) -- 7 x 5 without the box
-- both sides of a sheet
assert(room:surface("table"):grid(0.2, { facing = {0, 0, -1} }).z[1] < 0.7)
assert(room:surface("table"):grid(0.2, { facing = {0, 0, 1} }).z[1] > 0.7)

-- a file with a ground and a mast around it; the house stands where its transform says
local street = ec.scene{
    file = "scene_street.xml", crease_deg = 20, weld = 1e-5,
    materials = { soil = { itu = "wet_ground" } },
    ec.ground{ name = "street", size = {100, 100}, at = {0, 0, -1}, material = "soil" },
    ec.cylinder{ name = "mast", radius = 0.1, length = 8, at = {10, 0, 3}, sides = 36, divisions = 4 },
    ec.sphere{ radius = 0.2, at = {10, 0, 7.5}, eps_r = 3, loss_tangent = 0.01, sides = 24 },
    ec.cone{ radius = 0.5, length = 1, at = {10, 5, 0}, axis = {0, 0, -1} },
    ec.canyon{ size = {90, 20, 20}, material = "itu_brick", at = {0, 0, 5} },
    ec.wedge{ angle_deg = 60, length = 3, width = 2, at = {-20, 0, 5} },
    ec.plate{ size = {1, 2}, at = {-10, 0, 4}, normal = {1, 0, 0}, material = { itu = "glass", thickness = 0.01 } } }
assert(street.n_surfaces == 3)
assert(math.abs(street.low[1] + 50) < 1e-9)
assert(street:surface("street"):grid(10, { inset = 0 }).n == 121)
local again = street:surface("mast"):grid(0.05, { inset = 0.01 }) -- its ends are flat
assert(again.n > 0)

-- a tunnel and a room are seen from within
local tunnel = ec.scene{ ec.cylinder{ radius = 3, length = 50, axis = {1, 0, 0}, inward = true } }
assert(tunnel:report():find("1 rooms", 1, true) and tunnel:report():find("1 cylinders", 1, true))
local mesh = ec.scene{ exact = false, ec.cylinder{ radius = 3, length = 50, caps = false } }
assert(mesh:report():find("1 curved meshes", 1, true) and mesh:report():find("1 sheets", 1, true))
local flat = ec.scene{ exact = false, crease_deg = 0, ec.cylinder{ radius = 3, length = 50, sides = 12 } }
assert(flat.n_facets == 14 and flat.n_wedges == 36)

-- quantities may be constant expressions
local one = ec.scene{ ec.box{ size = ec.concat(ec.sqrt(4), {2, 2}), at = {0, 0, 1} } }
assert(one.high[3] == 2)
