-- A function of ec.host can neither change nor search the job whose search runs it; other jobs it can.
-- expect: job:real: variable 'v': job 'own' cannot be changed during its own search
-- expect: job:record: record 'r': job 'own' cannot be changed during its own search
-- expect: job:solve: job 'own' is being searched already: a function of ec.host cannot search its own job
-- expect: the other job was searched
-- expect: afterwards	7.0
local ec = require "eciton"
local job = ec.job{ name = "own" }
local x = job:real{ name = "x", min = 0, max = 1 }
local told = false
local host = ec.host(function(c)
    if not told then
        told = true
        print(select(2, pcall(job.real, job, { name = "v", count = 100, min = 0, max = 1 })))
        print(select(2, pcall(job.record, job, "r", x)))
        print(select(2, pcall(job.solve, job, { evaluations = 20 })))
        local other = ec.job{ name = "other" }
        local y = other:real{ name = "y", min = 0, max = 1 }
        other:minimize("g", y)
        print("the other job was searched", other:solve{ generations = 2 }.found)
    end
    return c.x:table()
end, { x = x })
job:minimize("f", host)
assert(job:solve{ generations = 5 }.found)
job:real{ name = "v", min = 7, max = 7 }
print("afterwards", job:solve{ generations = 2 }.variables.v)
