-- flags: --out OUT
-- expect: bnh: all 60 generations were run; the front has 40 designs
-- expect: front of 40 designs, hypervolume
-- expect: below is member
-- expect: the nearest to the best of all objectives
-- expect: ok
-- expect: closest: no feasible design found: 'never' misses
-- file: front.csv
-- file: front.gp
-- file: history.csv
-- file: saved.csv
local ec = require "eciton"
-- Binh and Korn: exact designs have x = y[1] = y[2] up to 3, then y = 3
local job = ec.job{ name = "bnh", seed = 1 }
local x = job:real{ name = "x", min = 0, max = 5 }
local y = job:real{ name = "y", count = 2, min = 0, max = 3 }
job:minimize("f1", 4 * x^2 + 4 * y[1]^2)
job:maximize("f2", -((x - 5)^2 + (y[2] - 5)^2))
job:subject_to("circle", (x - 5)^2 + y[1]^2, { max = 25 })
job:record("sum", x + y[1])
job:record("list", x * y)
local best = job:solve{ method = "nsga2", population = 40, generations = 60, reference = { 140, -50 } }
local front = best.front
assert(#front == 40 and #front.objectives.f1 == 40 and #front.variables.x == 40)
assert(front.reference[1] == 140 and front.reference[2] == -50 and front.hypervolume > 5000)
for i = 1, #front do
    assert(front.objectives.f1[i] == front.search.f1[i])
    assert(math.abs(front.recorded.sum[i] - front.variables.x[i] - front.variables.y[i][1]) < 1e-12)
    assert(front.recorded.list[i][2] == front.variables.x[i] * front.variables.y[i][2])
    assert(front.constraints.circle[i] <= 0)
    if i > 1 then -- sorted, none dominated
        assert(front.objectives.f1[i] > front.objectives.f1[i - 1])
        assert(front.objectives.f2[i] > front.objectives.f2[i - 1])
    end
end
local count = 0
for i, member in ipairs(front) do
    count = count + 1
    assert(member.objectives.f2 == front.objectives.f2[i] and member.variables.y[1] == front.variables.y[i][1])
end
assert(count == 40 and front[0] == nil and front[41] == nil)
local knee = front[front.best]
assert(knee.objectives.f1 == best.objectives.f1 and knee.variables.x == best.variables.x)
assert(math.abs(knee:value(2 * x) - 2 * best.variables.x) < 1e-12 and knee.status == "feasible")
assert(tostring(front) == "front of 40 designs")
front:save("saved.csv")
local again = job:solve{ method = "nsga2", population = 40, generations = 60, chunk = 32, reference = { 140, -50 }, report = false }
for i = 1, #front do
    assert(again.front.variables.x[i] == front.variables.x[i])
end

-- a design is left where none is feasible, without a front
local closest = ec.job{ name = "closest" }
local a = closest:real{ name = "a", min = 0, max = 1 }
closest:minimize("up", a)
closest:maximize("down", a)
closest:subject_to("never", a, { min = 2 })
local none = closest:solve{ method = "nsga2", population = 20, generations = 40 }
assert(#none.front == 0 and none.status == "infeasible" and none.variables.a > 0.99)
assert(#none.front.variables.a == 0)

-- one objective, binary variables, stagnation of the hypervolume
local one = ec.job{ name = "one" }
local b = one:binary{ name = "b", count = 12 }
one:maximize("ones", ec.sum(b))
assert(one:solve{ method = "nsga2", evaluations = 4000, report = false }.objectives.ones == 12)
one:minimize("first", b[1] + b[2] + 1e-3 * ec.sum(b))
local two = one:solve{ method = "nsga2", population = 30, stagnation = 30, seconds = 60, report = false }
assert(two.stop == "stagnation" and two.message:find("the hypervolume did not grow in 30 generations"))
assert(#two.front == 13, #two.front) -- each number of ones
print("ok")
