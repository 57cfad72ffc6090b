-- A check ends at the first value that would run a model, and says what it would take.
-- command: check
-- expect: at least, 512 at most
-- expect: the check ends at this value, of line 12: a search behind it was not looked at
-- refuse: not to be reached
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local model = ec.fdtd{ frequency = 3*GHz, cell = 10*mm, steps = 512, boundary = "pec",
    domain = { from = {0, 0, 0}, to = {60*mm, 40*mm, 80*mm} },
    ec.source{ name = "in", from = {20*mm, 10*mm, 20*mm}, to = {20*mm, 20*mm, 20*mm} } }
assert(ec.value(model:cells()) == 6 * 4 * 8)
print(ec.value(model:steps()), "not to be reached")
