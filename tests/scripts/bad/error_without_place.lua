-- An error that comes without a place gets the line that was running.
-- expect: error_without_place.lua:4: the array is too long
local length = 3
error("the array is too long", length - 3)
