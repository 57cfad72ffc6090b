-- A check goes on behind models that are saved, and draws each of them once.
-- command: check
-- flags: --view OUT/view.png
-- expect: 512 at most
-- expect: 256 at most
-- expect: the end is reached
-- refuse: no job:solve
-- refuse: view_3
-- file: view.gp
-- file: view_2.gp
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local function cavity(steps)
    return ec.fdtd{ frequency = 3*GHz, cell = 10*mm, steps = steps, boundary = "pec",
        domain = { from = {0, 0, 0}, to = {60*mm, 40*mm, 80*mm} },
        ec.port{ name = "in", from = {20*mm, 0, 20*mm}, to = {20*mm, 40*mm, 20*mm} } }
end
local first, second = cavity(512), cavity(256)
first:save("first.s1p")
first:save("first.csv")
second:plane{ axis = "x", at = 20*mm }:save("fields.csv")
second:save("second.png")
print("the end is reached")
