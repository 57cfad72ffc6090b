-- Compares the annotations for editors, the file --set path, with the module itself, both ways. Run with
-- --trust.
local ec = require "eciton"
local path = ec.arg("path", "scripts/eciton.meta.lua")
local meta = assert(loadfile(path))()

local function compare(name, one, other, lacks)
    for key, value in pairs(one) do
        local there = rawget(other, key)
        local called = name .. "." .. tostring(key)
        assert(type(there) == type(value), called .. ": " .. type(there) .. " " .. lacks .. ", " .. type(value))
        if type(value) == "table" then
            compare(called, value, there, lacks)
        end
    end
end
compare("ec", ec, meta, "in the annotations")
compare("ec", meta, ec, "in the module")

-- Every type that is named is declared.
local file = assert(io.open(path))
local text = file:read "a"
file:close()
local declared = {}
for name in text:gmatch("%-%-%-@class ([%w_.]+)") do
    assert(not declared[name], name .. " is declared twice")
    declared[name] = true
end
for name in text:gmatch("%-%-%-@alias ([%w_.]+)") do
    declared[name] = true
end
for line in text:gmatch("%-%-%-@(%l+ [^\n]*)") do
    local named = line:match("^field %S+ ([%w_.|%[%]]+)") or line:match("^param %S+ (%S+)") or line:match("^return (%S+)")
    for name in (named or ""):gmatch("eciton%.[%w_.]*%w") do
        assert(declared[name], name .. " is not declared: " .. line)
    end
end
