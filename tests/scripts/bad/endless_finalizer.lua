-- env: ECITON_SCRIPT_SECONDS=0.5
-- expect: a function of Lua's own library has run past the script's limit of 0.5 s
setmetatable({}, { __gc = function() while true do end end })
collectgarbage()
