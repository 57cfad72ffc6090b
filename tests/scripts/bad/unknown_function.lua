-- expect: unknown_function.lua:3: eciton has no 'arry' (did you mean 'array'?)
local ec = require "eciton"
local a = ec.arry{}
