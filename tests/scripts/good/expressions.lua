-- expect: all values agree
local ec = require "eciton"
local pi = math.pi

local function close(a, b)
    assert(math.abs(a - b) <= 1e-12 * math.max(1, math.abs(b)), ("%.17g is not %.17g"):format(a, b))
end
local function same(expr, ...)
    local list, wanted = ec.value(expr), {...}
    if type(list) == "number" then list = {list} end
    assert(#list == #wanted, #list .. " values, not " .. #wanted)
    for i = 1, #wanted do close(list[i], wanted[i]) end
end

local a, b = ec.constant{1, 2, 3}, ec.constant{4, 5, 6}
same(a + b, 5, 7, 9) same(a - b, -3, -3, -3) same(a * b, 4, 10, 18) same(b / a, 4, 2.5, 2) same(a ^ 2, 1, 4, 9)
same(2 ^ a, 2, 4, 8) same(-a, -1, -2, -3) same(b // 4, 1, 1, 1) same(b % 4, 0, 1, 2) same(10 - a, 9, 8, 7)
same({1, 1, 1} + a, 2, 3, 4) same(a + ec.range(1, 3, 3), 2, 4, 6) same(a[2], 2) assert(#a == 3)
same(a:slice(2, 3), 2, 3) same(a:sum(), 6) same(a:mean(), 2) same(ec.norm{3, 4}, 5)
same(ec.min(a), 1) same(ec.max(a), 3) same(ec.max(a, 2), 2, 2, 3) same(ec.min(a, b, 2), 1, 2, 2)
same(a:argmax(), 3) same(a:argmin(), 1) same(a:at(2), 2) same(ec.gather(a, {3, 1, 1}), 3, 1, 1)
same(a:interp(1.5), 1.5) same(a:reverse(), 3, 2, 1) same(ec.concat(a, 7, b[1]), 1, 2, 3, 7, 4)
same({a[1], 9, b[3]} * ec.constant{1, 1, 1}, 1, 9, 6)
same(a:mirror{ odd = true }, -3, -2, -1, 1, 2, 3) same(a:mirror{ centre = true }, 3, 2, 1, 2, 3)
same(a:cumsum(), 1, 3, 6) same(ec.sort{3, 1, 2}, 1, 2, 3) same(ec.argsort{3, 1, 2}, 2, 3, 1)
same(a:kth_largest(2), 2) same(ec.top_k(a, 2), 0, 1, 1)
same(ec.lt(a, 2), 1, 0, 0) same(ec.le(a, 2), 1, 1, 0) same(ec.gt(a, 2), 0, 0, 1) same(ec.ge(a, 2), 0, 1, 1)
same(ec.eq(a, 2), 0, 1, 0) same(ec.and_(ec.lt(a, 3), ec.gt(a, 1)), 0, 1, 0) same(ec.not_(ec.eq(a, 2)), 1, 0, 1)
same(ec.where(ec.lt(a, 2), 10, a), 10, 2, 3) same(a:clamp(1.5, 2.5), 1.5, 2, 2.5)
same(ec.sin(a), math.sin(1), math.sin(2), math.sin(3)) same(ec.atan2(1, -1), 3 * pi / 4) same(ec.log10(1000), 3)
same(ec.local_maxima({1, 3, 2, 5, 4}, { fill = 0 }), 0, 3, 0, 5, 0)
same(ec.local_maxima({3, 1, 2}, { circular = true, fill = 0 }), 3, 0, 0)
same(ec.walk_min({5, 3, 1, 2}, 1), 2) same(ec.crossing({4, 3, 1, 0}, 2, 1), 1.5)
same(ec.matvec({{1, 2}, {3, 4}}, {1, 1}), 3, 7) same(ec.matmul({{1, 2}, {3, 4}}, {{1, 0}, {0, 1}}), 1, 2, 3, 4)
same(ec.min_gap{3, 1, 1.5}, 0.5) same(ec.min_distance{ x = {0, 3, 0}, y = {0, 4, 1} }, 1)
local z = ec.complex(3, 4)
same(z:abs(), 5) same(z:abs2(), 25) same(z:re(), 3) same(z:conj():im(), -4) same(z:arg(), math.atan(4, 3))
same((z * z):re(), -7) same(ec.arg(ec.complex(0, 2)), pi / 2)
local s = ec.over{ values = {1, 2, 4, 5} }
same(s:mean(), 3) same(s:max(), 5) same((s ^ 2):sum(), 46) same(s:percentile(50), 3) same(ec.min(2 * s), 2)
same(ec.sample_mean(s * a), 3, 6, 9)

-- values
local r = ec.range(0, 1, 5)
assert(#r == 5 and r[5] == 1 and r[6] == nil and r:max() == 1 and r:slice(2, 3):sum() == 0.75)
assert((2 * r + 1)[5] == 3 and #r:table() == 5 and r:mean() == 0.5)
local n = 0
for _ in ipairs(r) do n = n + 1 end
assert(n == 5)

-- tapers
local w = ec.taper.chebyshev{ count = 20, sll_db = -30 }
for i, wanted in ipairs{1, .97010, .91243, .83102, .73147, .62034, .50461, .39104, .28558, .32561} do
    assert(math.abs(w[10 + i] - wanted) < 6e-6 and w[11 - i] == w[10 + i], w[10 + i])
end
local t = ec.taper.taylor{ count = 41, sll_db = -30, nbar = 5 }
assert(t[21] == 1 and math.abs(t[1] - t[41]) < 1e-12 and t[1] > 0.2 and t[1] < 0.3)
assert(#ec.taper.uniform{ count = 3 } == 3)
close(2.4 * ec.GHz, 2.4e9) close(90 * ec.deg, pi / 2)
print("all values agree")
