-- expect: moving parts are right
-- Sub-arrays of positions that are variables: a winner's pattern by direct sums, and cut into parts that were planned
-- from the ranges; z is an expression of x and y, a surface that is known.
local ec = require "eciton"

local count, bases = 0, { x = {}, y = {} }
for i = 1, 14 do
    for k = 1, 12 do
        count = count + 1
        bases.x[count], bases.y[count] = (i - 7.5) * 0.8, (k - 6.5) * 0.8
    end
end
local halves = {}
for m = 1, count do
    halves[m] = bases.x[m] < 0 and 1 or 2
end

-- the winner of a few designs, its array given to f
local function winner(surface, wavelength)
    local job = ec.job{ name = "moving" }
    local low, high = {}, {} -- bounds of each element's own
    for m = 1, count do
        low[m], high[m] = bases.x[m] - 0.2, bases.x[m] + 0.2
    end
    local x = job:real{ name = "x", count = count, min = low, max = high }
    local y = job:real{ name = "dy", count = count, min = -0.2, max = 0.2 } + bases.y
    local p = { x = x, y = y, z = surface(x, y), wavelength = wavelength and wavelength(job) or 1,
        steer_u = 0.1, steer_v = 0.05 }
    job:minimize("reach", ec.sum(x))
    return p, job:solve{ population = 16, evaluations = 64, final_designs = 1 }
end

local function field(best, p, options)
    for key, value in pairs(p) do
        options[key] = value
    end
    options.u = options.u or ec.range(-0.5, 0.5, 21)
    options.v = options.v or ec.range(-0.4, 0.5, 18)
    local pattern = ec.array(options):pattern()
    return best:value(ec.concat(ec.re(pattern), ec.im(pattern)))
end

local function error_of(want, got)
    local difference, norm = 0, 0
    for i = 1, #want do
        difference, norm = difference + (want[i] - got[i]) ^ 2, norm + want[i] ^ 2
    end
    return math.sqrt(difference / norm)
end

local function bowl(x, y) return (x ^ 2 + y ^ 2) / 30 end
local surfaces = {
    { "bowl", bowl },
    { "cylinder", function(x) return x ^ 2 / 12 end },
    { "roof", function(x, y) return ec.abs(x) * 0.3 + y * 0.1 end },
    { "across", function(_, y) return ec.sin(y / 3) * 2 end },
}
for _, s in ipairs(surfaces) do
    local p, best = winner(s[2])
    local want = field(best, p, { method = "direct" })
    for _, keys in ipairs{
        {}, { part = halves }, { parts = 2 }, { parts = 3, partition = "kd" }, { parts = 3, partition = "grid" },
        { parts = 2, plane = false }, { part = halves, expansion = "taylor" },
    } do
        for _, tolerance in ipairs{ 1e-2, 1e-4, 1e-10 } do
            local options = { method = "nufft", tolerance = tolerance,
                precision = tolerance > 1e-6 and "single" or "double" }
            for key, value in pairs(keys) do
                options[key] = value
            end
            local e = error_of(want, field(best, p, options))
            assert(e < tolerance, ("%s, parts %s, %s, tolerance %g: error %g"):format(s[1], tostring(keys.parts),
                tostring(keys.partition), tolerance, e))
        end
    end
    for _, u in ipairs{ ec.range(-1, 1.2, 45), ec.range(0.2, 0.9, 2) } do -- cuts
        local exact = field(best, p, { method = "direct", u = u, v = 0.3 })
        for _, keys in ipairs{ { part = halves }, { parts = 4 }, { parts = 3, partition = "kd" } } do
            keys.method, keys.u, keys.v = "nufft", u, 0.3
            local e = error_of(exact, field(best, p, keys))
            assert(e < 1e-8, ("%s, a cut: error %g"):format(s[1], e))
        end
    end
end

-- a wavelength that varies, too
local p, best = winner(bowl, function(job) return job:real{ name = "wavelength", min = 0.95, max = 1.05 } end)
local e = error_of(field(best, p, { method = "direct" }), field(best, p, { method = "nufft", parts = 2 }))
assert(e < 1e-8, e)

-- many directions: the places of more parts than are kept
local wide = { u = ec.range(-0.5, 0.5, 300), v = ec.range(-0.4, 0.4, 300) }
local want = field(best, p, { method = "direct", u = wide.u, v = wide.v, precision = "double" })
e = error_of(want, field(best, p, { method = "nufft", parts = 7, u = wide.u, v = wide.v, precision = "double" }))
assert(e < 1e-8, e)
print("moving parts are right")
