-- A reflectarray of five flat panels along a parabola: 900 elements in 15 x 15 wavelengths, lit
-- from the focus (f/D = 0.8) by a feed of field cos^3, the beam 14.5 degrees off. Faceted
-- reflectarrays are the paper on irregular arrays' example of a surface whose parts need one term
-- of the expansion in z each (ACES Journal 25, no. 4, April 2010, sec. IV.C). The elements switch
-- between four phases. What is searched is a smooth change of the phases before they are rounded,
-- ten coefficients, for the lowest side lobes in the u-v plane at a gain of at most 1.5 dB below
-- that of exact phases. A rounded phase has no gradient, so there is no polish. Measured: -24.2,
-- -24.3 and -23.6 dB for seeds 1 to 3 where exact phases have -21.8 dB and rounded ones -21.7 dB;
-- about 30 s on two CPU cores.
local ec = require "eciton"
local job = ec.job{ name = "faceted_reflectarray", seed = ec.arg("seed", 1) }
local width, bits, beam_u = 15, 2, 0.25
local g = ec.geometry.facets{ facets = 5, columns = 30, rows = 30, spacing = 0.5, width = width, f_over_d = 0.8 }

-- What the feed at (0, 0, 0.8 width) brings to each element: the amplitude is cos^3 of the angle
-- from the feed's axis, over the distance, by the cosine of the angle at which the wave meets the
-- panel; the phase lags by the distance.
local amplitude, lag, along, across = {}, {}, {}, {}
for i = 1, g.n do
    local dx, dy, dz = g.x[i], g.y[i], g.z[i] - 0.8 * width
    local distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    amplitude[i] = (-dz / distance) ^ 3 * -(dx * g.nx[i] + dz * g.nz[i]) / distance ^ 2
    lag[i] = 2 * ec.pi * distance
    along[i], across[i] = 2 * g.x[i] / width, math.abs(2 * g.y[i]) / width
end

-- What the elements have to add: the path from the feed, the steering; and a smooth change that is
-- searched for, a sum of Legendre polynomials along x and |y|.
local needed = ec.constant(lag) + ec.constant(ec.steering.phase{ x = g.x, y = g.y, z = g.z, wavelength = 1,
    u = beam_u, total = true })
local degree = 3
local px, py = ec.basis.legendre_matrix{ terms = degree + 1, at = along },
    ec.basis.legendre_matrix{ terms = degree + 1, at = across }
local matrix = {}
for i = 1, g.n do
    matrix[i] = {}
    for a = 1, degree + 1 do
        for b = 1, degree + 2 - a do
            table.insert(matrix[i], px[i][a] * py[i][b])
        end
    end
end
local terms = #matrix[1]
local change = job:real{ name = "change", count = terms, min = -1.5, max = 1.5, start = ec.range(0, 0, terms) }

-- u and half of v: the array is symmetric in y
local function array(set)
    return ec.array{ x = g.x, y = g.y, z = g.z, wavelength = 1, amplitude = amplitude,
        phase = set - ec.constant(lag) + 2 * ec.pi * ec.constant(g.z), element = "cosq", q = 1,
        part = g.facet, u = ec.range(-1, 1, 131), v = ec.range(0, 1, 66) }
end
local function side_lobes(a)
    return a:sll_db{ look_u = beam_u, look_v = 0, exclude_u = 0.14, exclude_v = 0.14 }
end
local function gain(a) -- of the field in the beam, for the same feed
    return a:level_db{ look_u = beam_u, look_v = 0, u = beam_u, v = 0, relative = false }
end

local ideal, rounded = array(needed), array(ec.errors.quantize_phase{ phase = needed, bits = bits })
local found = array(ec.errors.quantize_phase{ phase = needed + ec.matvec(matrix, change), bits = bits })
local best_gain = ec.value(gain(ideal))
job:minimize("sll_db", side_lobes(found))
job:subject_to("loss_db", best_gain - gain(found), { max = 1.5 })
local best = job:solve{ evaluations = 10000 }

local function report(name, level, field)
    print(("%-22s side lobes %.2f dB, loss %.2f dB"):format(name, level, best_gain - field))
end
report("any phase", ec.value(side_lobes(ideal)), best_gain)
report("four phases, rounded", ec.value(side_lobes(rounded)), ec.value(gain(rounded)))
report("four phases, searched", best.objectives.sll_db, best:value(gain(found)))
