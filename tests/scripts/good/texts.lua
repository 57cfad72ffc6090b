-- expect: {0, 0.5, 1} 1.50
-- expect: for its value write ec.value(expr)
-- expect: for its value write best:value(expr) after job:solve
local ec = require "eciton"
print(("%s %.2f"):format(ec.range(0, 1, 3), 1.5))
print(ec.constant{ 1, 2 }, ("%s%%"):format(ec.constant(1)))
print(ec.job{ name = "j" }:real{ name = "x", min = 0, max = 1 })
-- the units that `eciton help units` lists
for word in ("m km cm mm um inch mil Hz kHz MHz GHz THz s ms us ns ps rad deg pi c0"):gmatch("%w+") do
    assert(type(ec[word]) == "number", word)
end
local square = ec.geometry.rectangle{ count_x = 2, count_y = 2, spacing_x = 1, spacing_y = 1 }
local x = square.x
assert(#x == 4 and #square.y == 4 and x[5] == nil and #table.pack(table.unpack(x)) == 4)
