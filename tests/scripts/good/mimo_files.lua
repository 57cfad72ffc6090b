-- Files of a link: those that a search with --out leaves by itself, those of best:save and link:save, and
-- what cannot be written.
-- flags: --out OUT
-- file: channel.npy
-- file: channel.csv
-- file: paths.csv
-- file: paths.vtk
-- file: scene.vtk
-- file: coverage.csv
-- file: coverage_path_gain_db.gp
-- file: coverage_received_dbm.gp
-- file: coverage_capacity_bit_s_hz.gp
-- holds: antennas.csv link,side,receiver,antenna,x_m,y_m,z_m,pattern,axis_x,axis_y,axis_z,up_x,up_y,up_z,sample
-- holds: antennas.csv 1,tx,,2,
-- holds: antennas.csv 1,rx,6,2,
-- holds: antennas_2.csv 2,rx,1,1,2,2,1.5,halfwave,0,0,1,,,,
-- holds: where.csv 1,rx,6,1,
-- holds: paths.csv ,grazing,frequency_hz[1],re[1]
-- holds: paths_2.csv ,grazing,frequency_hz[1],re[1]
-- holds: single.csv ,grazing,frequency_hz,re,im,gain_db,phase_deg
-- holds: single.csv ,0,2997924580,
-- holds: fixed_path_gain_db.gp smooth unique
-- expect:   transmitting antennas of link 1, x y z in m
-- refuse:   receiving antennas
-- file: channel_2.npy
-- file: paths_2.vtk
-- file: h.npy
-- file: h.csv
-- file: strong.csv
-- file: room.ply
-- file: lines.vtk
-- file: users.csv
-- file: users_paths.gp
-- file: users_gain_db.gp
-- file: fixed.npy
-- file: fixed.csv
-- expect: channel.npy: [frequency][receiver][rx][tx] = 2 x 6 x 2 x 2, complex128
-- expect: of each pair of antennas the 20 strongest within 60 dB (best:save writes all)
-- expect: fixed.npy: [frequency][receiver][rx][tx] = 1 x 3 x 1 x 1, complex128
-- expect: best:save: 'h.txt': channel is written as .npy or .csv, and paths as .csv, .vtk or .ply
-- expect: best:save: 'h.vtk': channel is written as .npy or .csv, and paths as .csv, .vtk or .ply
-- expect: best:save: 'p.npy': paths is written as .csv, .vtk or .ply
-- expect: best:save: 'c.npy': coverage is written as .csv
-- expect: best:save: key 'strongest' is one of paths: give what = "paths"
-- expect: best:save: key 'values' is one of coverage: give what = "coverage"
-- expect: best:save: key 'strongest': 0 is not allowed, it must be at least 1
-- expect: best:save: unknown key 'strongst' (did you mean 'strongest'?)
-- expect: best:save: key 'values': wants a table as { outage = expr }, got a number
-- expect: best:save: key 'values': a value has no name; give { outage = expr }
-- expect: best:save: value 'x' has 1 elements; a map shows real numbers of each of the 6 receivers
-- expect: best:save: map: 'a/b' is no name for a file
-- expect: best:save: value 'path_gain_db': the map has a column of this name by itself; give it another one
-- expect: best:save: 'a.npy': antennas is written as .csv
-- expect: lies outside
-- expect: link:save: the link has design variables: best:save("h.npy", link) writes it at the best design
-- expect: link:save: wants the name of a file, as in link:save("h.npy")
-- expect: ec.grid: key 'scene': none of the 3 places is free
-- expect: ec.grid: key 'clearance' goes with scene
-- expect: ec.grid: key 'scene': wants a scene of ec.scene{ ... }, got a number
-- expect: all refused: true
-- refuse: triangles in
local ec = require "eciton"

local room = ec.scene{ ec.box{ name = "room", size = { 8, 5, 3 }, at = { 4, 2.5, 1.5 }, inward = true,
    material = "itu_concrete" }, ec.cylinder{ name = "column", radius = 0.2, length = 1, at = { 6, 3, 0.6 } } }
assert(room:report():find("scene of")) -- so the log need not say it again
local job = ec.job{ name = "room's", seed = 1 }
local site = job:choice{ name = "site", count = 2, distinct = true,
    from = room:surface("room"):grid(0.5, { facing = { 0, 0, -1 }, clearance = 0.1 }) }
local function link_of(users, count)
    return ec.mimo{ scene = room, frequency = { 3.5 * ec.GHz, 3.6 * ec.GHz }, bandwidth = 100 * ec.MHz,
        noise_figure_db = 7, depth = 1, tx = { at = site, antenna = "halfwave", power_dbm = 20 },
        rx = { at = users, count = count or 1, spacing = 43 * ec.mm, antenna = "halfwave" } }
end
local link = link_of(ec.grid{ from = { 1, 1, 1.2 }, to = { 6, 4, 1.2 }, step = 2 }, 2)
local one = link_of({ x = 2, y = 2, z = 1.5 })
job:maximize("p10", link:capacity{ normalize = "none" }:percentile(10))
job:record("gain", one:path_gain_db())
local best = job:solve{ method = "rand1bin", population = 6, generations = 2 }

best:save("h.npy", link)
best:save("h.csv", link, { what = "channel" })
best:save("strong.csv", link, { what = "paths", strongest = 2, floor_db = 30 })
best:save("room.ply", link, { strongest = 1 })
best:save("lines.vtk", link, { floor_db = 20 })
best:save("where.csv", link, { what = "antennas" })
best:save("users.csv", link, { what = "coverage", values = { paths = link:paths(), gain_db = link:path_gain_db() } })
local fixed = ec.mimo{ scene = room, wavelength = 0.1, depth = 1, tx = { x = 1, y = 1, z = 2.5 },
    rx = { at = { x = { 1.1, 2.7, 5 }, y = 3, z = 1 } } }
fixed:save("fixed.npy")
fixed:save("fixed.csv", { what = "coverage" })
fixed:save("single.csv", { what = "paths" })

-- places where antennas can be: beside the column, and within the room
local beside = ec.grid{ from = { 5.5, 3, 0.5 }, to = { 6.5, 3, 0.5 }, step = 0.5, scene = room }
assert(beside.n == 2 and beside.x[1] == 5.5 and beside.x[2] == 6.5)
local within = ec.grid{ from = { -1, 1, 1 }, to = { 1, 1, 1 }, step = 1, scene = room, clearance = 0.5 }
assert(within.n == 1 and within.x[1] == 1)

local refused = true
for _, try in ipairs{ function() best:save("h.txt", link) end,
    function() best:save("h.vtk", link, { what = "channel" }) end,
    function() best:save("p.npy", link, { what = "paths" }) end,
    function() best:save("c.npy", link, { what = "coverage" }) end,
    function() best:save("h.npy", link, { strongest = 3 }) end,
    function() best:save("p.vtk", link, { values = {} }) end,
    function() best:save("p.vtk", link, { strongest = 0 }) end,
    function() best:save("p.vtk", link, { strongst = 1 }) end,
    function() best:save("c.csv", link, { what = "coverage", values = 3 }) end,
    function() best:save("c.csv", link, { what = "coverage", values = { link:paths() } }) end,
    function() best:save("c.csv", link, { what = "coverage", values = { x = 3 } }) end,
    function() best:save("c.csv", link, { what = "coverage", values = { ["a/b"] = link:paths() } }) end,
    function() best:save("c.csv", link, { what = "coverage", values = { path_gain_db = link:path_gain_db() } }) end,
    function() best:save("a.npy", link, { what = "antennas" }) end, function() best:save("../h.npy", link) end, function() link:save("h.npy") end,
    function() fixed:save() end,
    function() ec.grid{ from = { 5.5, 3, 0.5 }, to = { 6.5, 3, 0.5 }, step = 0.5, scene = room, clearance = 0.35 } end,
    function() ec.grid{ from = { 0, 0, 0 }, to = { 1, 1, 1 }, step = 1, clearance = 1 } end,
    function() ec.grid{ from = { 0, 0, 0 }, to = { 1, 1, 1 }, step = 1, scene = 7 } end } do
    local ok, message = pcall(try)
    refused = refused and not ok
    print(message)
end
print("all refused: " .. tostring(refused))
