-- expect: the ridge's maximum counts
-- A polished plane of 84 elements, all of its lobes as high as each other, but for a weak maximum on
-- the ridge between two of them that no sample of a grid shows as higher than all its neighbours.
local ec = require "eciton"
local t = ec.load_csv("ridge.csv")
local function level(u, v)
    local re, im = 0, 0
    for i = 1, #t.x do
        local phase = 2 * math.pi * (u * t.x[i] + v * t.y[i])
        re, im = re + math.cos(phase), im + math.sin(phase)
    end
    return 10 * math.log((re * re + im * im) / (#t.x) ^ 2, 10)
end
local top = -200
for i = 0, 40 do
    for k = 0, 40 do
        top = math.max(top, level(0.355 + 0.00015 * i, 0.012 + 0.0002 * k))
    end
end
for _, grid in ipairs{ { 41, 61 }, { 81, 161 }, { 200, 200 } } do
    local array = ec.array{ x = t.x, y = t.y, wavelength = 1, u = ec.range(0, 1, grid[1]), v = ec.range(-1, 1, grid[2]) }
    local sll = ec.value(array:sll_db{ exclude_u = 0.14, exclude_v = 0.25 })
    assert(sll >= top - 1e-9 and sll < top + 1e-4, ("%.9f beside %.9f"):format(sll, top))
end
print("the ridge's maximum counts")
