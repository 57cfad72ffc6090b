-- Element positions of common arrays, as lists.
local _, core = ... -- from require, which gives the core to the library only

local geometry = {}

local function line(count, spacing)
    local x = {}
    for i = 1, count do
        x[i] = (i - (count + 1) / 2) * spacing
    end
    return x
end

function geometry.line(keys)
    local k = core.parse("ec.geometry.line", keys)
    return line(k.count, k.spacing)
end

-- x and y come as two lists: g.x of the first one says so.
local function pair(name, x, y)
    setmetatable(x, {
        __index = function(_, key)
            if type(key) == "string" then
                core.fail(("%s returns two lists: local x, y = %s{ ... }"):format(name, name))
            end
        end,
    })
    return x, y
end

-- Returns x, y; the elements of a row follow each other.
function geometry.rectangle(keys)
    local k = core.parse("ec.geometry.rectangle", keys)
    local column, row = line(k.count_x, k.spacing_x), line(k.count_y, k.spacing_y)
    local x, y = {}, {}
    for j = 1, #row do
        for i = 1, #column do
            x[#x + 1], y[#y + 1] = column[i], row[j]
        end
    end
    return pair("ec.geometry.rectangle", x, y)
end

function geometry.circle(keys)
    local k = core.parse("ec.geometry.circle", keys)
    local x, y = {}, {}
    for i = 1, k.count do
        local angle = 2 * math.pi * (i - 1) / k.count
        x[i], y[i] = k.radius * math.cos(angle), k.radius * math.sin(angle)
    end
    return pair("ec.geometry.circle", x, y)
end

return geometry
