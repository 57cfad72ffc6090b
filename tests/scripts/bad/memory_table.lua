-- env: ECITON_SCRIPT_SECONDS=100
-- expect: memory_table.lua:5: not enough memory: the script may hold 1 GiB
local t, text = {}, ("x"):rep(1000000)
for i = 1, 1000000 do
    t[i] = text .. i
end
