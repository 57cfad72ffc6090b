-- A line between two conducting planes, 4 mm apart and 4 mm wide between magnetic walls: its impedance is that
-- of free space. S-parameters, files, and a search for the port's match.
-- flags: --out OUT
-- file: sparameters.s2p
-- file: sparameters.csv
-- file: sparameters_db.gp
-- file: line_db.gp
-- file: line.s2p
-- file: line.csv
-- file: match.s2p
-- file: match.vtm
-- file: match_grid.vtr
-- file: match_conductors.vtp
-- file: match_ports.vtp
-- holds: match_structure.csv domain,,,,nan,nan,nan,,0,0.0040000000000000001,0,0.0040000000000000001,0,0.02,nan,nan,
-- holds: structure.csv port,lumped,out,,nan,nan,nan,y,0,0.0040000000000000001,0,0.0040000000000000001,0.02,0.02,nan,nan,
-- holds: plate_structure.csv object,plate,plate,pec,nan,nan,nan,z,0,0.002,0.001,0.002,0.001,0.001,nan,nan,
-- holds: plate_structure.csv object,box,box,pec,nan,nan,nan,,0.0030000000000000001,0.0040000000000000001,0,0.001,0,0.001,nan,nan,
-- file: plate.vtm
-- expect: best:save: 'match.s1p': the S-parameters of 2 ports are saved as .s2p or .csv, its grid as .vtm
-- expect: model:save: the model has design variables: best:save("line.s2p", model) writes it
-- expect: sparameters.s2p: sum of |S_ij|^2 over i up to
-- expect: line.csv: sum of |S_ij|^2 over i up to
-- refuse: more power comes out
-- expect: a line is a line
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local f = ec.range(1*GHz, 6*GHz, 51)
local eta, length = 376.730313668, 20*mm

local function near(name, got, wanted, tolerance)
    assert(math.abs(got - wanted) <= tolerance,
        ("%s: %.8g, expected %.8g"):format(name, got, wanted))
end
local function port(name, z, ohms)
    return ec.port{ name = name, from = {0, 0, z}, to = {4*mm, 4*mm, z}, axis = "y", ohms = ohms }
end
local function line(ohms)
    return ec.fdtd{ frequency = f, cell = 1*mm, boundary = { x = "pmc", y = "pec", z = "pmc" },
        domain = { from = {0, 0, 0}, to = {4*mm, 4*mm, length} }, decay_db = 80,
        port("in", 0, ohms), port("out", length, eta) }
end

local matched = line(eta)
local s11, s21, s12, phase, balance, steps, cells, re = ec.value(matched:s("in", "in"):max_db(),
    matched:s("out", "in"):db():min(), matched:s(1, 2):db():min(), matched:s(2, 1):phase_deg():at(3*GHz),
    ec.max(ec.abs(matched:balance("in") - 1)), matched:steps("in"), matched:cells(), matched:impedance("in"):re():at(3*GHz))
assert(s11 < -25, "S11 is " .. s11)
near("S21", s21, 0, 0.02)
near("S12", s12, s21, 1e-3)
near("phase", phase, -360 * 3*GHz * length / ec.c0, 2)
assert(balance < 0.005)
assert(steps > 50 and steps < 5000)
assert(cells >= 4*4*20)
near("impedance", re, eta, 0.03 * eta)
matched:save("line.s2p")
matched:save("line.csv")

-- the port's own resistance as a variable: waves of different ports
local job = ec.job{ name = "line" }
local ohms = job:real{ name = "ohms", min = 200, max = 600 }
local model = line(ohms)
job:minimize("worst", model:s("in", "in"):max_db())
job:record("s21_db", model:s("out", "in"):db())
local best = job:solve{ method = "rand1bin", population = 8, generations = 6 }
near("match", best.variables.ohms, eta, 25)
best:save("match.s2p", model)
best:save("match.vtm", model)
ec.fdtd{ frequency = f, cell = 1*mm, domain = { from = {0, 0, 0}, to = {4*mm, 4*mm, 3*mm} }, boundary = "pec",
    ec.plate{ size = {2*mm, 1*mm}, at = {1*mm, 1.5*mm, 1*mm} }, ec.wire{ from = {3*mm, 3*mm, 1*mm}, to = {3*mm, 3*mm, 3*mm} },
    ec.box{ size = {1*mm, 1*mm, 1*mm}, at = {3.5*mm, 0.5*mm, 0.5*mm} } }:save("plate.vtm")
print(select(2, pcall(best.save, best, "match.s1p", model)))
print(select(2, pcall(model.save, model, "line.s2p")))
print("a line is a line")
