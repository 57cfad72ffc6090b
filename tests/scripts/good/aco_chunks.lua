-- Designs evaluated in batches of any size, with any number of threads, are the same designs.
-- flags: --threads 2
-- expect: same
local ec = require "eciton"
local weights = {}
for i = 1, 60 do weights[i] = (i * 37) % 61 - 30 end
local function search(chunk)
    local job = ec.job{ name = "chunks", seed = 2 }
    local b = job:binary{ name = "b", count = 60 }
    local f = (b * ec.constant(weights)):sum()
    job:minimize("f", ec.abs(f - 17.25) + (b:slice(1, 59) * b:slice(2, 60)):sum())
    return job:solve{ report = false, method = "aco", colonies = 3, population = 70, generations = 40, chunk = chunk }
end
local one = search(1)
local same = true
for _, chunk in ipairs{ 7, 1024 } do
    local other = search(chunk)
    same = same and other.objectives.f == one.objectives.f and other.evaluations == one.evaluations
    for i = 1, 60 do same = same and other.variables.b[i] == one.variables.b[i] end
end
print(same and "same" or "different")
