-- What is added to a job after its solve is not in that result, and says so.
-- expect: best.variables: 'z' was added to the job after this solve
-- expect: best.recorded: 'y' was added to the job after this solve
-- expect: best.constraints: 'c' was added to the job after this solve
-- expect: best.objectives: 'g' was added to the job after this solve
-- expect: best:value: the expression has the variable 'z', which was added after this solve
-- expect: best.variables has no 'w'; it has x
-- expect: saved
-- file: best_now.csv
-- flags: --out OUT
local ec = require "eciton"
local job = ec.job{ name = "grows" }
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
local best = job:solve{ evaluations = 200 }
local z
for i = 1, 40 do
    z = job:real{ name = i == 40 and "z" or "z" .. i, count = 4, min = 0, max = 1 }
    job:record(i == 40 and "y" or "y" .. i, z:sum())
end
job:subject_to("c", x, { min = 0.5 })
job:minimize("g", 2 * x)
for _, read in ipairs{
    function() return best.variables.z end,
    function() return best.recorded.y end,
    function() return best.constraints.c end,
    function() return best.objectives.g end,
    function() return best:value(z:sum()) end,
    function() return best.variables.w end,
} do
    print(select(2, pcall(read)))
end
best:save("best_now.csv")
print("saved", best:value(2 * x) == 2 * best.objectives.f)
