-- env: ECITON_SCRIPT_SECONDS=0.5
-- expect: endless_loop_pcall.lua:
-- expect: the script has run for 0.5 s of its own
while true do
    pcall(function()
        while true do pcall(function() while true do end end) end
    end)
end
