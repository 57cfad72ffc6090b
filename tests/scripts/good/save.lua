-- flags: --out OUT
-- file: saved.csv
-- file: saved.npy
-- file: list.csv
-- holds: list.npy 'shape': (5,)
-- holds: matrix.npy 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)
-- holds: best.npy 'shape': (2, 3)
-- holds: recorded.npy 'shape': (2, 3)
-- holds: scaled.npy 'shape': (2, 3)
-- holds: samples.npy 'shape': (4, 2, 3)
-- holds: cube.npy 'shape': (4, 2, 1, 1, 3)
-- holds: slice.npy 'shape': (4,)
-- holds: matrix.csv 6
-- holds: nan.npy 'shape': (2,)
-- holds: nan.csv nan
local ec = require "eciton"
local job = ec.job{ name = "save" }
local x = job:real{ name = 'x,"1"', min = 0, max = 1 }
job:minimize("f", x)
local matrix = ec.constant{ { 1, 2, 3 }, { 4, 5, 6 } }
job:record("matrix", x * matrix)
local best = job:solve{ population = 10, generations = 2 }
best:save("saved.csv")
best:save("saved.npy")
ec.range(0, 1, 5):save("list.csv")
ec.range(0, 1, 5):save("list.npy")
-- values have their axes, samples first
ec.value(matrix):save("matrix.npy")
ec.value(matrix):save("matrix.csv")
best:value(x * matrix):save("best.npy")
best.recorded.matrix:save("recorded.npy")
;(2 * ec.value(matrix)):save("scaled.npy")
local over = ec.over{ 1, 2, 3, 4 } * matrix
ec.value(over):save("samples.npy")
ec.value(ec.reshape(over, 2, 1, 1, 3)):save("cube.npy")
ec.value(over):slice(3, 6):save("slice.npy")
local none = ec.value(ec.sqrt(ec.constant{ 1, -1 }))
assert(none[1] == 1 and none[2] ~= none[2])
none:save("nan.npy")
none:save("nan.csv")
