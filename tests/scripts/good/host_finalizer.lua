-- A finalizer that fills the table of ec.host while it is read changes nothing that was counted.
-- expect: done	true
local ec = require "eciton"
local job = ec.job{ name = "finalizer" }
local x = job:real{ name = "x", min = 0, max = 1 }
local size, ran, t = 300, 0, { x }
collectgarbage("generational")
for _ = 1, 3000 do
    for i = 2, size do t[i] = nil end
    setmetatable({}, { __gc = function()
        ran = ran + 1
        for i = 2, size do t[i] = x end
    end })
    pcall(ec.host, function() return {} end, t)
end
print("done", ran > 0)
