-- The module that scripts require: the core (C), units, and the library's own modules.
local _, core = ... -- from require, which gives the core to the library only

local ec = {}
for name, value in pairs(core) do
    ec[name] = value
end
for _, name in ipairs{ "parse", "fail", "nearest", "kind", "values", "random" } do
    ec[name] = nil -- for the library only
end

for name, value in pairs(require "eciton.units") do
    ec[name] = value
end
for _, name in ipairs{ "basis", "errors", "geometry", "steering", "taper" } do
    ec[name] = require("eciton." .. name)
end

-- A mistyped name is an error with a suggestion, not a nil that fails somewhere else.
return setmetatable(ec, {
    __index = function(_, name)
        local names = {}
        for known in pairs(ec) do
            names[#names + 1] = known
        end
        table.sort(names)
        local near = core.nearest(tostring(name), names)
        core.fail(("eciton has no '%s'"):format(tostring(name))
            .. (near and (" (did you mean '%s'?)"):format(near) or ""))
    end,
    __newindex = function(_, name)
        core.fail(("eciton.%s cannot be set: use a local variable"):format(tostring(name)))
    end,
    __metatable = false,
})
