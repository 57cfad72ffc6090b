-- expect: memory_ten_gigabytes.lua:3: resulting string too large
local text = "ten bytes "
local large = text:rep(1000 * 1000 * 1000)
