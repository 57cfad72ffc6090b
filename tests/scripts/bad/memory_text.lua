-- expect: memory_text.lua:3: not enough memory: the script may hold 1 GiB
local text = "ten bytes "
local large = text:rep(200 * 1000 * 1000)
