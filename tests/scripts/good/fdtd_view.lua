-- What a model holds, before it is run: its grid, what it would take, files for ParaView and cuts.
-- command: check
-- flags: --view OUT/patch.vtm
-- expect: model
-- expect: steps at least (the pulse), 200000 at most
-- expect: for the search
-- refuse: us an evaluation
-- file: patch.vtm
-- file: patch_grid.vtr
-- file: patch_conductors.vtp
-- file: patch_ports.vtp
-- file: patch_cuts.gp
-- holds: patch_cuts.gp substrate eps_r 2.2
-- holds: patch_cuts.gp "feed"
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz

local job = ec.job{ name = "patch" }
local length = job:real{ name = "length", min = 14*mm, max = 18*mm, start = 16*mm }
local model = ec.fdtd{ frequency = ec.range(5*GHz, 8*GHz, 31), cells_per_wavelength = 10,
    boundary = { z_low = "pec" }, materials = { substrate = { eps_r = 2.2 } },
    ec.box{ size = {length + 10*mm, 24*mm, 0.8*mm}, at = {0, 0, 0.4*mm}, material = "substrate" },
    ec.plate{ size = {length, 14*mm}, at = {0, 0, 0.8*mm} },
    ec.port{ name = "feed", from = {-3*mm, 0, 0}, to = {-3*mm, 0, 0.8*mm} } }
job:minimize("match", model:s(1, 1):at(6*GHz):abs())
job:solve{ method = "de", generations = 10, population = 16 }
