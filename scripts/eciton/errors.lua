-- What a built array differs in from its drawing: tolerances, quantised weights, failed elements.
local _, core = ... -- from require, which gives the core to the library only

local errors = {}

-- Random numbers for a value with count elements; stream tells the coordinates of one call apart.
local function draws(what, k, stream, count)
    if (k.sigma == nil) == (k.limit == nil) then
        core.fail(("%s: give one of the keys sigma and limit"):format(what))
    end
    local list = core.random(k.seed, stream, count, k.sigma ~= nil)
    for i = 1, count do
        list[i] = k.sigma and k.sigma * list[i] or k.limit * (2 * list[i] - 1)
    end
    return list
end

function errors.random(keys)
    local k = core.parse("ec.errors.random", keys)
    return draws("ec.errors.random", k, 0, k.count)
end

-- list or expression + list
local function moved(value, by)
    if core.kind(value) == "expression" then
        return value + by
    end
    return (core.values(value) + core.values(by)):table()
end

function errors.perturb(keys)
    local k = core.parse("ec.errors.perturb", keys)
    local result = {}
    for stream, axis in ipairs{ "x", "y", "z" } do
        local kind, length = core.kind(k[axis])
        if kind and not length then
            core.fail(("ec.errors.perturb: key '%s': wants one value for each element, got a single one"):format(axis))
        elseif kind then
            result[axis] = moved(k[axis], draws("ec.errors.perturb", k, stream - 1, length))
        end
    end
    if not next(result) then
        core.fail("ec.errors.perturb: give x, y or z")
    end
    return result
end

-- The elements with the smallest draws: so many as are wanted, all sets equally likely.
local function chosen(count, wanted, seed)
    local draw, order, set = core.random(seed, 0, count), {}, {}
    for i = 1, count do
        order[i] = i
    end
    table.sort(order, function(a, b) return draw[a] < draw[b] or draw[a] == draw[b] and a < b end)
    for i = 1, wanted do
        set[order[i]] = true
    end
    return set
end

function errors.failed(keys)
    local k = core.parse("ec.errors.failed", keys)
    local kind, count = core.kind(k.amplitude)
    if (kind == nil) == (k.count == nil) then
        core.fail("ec.errors.failed: give one of the keys count and amplitude")
    elseif kind and not count then
        core.fail("ec.errors.failed: key 'amplitude': wants one value for each element, got a single one")
    elseif (k.elements == nil) == (k.random == nil) then
        core.fail("ec.errors.failed: give one of the keys elements and random")
    end
    count = count or k.count
    local set = {}
    if k.random then
        if k.random > count then
            core.fail(("ec.errors.failed: key 'random': %d elements cannot fail, there are %d"):format(k.random, count))
        end
        set = chosen(count, k.random, k.seed)
    end
    for i, element in ipairs(k.elements or {}) do
        if element % 1 ~= 0 or element > count then
            core.fail(("ec.errors.failed: key 'elements': element %d is %.14g, a whole number from 1 to %d is needed")
                :format(i, element, count))
        end
        set[math.tointeger(element)] = true
    end
    local list = {}
    for i = 1, count do
        list[i] = set[i] and 0 or kind == "list" and k.amplitude[i] or 1
    end
    return kind == "expression" and k.amplitude * core.constant(list) or list
end

-- The nearest multiple of step.
local function rounded(value, step)
    local kind = core.kind(value)
    if kind == "expression" then
        return core.floor(value / step + 0.5) * step
    elseif kind == "number" then
        return math.floor(value / step + 0.5) * step
    end
    local list = {}
    for i = 1, #value do
        list[i] = math.floor(value[i] / step + 0.5) * step
    end
    return list
end

function errors.quantize_phase(keys)
    local k = core.parse("ec.errors.quantize_phase", keys)
    if (k.phase == nil) == (k.phase_deg == nil) then
        core.fail("ec.errors.quantize_phase: give one of the keys phase and phase_deg")
    end
    return rounded(k.phase or k.phase_deg, (k.phase and 2 * math.pi or 360) / 2 ^ k.bits)
end

function errors.quantize_amplitude(keys)
    local k = core.parse("ec.errors.quantize_amplitude", keys)
    local step = k.max / (2 ^ k.bits - 1)
    local kind = core.kind(k.amplitude)
    if kind == "expression" then
        return rounded(core.min(k.amplitude, k.max), step)
    elseif kind == "number" then
        return rounded(math.min(k.amplitude, k.max), step)
    end
    for i = 1, #k.amplitude do
        k.amplitude[i] = math.min(k.amplitude[i], k.max)
    end
    return rounded(k.amplitude, step)
end

return errors
