-- The tutorial of antenna placement (docs/guide/tutorial_room.md): where on the ceiling of an office of 9 x 6 m to hang
-- the two antennas of an access point, so that nine of ten desks get the most; a metal cabinet and a wall
-- of plasterboard are in the way. Users have two antennas at the height of a desk.
-- Expected: in the middle of the ceiling 18.9 bit/s/Hz, at the best places 21.2.
local ec = require "eciton"
local GHz, MHz, mm = ec.GHz, ec.MHz, ec.mm

local office = ec.scene{
    ec.box{ name = "office", size = { 9, 6, 3 }, at = { 4.5, 3, 1.5 }, inward = true, material = "itu_concrete" },
    ec.plate{ name = "wall", size = { 4, 3 }, at = { 5.5, 2, 1.5 }, normal = { 1, 0, 0 },
        material = { itu = "plasterboard", thickness = 100*mm } },
    ec.box{ name = "cabinet", size = { 0.5, 2, 2 }, at = { 2.5, 4, 1 }, material = "pec" } }
local desks = ec.grid{ from = { 0.8, 0.8, 0.8 }, to = { 8.3, 5.3, 0.8 }, step = ec.quick and 1.5 or 1,
    scene = office }
print(("%d desks"):format(desks.n))

local function link_from(at)
    return ec.mimo{ scene = office, frequency = 5.2*GHz, depth = 2, diffraction = 1, transmissions = 2,
        bandwidth = 80*MHz, noise_figure_db = 7,
        tx = { at = at, antenna = "halfwave", power_dbm = 10 },
        rx = { at = desks, count = 2, spacing = 29*mm, antenna = "halfwave" } }
end

-- what two antennas in the middle of the ceiling give
local middle = link_from({ x = { 4.4, 4.6 }, y = { 3, 3 }, z = { 2.9, 2.9 } })
local c = middle:capacity{ normalize = "none" }
print(("in the middle: 10 %% of the desks below %.2f bit/s/Hz, mean %.2f"):format(ec.value(c:percentile(10), c:mean())))

-- what the best two places of a grid give
local job = ec.job{ name = "office", seed = ec.arg("seed", 1) }
local places = office:surface("office"):grid(0.75, { facing = { 0, 0, -1 }, clearance = 0.1 })
local place = job:choice{ name = "place", from = places, count = 2, distinct = true }
local link = link_from(place)
local capacity = link:capacity{ normalize = "none" }
job:maximize("p10", capacity:percentile(10))
job:record("mean", capacity:mean())
local best = job:solve{ method = "aco", evaluations = ec.quick and 40 or 400 }
print(("best places: 10 %% of the desks below %.2f bit/s/Hz, mean %.2f"):format(best.objectives.p10,
    best.recorded.mean))
