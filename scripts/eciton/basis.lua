-- Many values from few coefficients: Legendre polynomials and B-splines.
local _, core = ... -- from require, which gives the core to the library only

local basis = {}

-- The positions, from -1 to 1.
local function positions(what, k)
    if (k.at == nil) == (k.count == nil) then
        core.fail(("%s: give one of the keys count and at"):format(what))
    elseif k.at then
        return k.at
    elseif k.count == 1 then
        return { 0 }
    end
    local at = {}
    for i = 1, k.count do
        at[i] = (2 * (i - 1) - (k.count - 1)) / (k.count - 1)
    end
    return at
end

local function matrix(at, row)
    local rows = {}
    for i = 1, #at do
        rows[i] = row(at[i])
    end
    return rows
end

-- rows times coefficients: a list, or one product with a constant matrix.
local function product(rows, coefficients)
    if core.kind(coefficients) == "expression" then
        return core.matvec(rows, coefficients)
    end
    local list = {}
    for i, row in ipairs(rows) do
        local sum = 0
        for k = 1, #row do
            sum = sum + row[k] * coefficients[k]
        end
        list[i] = sum
    end
    return list
end

-- A single coefficient is a list of one.
local function coefficients(k)
    local kind, length = core.kind(k.coefficients)
    if kind == "number" then
        return { k.coefficients }, 1
    end
    return k.coefficients, length or 1
end

-- P_0 .. P_(terms - 1) at x by Bonnet's recursion, k P_k = (2k - 1) x P_(k-1) - (k - 1) P_(k-2).
-- A. Breglia et al., ACES Express Journal 1(4), 2016, eq. (6), has antenna positions as such a sum.
local function legendre(x, terms)
    local p = { 1, x }
    for k = 2, terms - 1 do
        p[k + 1] = ((2 * k - 1) * x * p[k] - (k - 1) * p[k - 1]) / k
    end
    if terms == 1 then
        p[2] = nil
    end
    return p
end

local function legendre_rows(at, terms)
    return matrix(at, function(x) return legendre(x, terms) end)
end

function basis.legendre(keys)
    local k = core.parse("ec.basis.legendre", keys)
    local at, c, terms = positions("ec.basis.legendre", k), coefficients(k)
    return product(legendre_rows(at, terms), c)
end

function basis.legendre_matrix(keys)
    local k = core.parse("ec.basis.legendre_matrix", keys)
    return legendre_rows(positions("ec.basis.legendre_matrix", k), k.terms)
end

-- The B-splines at x; knot[1 .. terms + degree + 1]. C. de Boor, "A Practical Guide to Splines", 1978, ch. IX, (14).
local function bspline(x, terms, degree, knot)
    local span = degree + 1 -- knot[span] <= x < knot[span + 1], the last span with its end
    while span < terms and x >= knot[span + 1] do
        span = span + 1
    end
    local b = {}
    for i = 1, terms do
        b[i] = 0
    end
    b[span] = 1
    for d = 1, degree do
        for i = span - d, span do -- in place: b[i] and b[i + 1] are of degree d - 1
            local left = knot[i + d] > knot[i] and (x - knot[i]) / (knot[i + d] - knot[i]) or 0
            local right = knot[i + d + 1] > knot[i + 1] and (knot[i + d + 1] - x) / (knot[i + d + 1] - knot[i + 1]) or 0
            b[i] = left * b[i] + (i < span and right * b[i + 1] or 0)
        end
    end
    return b
end

local function bspline_rows(what, at, terms, degree)
    if terms < degree + 1 then
        core.fail(("%s: %d coefficients are too few for degree %d: at least %d are needed"):format(what, terms, degree,
            degree + 1))
    end
    local knot, pieces = {}, terms - degree
    for i = 1, terms + degree + 1 do
        knot[i] = 2 * math.min(math.max(i - degree - 1, 0), pieces) / pieces - 1
    end
    return matrix(at, function(x) return bspline(x, terms, degree, knot) end)
end

function basis.bspline(keys)
    local k = core.parse("ec.basis.bspline", keys)
    local at, c, terms = positions("ec.basis.bspline", k), coefficients(k)
    return product(bspline_rows("ec.basis.bspline", at, terms, k.degree), c)
end

function basis.bspline_matrix(keys)
    local k = core.parse("ec.basis.bspline_matrix", keys)
    return bspline_rows("ec.basis.bspline_matrix", positions("ec.basis.bspline_matrix", k), k.terms, k.degree)
end

return basis
