-- flags: --out OUT
-- expect: final fidelity is another grid, which decides
-- expect: fdtd: the search has 12 x 2 x 8 cells and a time step of
-- expect: at final fidelity
-- file: sparameters.s1p
-- A search on cells of 1 mm whose best designs are run again on cells of 0.5 mm: the end of a cavity goes to the
-- nearest line, so that the coarse cells rank two lengths the wrong way around.
local ec = require "eciton"
local mm, GHz = ec.mm, ec.GHz
local job = ec.job{ name = "final" }
local which = job:integer{ name = "which", min = 0, max = 1 }
local length = (9.49 + 0.96 * which) * mm -- 9 or 10 cells; in fine ones 9.5 or 10.5 mm
local function cavity(keys)
    local all = { frequency = ec.range(15*GHz, 30*GHz, 31), boundary = "pec", snap = true, cell = { 1*mm, 2*mm, 1*mm },
        steps = 1500, domain = { from = { 0, 0, 0 }, to = { 12*mm, 4*mm, 8*mm } },
        ec.box{ name = "end", size = { 12*mm - length, 4*mm, 8*mm }, at = { (12*mm + length) / 2, 2*mm, 4*mm } },
        ec.port{ from = { 3*mm, 0, 3*mm }, to = { 3*mm, 4*mm, 3*mm }, ohms = 1e5 } }
    for key, value in pairs(keys) do all[key] = value end
    return ec.fdtd(all)
end
local function mode(model) return model:modes{ count = 1, from = 18*GHz, to = 30*GHz }[1] end
local fine = { cell = { 0.5*mm, 2*mm, 0.5*mm }, steps = 3000, precision = "float64" }
local coarse, model, own = cavity{}, cavity{ final = fine }, cavity(fine)

-- between the lowest modes of 9.5 and 10.5 mm, 24.50 and 23.56 GHz, nearer to the first
local function excess(m) return ec.abs(mode(m) - 24.15*GHz) end
job:minimize("excess", excess(model))
job:record("own", excess(own))
job:record("coarse", excess(coarse))
job:record("cells", model:cells())
job:record("steps", model:steps(1))
local best = job:solve{ population = 4, generations = 1 }
assert(best.variables.which == 0 and best.search.excess > 0.4*GHz, "the fine grid takes the other length")
assert(best.objectives.excess == best.recorded.own and best.search.excess == best.recorded.coarse)
assert(best.recorded.cells == 24 * 2 * 16 and best.recorded.steps == 3000)
local s, s_own = best:value(model:s(1, 1):re()), best:value(own:s(1, 1):re())
for i = 1, #s do assert(s[i] == s_own[i]) end
best:save("own.csv", own)
local plain = job:solve{ population = 4, generations = 1, final_designs = 1 }
assert(plain.variables.which == 1, "alone the coarse cells take the wrong one")

-- a sweep has final figures too, unless it is asked
local rows = job:sweep{ points = { which = 2 }, fidelity = "search" }.recorded.cells
assert(rows[1] == 12 * 2 * 8)
local report = model:report()
assert(report:find("the search: 12 x 2 x 8 = 192 cells\n", 1, true), report)
assert(report:find("final fidelity: 24 x 2 x 16 = 768 cells\n", 1, true), report)

for _, case in ipairs{
    { { cell = 2*mm }, "final: cell is 0.002, coarser than in the search: at most 0.001 is possible" },
    { { cell = 0.5*mm }, "final: steps is 1500 of %S+ ps each, a shorter time than the 1500 of" },
    { { steps = 100 }, "final: steps is 100, coarser than in the search: at least 1500" },
    { { decay_db = 50 }, "key 'final': the model has steps, so final fidelity has steps too" },
    { { least_cells = 1 }, "final: least_cells is 1, coarser than in the search: at least 2" },
    { { boundary = "pml" }, "key 'final': 'boundary' is the same in a search and at final fidelity, where" },
    { { cels = 1 }, "key 'final': unknown key 'cels' %(did you mean 'cell'" },
    { { averaging = 9 }, "key 'final': key 'averaging': 9 is not allowed" },
    { { conformal = true, edge_correction = true }, "final: conformal and edge_correction do not go together" },
    { { smallest = 1*mm }, "final: smallest is 0.001 m, and the search has no such limit" },
    { 3, "key 'final': wants a table of keys, as in final = { cells_per_wavelength" },
} do
    local ok, message = pcall(cavity, { final = case[1] })
    assert(not ok and message:find(case[2]), message)
end
print("final fidelity is another grid, which decides")
