-- env: ECITON_SCRIPT_SECONDS=0.5
-- expect: endless_pattern.lua:4: a function of Lua's own library has run past the script's limit of 0.5 s
local text = ("a"):rep(40)
print(text:find(("a-"):rep(30) .. "b"))
