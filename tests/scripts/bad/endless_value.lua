-- env: ECITON_SCRIPT_SECONDS=0.5
-- expect: endless_value.lua:6: the script has run for 0.5 s of its own
local ec = require "eciton"
local total = ec.sort(ec.range(0, 1, 200000)):sum()
while true do
    pcall(ec.value, total)
end
