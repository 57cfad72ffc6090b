-- expect: core_module.lua:3: module 'eciton.core' not found
require "eciton"
local core = require "eciton.core"
print(core.parse("ec.job", { name = "x" }))
