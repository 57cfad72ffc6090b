-- Far fields of a short dipole; a plate that turns the wave of a radar away, over the angle in one stack; mistakes.
-- expect: far fields are right
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local lambda = ec.c0 / (15*GHz)
local function near(name, got, wanted, tolerance)
    assert(math.abs(got - wanted) <= tolerance, ("%s: %.8g, expected %.8g"):format(name, got, wanted))
end

-- From middle to top of a dipole on the plane of symmetry below it.
local half = ec.fdtd{ frequency = {14*GHz, 15*GHz}, cell = 1*mm, boundary = { z_low = "pec" }, layers = 6,
    pulse_width = 6*GHz, max_steps = 1500,
    domain = { from = {-6*mm, -6*mm, 0}, to = {6*mm, 6*mm, 7*mm} },
    ec.source{ name = "in", from = {0, 0, 0}, to = {0, 0, 1*mm} } }
local far = { quantity = "directivity", frequency = 15*GHz, theta_deg = { 90, 30 }, symmetry = "z" }
local ground = { quantity = "directivity", frequency = 15*GHz, theta_deg = { 90, 150 }, phi_deg = 20 }
local d, g, efficiency = ec.value(half:far(far), half:far(ground), half:far{ quantity = "efficiency", frequency = 15*GHz })
near("directivity", d[1], 1.5, 0.05)
near("directivity", d[2], 1.5 * 0.25, 0.03)
near("over a ground", g[1], 3, 0.1)
near("below it", g[2], 0, 0)
near("efficiency", efficiency, 1, 2e-3)

-- A plate of a wavelength: back to where the wave comes from it scatters most when it is met squarely.
local job = ec.job{ name = "plate" }
local theta = job:real{ name = "theta", min = 0, max = 40 }
local radar = ec.fdtd{ frequency = 15*GHz, cell = 1*mm, snap = true, layers = 6, pulse_width = 6*GHz,
    domain = { from = {-15*mm, -15*mm, -6*mm}, to = {15*mm, 15*mm, 6*mm} }, plane_wave = { theta_deg = theta },
    ec.plate{ size = {20*mm, 20*mm} } }
job:record("square", 10 * ec.log10(radar:far{ quantity = "rcs" }))
local table = job:sweep{ points = { theta = { 0, 20, 40 } } }
local back = table.recorded.square
near("a plate's cross section, dB", back[1], 10 * math.log(4 * math.pi * (20*mm)^4 / lambda^2, 10), 1)
assert(back[1] > back[2] + 4 and back[1] > back[3] + 4, "the plate turns the wave away")

-- of a port fields are rms values for 1 W
local wires = ec.fdtd{ frequency = 15*GHz, cell = 1*mm, layers = 6, pulse_width = 6*GHz, max_steps = 400,
    domain = { from = {-6*mm, -6*mm, -8*mm}, to = {6*mm, 6*mm, 9*mm} }, ec.wire{ from = {0, 0, -3*mm}, to = {0, 0, 0} },
    ec.wire{ from = {0, 0, 1*mm}, to = {0, 0, 4*mm} }, ec.port{ from = {0, 0, 0}, to = {0, 0, 1*mm} } }
local function of_port(quantity) return wires:far{ quantity = quantity, theta_deg = 70, phi_deg = 20 } end
local e_theta, e_phi, realized = ec.value(ec.abs(of_port("e_theta")), ec.abs(of_port("e_phi")), of_port("realized_gain"))
near("realized gain", 4 * math.pi * (e_theta^2 + e_phi^2) / 376.730313668, realized, 1e-6 * realized)

local function fails(call, keys, words)
    local ok, text = pcall(call, keys)
    assert(not ok and tostring(text):find(words, 1, true), ("'%s' instead of '%s'"):format(tostring(text), words))
end
local function of(model) return function(keys) return model:far(keys) end end
fails(of(half), {}, "key 'quantity' is missing")
fails(of(half), { quantity = "gain" }, "which frequency? The model has 2")
fails(of(half), { quantity = "gain", frequency = 14.5*GHz }, "14.5 GHz is none of the model's")
fails(of(half), { quantity = "rcs", frequency = 15*GHz }, "a radar cross section is that of the plane wave")
fails(of(half), { quantity = "gain", frequency = 15*GHz, theta_deg = { 1, 2 }, phi_deg = { 1, 2, 3 } }, "theta_deg has 2 and phi_deg 3")
fails(of(half), { quantity = "gain", frequency = 15*GHz, symmetry = "x" }, "symmetry across x wants")
fails(of(half), { quantity = "realized_gain", frequency = 15*GHz }, "has no realized gain")
fails(of(half), { quantity = "gain", frequency = 15*GHz, excited_by = "plane_wave" }, "the model has no plane wave")
fails(of(half), { quantity = "efficiency", frequency = 15*GHz, theta_deg = 3 }, "an efficiency has no directions")
fails(of(radar), { quantity = "gain" }, "gain and efficiency are those of a driven port")
fails(ec.fdtd, { frequency = 1*GHz, plane_wave = { thta_deg = 1 }, ec.plate{ size = {1, 1} } }, "did you mean 'theta_deg'?")
-- what is too near is said before anything runs
local function near_walls(keys)
    return ec.fdtd{ frequency = 15*GHz, cell = 1*mm, layers = 4, domain = keys.domain, final = keys.final,
        plane_wave = keys.plane_wave, ec.plate{ size = {4*mm, 4*mm} }, ec.plate{ size = {4*mm, 4*mm}, at = {0, 0, 1*mm} },
        ec.port{ from = {0, 0, 0}, to = {0, 0, 1*mm} } }
end
local tight, loose = { from = {-4*mm, -4*mm, -4*mm}, to = {4*mm, 4*mm, 5*mm} }, { from = {-6*mm, -6*mm, -6*mm}, to = {6*mm, 6*mm, 7*mm} }
local gain = { quantity = "gain", excited_by = 1 }
fails(of(near_walls{ domain = tight }), gain, "far field: objects and ports reach from x = -2 mm to 2 mm, but must lie between -1 mm and 1 mm")
fails(function() near_walls{ domain = tight }:pattern{ excited_by = 1 } end, nil, "more air is needed")
fails(near_walls, { domain = loose, plane_wave = {} }, "plane wave: objects and ports reach from x = -2 mm to 2 mm, but must lie between -1 mm and 1 mm")
near_walls{ domain = loose, final = { cell = 0.5*mm } }:far(gain)
fails(ec.fdtd, { frequency = 1*GHz, plane_wave = {}, boundary = { z = "pec" }, ec.plate{ size = {1*mm, 1*mm} } },
    "a plane wave wants absorbing walls on all sides")
print("far fields are right")
