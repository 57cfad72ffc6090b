-- Where on the ceiling of a furnished meeting room to hang four antennas at 3.5 GHz: four places of a
-- grid, by choice without repetition, for the highest capacity that nine of ten users get. Users have two
-- antennas 8 cm apart at 1.2 m, on a grid away from walls and the pillar. The capacity
-- is by a link budget (0 dBm in 100 MHz, noise figure 7 dB), so distance and shadow count: H is not
-- normalised. The room is mimo_room.obj, 2,300 triangles with materials of ITU-R P.2040; its window is a
-- pane of 6 mm. Paths have up to two reflections; waves pass through the pane only, which has nothing
-- behind it. 22.8 bit/s/Hz for nine of ten users, 23.6 in the mean; 1500 evaluations of 34 users take half
-- a minute of one core.
local ec = require "eciton"
local job = ec.job{ name = "mimo_room", seed = ec.arg("seed", 1) }

local room = ec.scene{ file = "mimo_room.obj",
    materials = { itu_glass = { itu = "glass", thickness = 6 * ec.mm } } }
local mounts = room:surface("ceiling"):grid(1, { facing = {0, 0, -1}, clearance = 0.05, inset = 0.4,
    keep_out = { { from = {0.9, 0.9, 0}, to = {1.9, 1.9, 3} } } })
local users = room:surface("floor"):grid(ec.quick and 1.6 or 1, { facing = {0, 0, 1}, clearance = 1.2, inset = 0.7,
    keep_out = { { from = {1, 1, 0}, to = {1.8, 1.8, 3} } } })
print(("%d places at the ceiling, %d users"):format(mounts.n, users.n))

local mount = job:choice{ name = "mount", from = mounts, count = 4, distinct = true }
local link = ec.mimo{ scene = room, frequency = 3.5e9, depth = ec.arg("depth", 2), rays = ec.quick and 10000 or 100000,
    bandwidth = 100e6, noise_figure_db = 7,
    tx = { at = mount, antenna = "halfwave", power_dbm = 0 },
    rx = { at = users, count = 2, spacing = 0.08, antenna = "halfwave" } }
print(link:report())

local capacity = link:capacity{ normalize = "none" }
job:maximize("p10_capacity", capacity:percentile(10))
job:record("mean_capacity", capacity:mean())
local best = job:solve{ evaluations = ec.arg("evaluations", ec.quick and 40 or 1500) }
print(("10th percentile %.2f bit/s/Hz, mean %.2f"):format(best.objectives.p10_capacity,
    best.recorded.mean_capacity))
