-- Uniform and Dolph-Chebyshev lines beside their exact values: no search, only the array evaluator.
-- The exact values follow from C. L. Dolph, Proc. IRE 34, 1946: with R = 10^(S/20) and x0 =
-- cosh(acosh(R)/(N-1)), the first null is at u = acos(cos(pi/(2(N-1)))/x0)/(pi d) and half power at
-- u = acos(cosh(acosh(R/sqrt 2)/(N-1))/x0)/(pi d); D = |sum w|^2 / sum_mn w_m w_n sinc(2 d_mn).
-- Expected: equal to 0.001 dB, 0.001 deg, and 0.0001 dB of directivity.
local ec = require "eciton"
local cases = { -- elements, spacing, side lobes (nil: uniform), then SLL, HPBW, FNBW, D
    { 8, 0.5, nil, -12.7973, 12.8027, 28.9550, 9.0309 },
    { 15, 0.5, nil, -13.1310, 6.7849, 15.3244, 11.7609 },
    { 20, 0.5, nil, -13.1882, 5.0832, 11.4783, 13.0103 },
    { 100, 0.5, nil, -13.2585, 1.0153, 2.2920, 20.0000 },
    { 10, 0.25, nil, -12.9662, 20.5008, 47.1564, 7.1316 },
    { 10, 0.5, -20, -20, 11.1861, 27.1612, 9.8326 },
    { 20, 0.5, -30, -30, 6.3277, 16.9539, 12.3929 },
}
local row = "%-22s %10s %10s %10s %10s"
print(row:format("array", "SLL dB", "HPBW deg", "FNBW deg", "D dBi"))
for _, c in ipairs(cases) do
    local n, d, level = c[1], c[2], c[3]
    local weights = level and ec.taper.chebyshev{ count = n, sll_db = level } or ec.taper.uniform{ count = n }
    local array = ec.array{ x = ec.geometry.line{ count = n, spacing = d }.x, amplitude = weights, wavelength = 1,
        u = ec.range(-1, 1, 40 * n + 1) }
    local found = { ec.value(array:sll_db()), ec.value(array:hpbw_deg()), ec.value(array:fnbw_deg()),
        ec.value(array:directivity_db()) }
    local name = ("%s %d, d = %g"):format(level and ("Chebyshev %g dB"):format(-level) or "uniform", n, d)
    print(row:format(name, ("%.4f"):format(found[1]), ("%.4f"):format(found[2]), ("%.4f"):format(found[3]),
        ("%.4f"):format(found[4])))
    print(row:format("  exact", ("%.4f"):format(c[4]), ("%.4f"):format(c[5]), ("%.4f"):format(c[6]),
        ("%.4f"):format(c[7])))
    for i, limit in ipairs{ 1e-3, 1e-3, 1e-3, 1.5e-4 } do -- the exact values are rounded to 4 digits
        assert(math.abs(found[i] - c[3 + i]) <= limit, "this value is off")
    end
end
