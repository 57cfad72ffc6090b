-- flags: --set steps=0
-- expect: polish
-- With the default number of steps the search is short and its polish takes minutes: the model is a slow function.
local ec = require "eciton"
local job = ec.job{ name = "interrupt_polish", seed = 1 }
local x = job:real{ name = "x", count = 12, min = -2, max = 2 }
local steps = ec.arg("steps", 20000)
local valley = ec.host(function(columns)
    local values = {}
    for c = 1, #columns.x[1] do
        local sum = 0
        for i = 1, 11 do
            local a, b = columns.x[i][c], columns.x[i + 1][c]
            sum = sum + 100 * (b - a ^ 2) ^ 2 + (1 - a) ^ 2
        end
        for _ = 1, steps do sum = sum + 0 end
        values[c] = sum
    end
    return values
end, { x = x })
job:minimize("f", valley)
job:solve{ population = 12, generations = 2, polish = true, polish_evaluations = steps > 0 and 1e6 or 20,
    polish_seconds = 600 }
