-- expect: the sandbox holds
-- What a script must not get at, tried through pcall.
assert(not pcall(function() return io end) and not pcall(function() return debug end))
assert(not pcall(function() return package end) and not pcall(function() return dofile end))
assert(string.dump == nil and not pcall(function() return os.getenv end))
assert(load("return 1")() == 1 and not load("\27Lua", "x", "b"))
assert(getmetatable(_G) == false and not pcall(setmetatable, _G, nil))
assert(not pcall(require, "../x") and not pcall(require, "table.csv"))
assert(getmetatable(require "eciton".constant(1)) == false)
assert(select(2, pcall(string.rep)):find("bad argument #1 to", 1, true))
print("the sandbox holds")
