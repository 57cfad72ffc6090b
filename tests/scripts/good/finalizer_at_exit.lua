-- After the script's end a finalizer can neither make a job nor search one: nobody would own the result.
-- expect: in the finalizer
-- expect: job:solve: the script has ended, a finalizer cannot do this
-- expect: ec.job: the script has ended, a finalizer cannot do this
-- expect: job:record: call it with a colon on a job
-- refuse: searched at exit
local ec = require "eciton"
local keep = setmetatable({}, { __gc = function(self)
    print(select(2, pcall(self.late.record, self.late, "r", 1)))
end })
local job = ec.job{ name = "exit" }
keep.late = job
local x = job:real{ name = "x", min = 0, max = 1 }
job:minimize("f", x)
local last = setmetatable({}, { __gc = function()
    print("in the finalizer")
    print(select(2, pcall(ec.job, { name = "late" })))
    print(select(2, pcall(function()
        job:solve{ generations = 3 }
        print("searched at exit")
    end)))
end })
assert(job:solve{ generations = 2 }.found and keep and last)
