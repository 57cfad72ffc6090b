-- Phases that point the beam.
local _, core = ... -- from require, which gives the core to the library only

local steering = {}

-- Functions of numbers, or of expressions where one of the values is one.
local function of(name, value)
    return core.kind(value) == "expression" and core[name](value) or math[name](value)
end

-- Direction cosines u, v, w of the beam.
local function direction(k)
    if (k.u or k.v) and (k.theta_deg or k.phi_deg) then
        core.fail("ec.steering.phase: give u and v, or theta_deg and phi_deg, not both")
    end
    if k.theta_deg or k.phi_deg then
        local theta, phi = (k.theta_deg or 90) * (math.pi / 180), (k.phi_deg or 0) * (math.pi / 180)
        local s = of("sin", theta)
        return s * of("cos", phi), s * of("sin", phi), of("cos", theta)
    end
    local u, v = k.u or 0, k.v or 0
    local square = 1 - u * u - v * v
    if core.kind(square) == "expression" then
        return u, v, core.sqrt(core.max(square, 0))
    elseif square < -1e-12 then
        core.fail(("ec.steering.phase: keys 'u' and 'v': there is no direction %.14g, %.14g: u^2 + v^2 must be at "
            .. "most 1"):format(u, v))
    end
    return u, v, math.sqrt(math.max(square, 0))
end

-- The wavelength by the keys of that name and of a frequency, nil without them.
local function wavelength_of(k, wavelength, frequency)
    if k[wavelength] and k[frequency] then
        core.fail(("ec.steering.phase: give %s or %s, not both"):format(wavelength, frequency))
    end
    return k[wavelength] or k[frequency] and 299792458.0 / k[frequency]
end

function steering.phase(keys)
    local k = core.parse("ec.steering.phase", keys)
    if (k.wavelength == nil) == (k.frequency == nil) then
        core.fail("ec.steering.phase: one of the keys wavelength and frequency is needed (wavelength = 1: positions "
            .. "in wavelengths)")
    end
    local wavelength = wavelength_of(k, "wavelength", "frequency")
    local set = wavelength_of(k, "set_wavelength", "set_frequency")
    local u, v, w = direction(k)
    local own = not k.total -- ec.array subtracts k z itself, at its own wavelength
    if own and not set then
        w = w - 1
    end
    local n, z
    for axis, cosine in pairs{ x = u, y = v, z = w } do
        local kind, length = core.kind(k[axis])
        if length and n and length ~= n then
            core.fail(("ec.steering.phase: lists of %d and %d coordinates do not fit"):format(n, length))
        end
        n = n or length
        local list = kind == "list" and core.values(k[axis]) or k[axis]
        z = axis == "z" and list or z
        k[axis] = list * cosine
    end
    local phase = (k.x + k.y + k.z) * (-2 * math.pi) / (set or wavelength)
    if own and set and z ~= 0 then
        phase = phase + z * (2 * math.pi) / wavelength
    end
    return core.kind(phase) == "list" and phase:table() or phase
end

return steering
