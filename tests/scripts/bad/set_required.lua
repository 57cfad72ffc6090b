-- expect: set_required.lua:3: ec.arg: 'file' has no default, so it must be given: --set file=VALUE
local ec = require "eciton"
local n = ec.arg("file")
