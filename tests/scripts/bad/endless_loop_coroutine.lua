-- env: ECITON_SCRIPT_SECONDS=0.5
-- expect: the script has run for 0.5 s of its own
while true do
    coroutine.resume(coroutine.create(function() while true do end end))
end
