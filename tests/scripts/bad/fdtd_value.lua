-- expect: fdtd_value.lua:7: ec.value: the expression has design variables
local ec = require "eciton"
local mm, job = ec.mm, ec.job{ name = "fdtd_value" }
local w = job:real{ name = "w", min = 1*mm, max = 2*mm }
local model = ec.fdtd{ frequency = 2*ec.GHz, ec.plate{ size = {w, w} },
    ec.plate{ size = {w, w}, at = {0, 0, 1*mm} }, ec.port{ from = {0, 0, 0}, to = {0, 0, 1*mm} } }
print(ec.value(model:s(1, 1):max_db()))
