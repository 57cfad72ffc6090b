-- A thread whose body is no function of the script has no line on its stack; the file is still named.
-- expect: thread_of_core.lua: ec.sin: value 1: wants a number, a list or an expression, got a string
local ec = require "eciton"
coroutine.wrap(ec.sin)("x")
