-- env: ECITON_SCRIPT_SECONDS=100
-- expect: memory_graph.lua:6: not enough memory: the script may hold 1 GiB
local ec = require "eciton"
local n = 0
while true do
    local c = ec.constant(ec.range(0, n, 500000))
    n = n + 1
end
