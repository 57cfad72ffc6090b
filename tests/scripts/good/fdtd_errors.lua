-- expect: every mistake is named
-- What ec.fdtd, its parts and its methods say about mistakes: each message begins with the script's line.
local ec = require "eciton"
local nan, inf = 0 / 0, 1 / 0
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "errors" }
local v = job:real{ name = "v", count = 3, min = -1, max = 2 }
local w = job:real{ name = "w", min = 1*mm, max = 2*mm }
local f = ec.range(1*GHz, 2*GHz, 11)
local port = ec.port{ name = "in", from = { 0, 0, 0 }, to = { 0, 0, 1*mm } }
local box = ec.box{ size = { 10*mm, 10*mm, 1*mm }, eps_r = 2 }

-- a model of one object, or with one more key
local function of(object) return ec.fdtd{ frequency = f, object, port } end
local function with(keys)
    local all = { frequency = f, box, port }
    for key, value in pairs(keys) do all[key] = value end
    return ec.fdtd(all)
end
local function made_of(keys)
    return ec.fdtd{ frequency = f, materials = keys, port,
        ec.box{ size = { 1, 1, 1 }, material = "a" } }
end

local cases = {
    -- keys
    { ec.fdtd, 3, "ec.fdtd: wants a table, as in ec.fdtd{ frequency" },
    { ec.fdtd, { box, port }, "ec.fdtd: key 'frequency' is missing" },
    { ec.fdtd, { frequency = f }, "ec.fdtd: the model is empty: give objects" },
    { with, { conformal = true, edge_correction = true }, "conformal and edge_correction do not go together: give one" },
    { with, { boundry = "pml" }, "ec.fdtd: unknown key 'boundry' (did you mean 'boundary'?)" },
    { with, { frequency = {} }, "ec.fdtd: key 'frequency': the list is empty" },
    { with, { frequency = { 2, 1 } }, "ec.fdtd: key 'frequency': element 2, 1, is not above the one before it" },
    { with, { frequency = { 0, 1 } }, "element 1 is 0, it must be above 0" },
    { with, { frequency = w }, "wants a number or a list of numbers, got an expression with design variables" },
    { with, { boundary = "abc" }, "ec.fdtd: key 'boundary': unknown word 'abc', allowed are pec|pmc|pml|periodic" },
    { with, { boundary = { x_lo = "pec" } }, "ec.fdtd: key 'boundary': unknown key 'x_lo' (did you mean 'x_low'?)" },
    { with, { boundary = { z = "pcm" } }, "ec.fdtd: key 'boundary': key 'z': unknown word 'pcm'" },
    { with, { boundary = { x_low = "periodic" } }, "both walls across x have to be periodic, or none" },
    { with, { cell = 0 }, "ec.fdtd: key 'cell': 0 is not allowed" },
    { with, { cell = { 1*mm, 1*mm } }, "ec.fdtd: key 'cell': wants a number or {dx, dy, dz}, got a list of 2" },
    { with, { cell = { 1*mm } }, "wants a number or {dx, dy, dz}, got a list of 1" },
    { with, { cell = w }, "got an expression with design variables" },
    { with, { snap = true }, "ec.fdtd: key 'snap' goes with cell" },
    { with, { largest = 1*mm, smallest = 2*mm }, "ec.fdtd: key 'largest': 0.001 m is below smallest, 0.002 m" },
    { with, { growth = 1 }, "key 'growth': 1 is not allowed, it must be at least 1.01 and at most 10" },
    { with, { cells_per_wavelength = 2 }, "key 'cells_per_wavelength': 2 is not allowed" },
    { with, { courant = 1.1 }, "key 'courant': 1.1 is not allowed" },
    { with, { averaging = 9 }, "key 'averaging': 9 is not allowed" },
    { with, { domain = 3 }, "ec.fdtd: key 'domain': wants a table of keys" },
    { with, { domain = { from = { 0, 0, 0 } } }, "ec.fdtd: key 'domain': key 'to' is missing" },
    { with, { domain = { from = { 0, 0 }, to = { 1, 1, 1 } } }, "key 'domain': key 'from': wants 3 numbers" },
    { with, { precision = "float16" }, "key 'precision': unknown word 'float16'" },
    { with, { pulse = "gauss" }, "key 'pulse': unknown word 'gauss'" },
    { with, { pulse = "gaussian", pulse_centre = 1*GHz }, "key 'pulse_centre' goes with pulse = \"modulated\"" },
    { with, { steps = 100, max_steps = 200 }, "give steps, or max_steps and decay_db, not both" },
    { with, { decay_db = nan }, "key 'decay_db': wants a finite number" },
    -- entries
    { with, { [3] = "box" }, "ec.fdtd: entry 3 is a string; without a key there are objects and ports" },
    { with, { [4] = box }, "ec.fdtd: the list has a hole: element 3 is nil" },
    { with, { [3] = ec.debye{ delta = 1, tau = 1 } }, "ec.fdtd: entry 3 is a pole: it belongs to a material's poles" },
    { with, { [3] = port }, "ec.fdtd: two ports have the name 'in'" },
    { with, { [3] = ec.port{ name = "1", from = { 0, 0, 0 }, to = { 0, 1, 0 } },
        [2] = ec.port{ from = { 0, 0, 0 }, to = { 0, 1, 0 } } },
        "ec.fdtd: port 2: key 'name': '1' would be taken for a number" },
    { with, { [3] = ec.port{ name = "", from = { 0, 0, 0 }, to = { 0, 1, 0 } } }, "ec.fdtd: port 2: key 'name': the name is empty" },
    { with, { [3] = ec.port{ name = "twin", from = { 0, 0, 0 }, to = { 0, 0, 1*mm } } }, "ec.fdtd: 'in' and 'twin' are at the same place" },
    -- shapes
    { of, ec.cylinder{ radius = 1*mm, inner_radius = 1*mm, length = 1*mm }, "ec.cylinder: key 'inner_radius': 0.001 is not below radius, 0.001" },
    { ec.box, { size = { v[1], 1, 1 } }, "ec.box: key 'size': the expression can be -1, it must be above 0" },
    { ec.box, { size = { (v[1] + 3) - v[1], 1, 1 } }, "it must be above 0 and at most 1000000000 (by the ranges of its parts" },
    { of, ec.cone{ radius = 1, length = 1 }, "ec.fdtd: ec.cone is for ec.scene alone; there are ec.box" },
    { of, ec.box{ size = { 1, 1, 1 }, divisions = 2 }, "ec.fdtd: ec.box has the key 'divisions', which is for ec.scene alone" },
    { of, ec.box{ size = { 1, 1, 1 }, rotate_deg = 45 }, "ec.fdtd: ec.box has the key 'rotate_deg'" },
    { of, ec.sphere{ radius = 1, inward = true }, "ec.fdtd: ec.sphere has the key 'inward'" },
    { of, ec.cylinder{ radius = 1, length = 1, caps = false }, "ec.fdtd: ec.cylinder has the key 'caps'" },
    { of, ec.cylinder{ radius = 1, length = 1, axis = { 1, 1, 0 } },
        "ec.cylinder: key 'axis': in ec.fdtd it has to be along x, y or z" },
    { of, ec.plate{ size = { 1, 1 }, normal = { 0, 0.1, 1 } }, "ec.plate: key 'normal': in ec.fdtd it has to be along" },
    { of, ec.plate{ size = { 1, 1 }, normal = v }, "ec.plate: key 'normal': ec.fdtd wants numbers, got design variables" },
    { of, ec.plate{ size = { 1, 1 }, eps_r = 3 }, "ec.plate: key 'material': it has no thickness: it can be pec, a metal or air; a dielectric is an ec.box" },
    { of, ec.plate{ size = { 1, 1 }, ohms = 377, material = "pec" }, "ec.plate: give material or ohms, not both" },
    { ec.box, { size = { 1, 1, 1 }, conductivity = 1 }, "ec.box: key 'conductivity': it goes with eps_r" },
    { ec.box, { size = { 1, 1, 1 }, mu_r = 1 }, "ec.box: key 'mu_r': it goes with eps_r" },
    { ec.box, { size = { 1, 1, 1 }, eps_r = 2, loss_frequency = 1*GHz }, "ec.box: key 'loss_frequency': it goes with loss_tangent" },
    { ec.box, { size = { 1, 1, 1 }, ohms = 3 }, "ec.box: unknown key 'ohms'" },
    { ec.scene, { ec.box{ size = { 1, 1, 1 }, priority = 2 } }, "ec.scene: ec.box has the key 'priority', which is for ec.fdtd alone" },
    { ec.scene, { ec.plate{ size = { 1, 1 }, ohms = 377 } }, "ec.scene: ec.plate has the key 'ohms', which is for ec.fdtd alone" },
    { ec.scene, { ec.sphere{ radius = 1, inner_radius = 0.5 } }, "ec.scene: ec.sphere has the key 'inner_radius'" },
    -- materials
    { of, ec.box{ size = { 1, 1, 1 }, material = "teflon" }, "ec.box: key 'material': unknown material 'teflon'; there are pec, air" },
    { of, ec.box{ size = { 1, 1, 1 }, material = "pce" }, "unknown material 'pce' (did you mean 'pec'?)" },
    { of, ec.box{ size = { 1, 1, 1 }, material = "itu_brick" }, "'itu_brick' is a material of ec.scene; in ec.fdtd give its eps_r" },
    { of, ec.box{ size = { 1, 1, 1 }, material = { eps_r = 0.5 } }, "ec.box: key 'material': key 'eps_r': 0.5 is not allowed, it must be at least 1" },
    { of, ec.box{ size = { 1, 1, 1 }, material = { esp_r = 2 } }, "ec.box: key 'material': unknown key 'esp_r' (did you mean 'eps_r'?)" },
    { of, ec.box{ size = { 1, 1, 1 }, eps_r = 2, poles = 3 }, "ec.box: key 'poles': wants a list, as in poles = { ec.debye{" },
    { of, ec.box{ size = { 1, 1, 1 }, eps_r = 2, poles = { port } }, "ec.box: key 'poles': entry 1 is a userdata; wants ec.debye{ ... }" },
    { made_of, "fr4", "ec.fdtd: key 'materials': wants a table of names" },
    { made_of, { { eps_r = 2 } }, "ec.fdtd: key 'materials': wants names with a material each" },
    { made_of, { a = { eps_r = 2, tan = 1 } }, "ec.fdtd: key 'materials': 'a': unknown key 'tan'" },
    { made_of, { a = "copper" }, "ec.fdtd: key 'materials': 'a': wants a table of figures, \"pec\" or \"air\", got the text 'copper'" },
    { made_of, { a = 3 }, "ec.fdtd: key 'materials': 'a': wants a table of figures" },
    { made_of, { a = { eps_r = 2 }, b = { eps_r = 3 } }, "ec.fdtd: key 'materials': nothing is made of 'b'" },
    { made_of, { a = { eps_r = 2 }, b = { eps_r = 0 } }, "ec.fdtd: key 'materials': 'b': key 'eps_r': 0 is not allowed" },
    { made_of, { a = { eps_r = 2 }, b = 3 }, "ec.fdtd: key 'materials': 'b': wants a table of figures" },
    { made_of, { aa = { eps_r = 2 } }, "unknown material 'a'" },
    -- poles
    { ec.debye, { delta = 1 }, "ec.debye: key 'tau' is missing (relaxation time)" },
    { ec.debye, { delta = 1, tau = 0 }, "ec.debye: key 'tau': 0 is not allowed, it must be at least 1e-21 and at most 1000000" },
    { ec.drude, { omega_p = 1e10, gama = 1 }, "ec.drude: unknown key 'gama' (did you mean 'gamma'?)" },
    { ec.lorentz, { delta = -1, omega_0 = 1, gamma = 1 }, "ec.lorentz: key 'delta': -1 is not allowed" },
    -- numbers that no structure has
    { ec.port, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, ohms = 1e-300 }, "key 'ohms': 1e-300 is not allowed" },
    { ec.port, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, ohms = 1e300 }, "key 'ohms': 1e+300 is not allowed" },
    { ec.lumped, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, henries = 1e-300 }, "ec.lumped: key 'henries': 1e-300 is not allowed" },
    { ec.lumped, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, farads = 1e300 }, "ec.lumped: key 'farads': 1e+300 is not allowed" },
    { ec.drude, { omega_p = 1e300, gamma = 1 }, "ec.drude: key 'omega_p': 1e+300 is not allowed" },
    { ec.lorentz, { delta = 1, omega_0 = 1e-300, gamma = 1 }, "ec.lorentz: key 'omega_0': 1e-300 is not allowed" },
    { ec.box, { size = { 1, 1, 1 }, eps_r = 2, loss_tangent = 1e300 }, "ec.box: key 'loss_tangent': 1e+300 is not allowed" },
    { ec.box, { size = { 1, 1, 1 }, eps_r = 1e300 }, "ec.box: key 'eps_r': 1e+300 is not allowed" },
    { ec.box, { size = { 1, 1, 1 }, eps_r = 2, conductivity = 1e300 }, "ec.box: key 'conductivity': 1e+300 is not allowed" },
    { ec.plate, { size = { 1, 1 }, ohms = 0 }, "ec.plate: key 'ohms': 0 is not allowed" },
    { ec.plate, { size = { 1, 1, 0 } }, "ec.plate: key 'size': wants 2 numbers, got 3: a plate has two sizes" },
    { function() return ec.range(5e9, 6.6e9, 0.05e9) end, nil,
        "count 50000000 is too many; it is how many, not a step: a step of 50000000 is ec.range(5000000000, 6600000000, 33)" },
    { function() return ec.range(5, 6.5, 0.05) end, nil,
        "ec.range(from, to, count): count 0.05 is not a whole number above 0; it is how many, not a step: a step of 0.05 is ec.range(5, 6.5, 31)" },
    { ec.wire, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, radius = 1e300 }, "ec.wire: key 'radius': 1e+300 is not allowed" },
    -- wires and polygons
    { ec.wire, { from = { 0, 0, 0 } }, "ec.wire: key 'to' is missing" },
    { ec.wire, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, radius = 0 }, "ec.wire: key 'radius': 0 is not allowed" },
    { of, ec.wire{ from = { 0, 0, 0 }, to = { 0, 1, 1 } }, "ec.wire: from and to have to differ along one of x, y and z, they do along 2" },
    { of, ec.wire{ from = { 0, 0, 0 }, to = { 0, 0, 1 }, material = "air" }, "ec.wire: key 'material': a wire is pec" },
    { of, ec.wire{ from = { 0, 0 }, to = { 0, 0, 1 } }, "ec.wire: key 'from': wants 3 numbers" },
    { of, ec.polygon{ points = { { 0, 0 }, { 1, 0 } } }, "ec.polygon: key 'points': 2 corners; three are the least" },
    { of, ec.polygon{ points = { { 0, 0 }, { 1, 0 }, { 1, 1, 1 } } }, "ec.polygon: key 'points': corner 3: wants 2 numbers" },
    { of, ec.polygon{ points = 3 }, "ec.polygon: key 'points': wants a list of corners" },
    { of, ec.polygon{ points = { { 0, 0 }, { 1, 0 }, { 1, 1 } }, eps_r = 2 },
        "ec.polygon: key 'material': it has no thickness: it can be pec, a metal or air; a dielectric is one with a thickness" },
    { ec.polygon, { points = {}, axis = "w" }, "ec.polygon: key 'axis': unknown word 'w', allowed are x|y|z" },
    -- ports and elements
    { with, {}, "ec.fdtd: port 'in' bridges no two conductors: there is none at its end (0, 0, 0) mm" },
    { ec.port, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, plane = 1 }, "ec.port: key 'plane': it goes with line" },
    { ec.port, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, shape = "coax" }, "ec.port: key 'shape': it goes with line" },
    { ec.port, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, line = "x" }, "ec.port: key 'plane' is missing: where the line is measured" },
    { ec.port, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, line = "w", plane = 1 }, "ec.port: key 'line': unknown word 'w', allowed are x|y|z|-x|-y|-z" },
    { of, ec.port{ from = { 0, 0, 0 }, to = { 0, 0, 1 }, line = "z", plane = 1 }, "must run across it, along an axis of the grid" },
    { ec.port, { from = { 0, 0, 0 } }, "ec.port: key 'to' is missing" },
    { ec.port, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, ohms = 0 }, "ec.port: key 'ohms': 0 is not allowed, it must be at least 1e-06 and at most 1000000000000" },
    { of, ec.port{ from = { 0, 0, 0 }, to = { 0, 0, 0 } }, "ec.port: from and to are the same place" },
    { of, ec.port{ from = { w, 0, 0 }, to = { w, 0, 0 } }, "ec.port: from and to are the same place" },
    { of, ec.port{ from = { 0, 0, 0 }, to = { 0, 1, 1 } }, "ec.port: key 'axis' is missing: from and to differ along 2 axes" },
    { of, ec.port{ from = { 0, 0, 0 }, to = { 0, 0, 1 }, axis = "x" }, "ec.port: key 'axis': from and to do not differ along x" },
    { ec.probe, { from = { 0, 0, 0 }, to = { 0, 0, 1 } }, "ec.probe: key 'name' is missing" },
    { ec.source, { name = "s", from = { 0, 0, 0 }, to = { 0, 0, 1 }, ohms = 1 }, "ec.source: unknown key 'ohms'" },
    { ec.lumped, { from = { 0, 0, 0 }, to = { 0, 0, 1 } }, "ec.lumped: nothing is in it: give ohms, henries or farads" },
    { ec.lumped, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, farad = 1 }, "ec.lumped: unknown key 'farad' (did you mean 'farads'?)" },
    { ec.lumped, { from = { 0, 0, 0 }, to = { 0, 0, 1 }, ohms = -1 }, "ec.lumped: key 'ohms': -1 is not allowed" },
    { function() return port.ohms end, nil, "what ec.port gives has no fields" },
}
local wrong = 0
local function check(i, good, message, wanted)
    if good or not (message:find(wanted, 1, true) and message:find("^fdtd_errors.lua:%d+: ")) then
        print(("case %s: expected '%s', got '%s'"):format(i, wanted, tostring(message)))
        wrong = wrong + 1
    end
end
for i, case in ipairs(cases) do
    local good, message = pcall(case[1], case[2])
    check(i, good, message, case[3])
end

-- methods
local function plates(from, to)
    return ec.plate{ size = { 12*mm, 10*mm }, at = { 0, 0, from } },
        ec.plate{ size = { 12*mm, 10*mm }, at = { 0, 0, to } }
end
local floor, roof = plates(0, 1*mm)
local model = ec.fdtd{ frequency = f, box, floor, roof, port,
    ec.port{ name = "out", from = { 5*mm, 0, 0 }, to = { 5*mm, 0, 1*mm } },
    ec.source{ name = "feed", from = { 1*mm, 0, 0 }, to = { 1*mm, 0, 1*mm } },
    ec.probe{ name = "ear", from = { 3*mm, 0, 0 }, to = { 3*mm, 0, 1*mm } },
    ec.lumped{ from = { 2*mm, 0, 0 }, to = { 2*mm, 0, 1*mm }, ohms = 100 } }
local silent = ec.fdtd{ frequency = f, box }
local calls = {
    { function() return model:s() end, "model:s: wants two ports, the receiving one and the source: model:s(2, 1)" },
    { function() return model:s("in", "ut") end, "model:s: there is no port 'ut' (did you mean 'out'?)" },
    { function() return model:s("in", "elsewhere") end, "model:s: there is no port 'elsewhere'; the model has in, out" },
    { function() return model:s(3, 1) end, "model:s: there is no port 3; the model has 2" },
    { function() return model:s(1.5, 1) end, "model:s: there is no port 1.5" },
    { function() return model:s({}, 1) end, "model:s: wants the name or number of a port, got a table" },
    { function() return model:s("in", "ear") end, "model:s: 'ear' is a probe, which drives nothing" },
    { function() return model:s("feed", "in") end, "model:s: 'feed' is a source without waves" },
    { function() return model:steps("ear") end, "model:steps: 'ear' is a probe, which drives nothing" },
    { function() return model:steps() end, "model:steps: which port? The model has 3" },
    { function() return silent:steps() end, "model:steps: the model has no port" },
    { function() return silent:modes{} end, "model:modes: the model has no port and no source" },
    { function() return model:modes{ excited_by = "ear" } end, "'ear' is a probe, which drives nothing" },
    { function() return silent:s(1, 1) end, "model:s: the model has no port" },
    { function() return model:impedance() end, "model:impedance: which port? The model has 2" },
    { function() return model:steps(4) end, "model:steps: there is no port 4" },
    { function() return model:gamma("in") end, "'in' is no port of a line" },
    { function() return model:line_impedance(9) end, "model:line_impedance: there is no port 9" },
    { function() return model:balance("x") end, "model:balance: there is no port 'x'" },
    { function() return model:modes{ port = "x" } end, "model:modes: key 'port': there is no port 'x'" },
    { function() return model:modes{ excited_by = "on" } end, "key 'excited_by': there is no port 'on'" },
    { function() return model:modes{ from = 2*GHz, to = 1*GHz } end, "model:modes: key 'to': 1000000000 Hz is not above from" },
    { function() return model:modes{ cout = 2 } end, "model:modes: unknown key 'cout' (did you mean 'count'?)" },
    { function() return model.s(1, 1, 1) end, "model:s: call it with a colon on a model of ec.fdtd" },
    { function() return model:impedence(1) end, "a model has no method 'impedence' (did you mean 'impedance'?)" },
    { function() return model:zzz() end, "a model has no method 'zzz'; it has s, impedance" },
    { function() return model:save() end, "model:save: wants the name of a file" },
    { function() return model:save("x.s3p") end, "'x.s3p': the S-parameters of 2 ports are saved as .s2p or .csv" },
    { function() return silent:save("x.s1p") end, "model:save: the model has no port" },
}
for i, case in ipairs(calls) do
    local good, message = pcall(case[1])
    check("method " .. i, good, message, case[2])
end

-- what the report says of a strip with few cells across
local function strip(corrected)
    return ec.fdtd{ frequency = f, box, floor, port, edge_correction = corrected,
        ec.plate{ name = "strip", size = { 10*mm, 2*mm }, at = { 0, 0, 1*mm } } }:report()
end
assert(strip(false):find("plate 'strip' has 2 cells along y", 1, true), strip(false))
assert(not strip(true):find("plate 'strip' has", 1, true))
assert(wrong == 0, wrong .. " messages are wrong")
print("every mistake is named")
