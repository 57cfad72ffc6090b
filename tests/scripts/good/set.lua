-- flags: --set count=12 --set name=line --set fast=true --seed 9
-- expect: 12 line true 9
local ec = require "eciton"
print(ec.arg("count", 5) .. " " .. ec.arg("name", "x") .. " " .. tostring(ec.arg("fast", false)) .. " " .. ec.arg("seed", 1))
