-- flags: --set count=many
-- expect: set_wrong_type.lua:4: --set count=many: a number is needed, as the default is one
local ec = require "eciton"
local n = ec.arg("count", 5)
