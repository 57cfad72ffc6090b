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

function steering.phase(keys)
    local k = core.parse("ec.steering.phase", keys)
    if (k.wavelength == nil) == (k.frequency == nil) then
        core.fail("ec.steering.phase: one of the keys wavelength and frequency is needed (wavelength = 1: positions "
            .. "in wavelengths)")
    end
    local u, v, w = direction(k)
    if not k.total then
        w = w - 1 -- ec.array subtracts k z itself
    end
    local n
    for axis, cosine in pairs{ x = u, y = v, z = w } do
        local kind, length = core.kind(k[axis])
        if length and n and length ~= n then
            core.fail(("ec.steering.phase: lists of %d and %d coordinates do not fit"):format(n, length))
        end
        n = n or length
        k[axis] = (kind == "list" and core.values(k[axis]) or k[axis]) * cosine
    end
    local wavelength = k.wavelength or 299792458.0 / k.frequency
    local phase = (k.x + k.y + k.z) * (-2 * math.pi) / wavelength
    return core.kind(phase) == "list" and phase:table() or phase
end

return steering
