-- flags: --trust
-- expect: every bad input is refused or told
-- expect: the grid has 1.0 cells a wavelength at 300 GHz
-- expect: the pulse has less than -60 dB of its peak from 2 to 6 GHz: results there are NaN
-- expect: the pulse has less than -60 dB of its peak from 18 to 20 GHz: results there are NaN
-- Structures that no grid can have, or whose results would say nothing.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local nan = 0 / 0
local ground = ec.plate{ size = { 12*mm, 10*mm } }
local patch = ec.plate{ size = { 12*mm, 10*mm }, at = { 0, 0, 2*mm } }
local port = ec.port{ name = "in", from = { 0, 0, 0 }, to = { 0, 0, 2*mm } }

local function model(keys, ...)
    local all = { frequency = ec.range(2*GHz, 6*GHz, 5), max_steps = 400, cells_per_wavelength = 10, air = 4*mm,
        layers = 4, ground, patch, port, ... }
    for key, value in pairs(keys) do all[key] = value end
    return ec.fdtd(all)
end
local function s11(keys, ...) return ec.value(model(keys, ...):s(1, 1):db()) end
local function refuses(text, ...)
    local good, why = pcall(s11, ...)
    assert(not good and why:find("^fdtd_bad_input.lua:%d+: ") and why:find(text, 1, true),
        ("'%s' is wanted, got '%s'"):format(text, tostring(good and "a value" or why)))
end
local function gives(...)
    local s = s11(...)
    for i = 1, #s do assert(s[i] == s[i] and math.abs(s[i]) < 99, ("S11 is %g dB"):format(s[i])) end -- cut off early
    return s
end
gives{}

-- places
local domain = { from = { -6*mm, -6*mm, -3*mm }, to = { 8*mm, 6*mm, 5*mm } }
refuses("box 'lost' is outside of the domain", { domain = domain },
    ec.box{ name = "lost", size = { 1*mm, 1*mm, 1*mm }, at = { 20*mm, 0, 0 }, eps_r = 2 })
refuses("port 'ear' is outside of the domain", { domain = domain },
    ec.probe{ name = "ear", from = { 9*mm, 0, 0 }, to = { 9*mm, 0, 2*mm } })
refuses("port 'in' is outside of the domain",
    { domain = { from = { 1*mm, -6*mm, -3*mm }, to = { 8*mm, 6*mm, 5*mm } } })
refuses("port 'b' bridges no two conductors", {}, ec.port{ name = "b", from = { 0, 0, 3*mm }, to = { 0, 0, 4*mm } })
refuses("ports 'in' and 'b' overlap", {},
    ec.port{ name = "b", axis = "z", from = { -1*mm, 0, 0 }, to = { 1*mm, 0, 2*mm } })
refuses("'in' and 'twin' are at the same place", {},
    ec.port{ name = "twin", from = { 0, 0, 0 }, to = { 0, 0, 2*mm } })
refuses("port 'b' lies in metal", {}, ec.box{ size = { 2*mm, 2*mm, 2*mm }, at = { 4*mm, 0, 1*mm } },
    ec.port{ name = "b", from = { 4*mm, 0, 0 }, to = { 4*mm, 0, 2*mm } })
refuses("box 'nowhere' ends along x at what is not a number", {},
    ec.box{ name = "nowhere", size = { 1*mm, 1*mm, 1*mm }, at = ec.sqrt{ -1, 0, 0 } * mm, eps_r = 2 })
-- sizes: no volume, no time step, no memory
refuses("it has no thickness", {}, ec.plate{ size = { 1*mm, 1*mm }, eps_r = 2 })
refuses("box 'film' is 0.05 mm long along z, less than the smallest cell", { smallest = 0.2*mm },
    ec.box{ name = "film", size = { 4*mm, 4*mm, 0.05*mm }, at = { 0, 0, 3*mm }, eps_r = 2 })
refuses("key 'courant': 1.5 is not allowed, it must be above 0 and at most 1", { courant = 1.5 })
refuses("did you mean 60*ec.mm?", {}, ec.box{ size = { 60, 60, 1.5 }, at = { 0, 0, -10 }, eps_r = 2 })
refuses("lengths are in m, did you mean 120*ec.mm?", { domain = { from = { -60, -60, -60 }, to = { 60, 60, 60 } } })
refuses("frequencies are in Hz, did you mean 2.4*ec.GHz?", { frequency = 2.4 })
refuses("frequencies are in Hz, did you mean 2400*ec.MHz?", { frequency = 2400 })
refuses("GB of memory are free: fewer cells a wavelength", { cells_per_wavelength = 300, largest = 0.04*mm,
    domain = { from = { -60*mm, -60*mm, -60*mm }, to = { 60*mm, 60*mm, 60*mm } } })
-- poles: none gains, and whatever their size the fields stay finite
local function body(pole)
    return ec.box{ size = { 2*mm, 2*mm, 1*mm }, at = { 4*mm, 0, 1*mm }, eps_r = 1, poles = { pole } }
end
local good, why = pcall(ec.drude, { omega_p = 1e11, gamma = -1 })
assert(not good and why:find("ec.drude: key 'gamma': -1 is not allowed, it must be at least 0", 1, true), why)
for _, pole in ipairs{ ec.drude{ omega_p = 1e14, gamma = 1e9 }, ec.drude{ omega_p = 1e20, gamma = 1e20 },
    ec.drude{ omega_p = 1e-300, gamma = 0 }, ec.lorentz{ delta = 1e-300, omega_0 = 1e-3, gamma = 0 },
    ec.debye{ delta = 10, tau = 1e-21 } } do
    gives({ max_steps = 800 }, body(pole))
end
-- elements from a wire to nothing
for _, keys in ipairs{ { ohms = 1e-6 }, { ohms = 1e12 }, { henries = 1e-18 }, { henries = 1e6 }, { farads = 1e-21 },
    { farads = 1e6 }, { ohms = 0, henries = 1e-18, farads = 1e-21 } } do
    keys.from, keys.to = { 4*mm, 0, 0 }, { 4*mm, 0, 2*mm }
    gives({}, ec.lumped(keys))
end
refuses("ohms is 0: it must be above 0", {}, ec.lumped{ from = { 4*mm, 0, 0 }, to = { 4*mm, 0, 2*mm }, ohms = 0 })
-- under periodic walls ports stand on conductors, too
local cell = { cell = 1*mm, boundary = { x = "periodic", y = "periodic" }, frequency = 4*GHz, max_steps = 200, layers = 4,
    domain = { from = { -4*mm, -4*mm, -4*mm }, to = { 4*mm, 4*mm, 4*mm } } }
local function alone(from, to)
    local all = { ec.port{ name = "in", from = from, to = to } }
    for key, value in pairs(cell) do all[key] = value end
    local good, why = pcall(function() return ec.value(ec.fdtd(all):s(1, 1):db()) end)
    return good or why
end
for _, x in ipairs{ -4*mm, 0, 4*mm } do
    assert(tostring(alone({ x, 0, 0 }, { x, 0, 1*mm })):find("bridges no two conductors", 1, true))
end
assert(alone({ -4*mm, 0, 0 }, { 4*mm, 0, 0 }) == true) -- all around: both its ends are one

-- one frequency, one step, frequencies beyond the grid and beyond the pulse
assert(#gives{ frequency = 3*GHz } == 1)
assert(#s11{ max_steps = 1 } == 5)
s11{ frequency = ec.range(100*GHz, 300*GHz, 3), cell = 1*mm }
local none = s11{ pulse = "gaussian", pulse_width = 0.4*GHz }
for i = 1, 5 do assert(none[i] ~= none[i]) end
local some = s11{ frequency = ec.range(2*GHz, 20*GHz, 10), pulse = "gaussian", pulse_width = 10*GHz }
assert(some[1] == some[1] and some[9] ~= some[9] and some[10] ~= some[10])
print("every bad input is refused or told")
