-- env: ECITON_SCRIPT_SECONDS=0.5
-- expect: endless_loop.lua:4: the script has run for 0.5 s of its own
local n = 0
while true do n = n + 1 end
