/* small_matrix_kernels.cu: small matrices on CUDA.
 *
 * Up to 8 columns (in float64: 6) a thread has a matrix in its registers, all loops over columns
 * unrolled, and neighbours' loads are side by side; a higher matrix is first brought to a triangle,
 * row by row, by Givens rotations. Work of a 4 x 4 singular value decomposition in float32: about 80
 * instructions a pair and 520 a sweep, 4 or 5 sweeps; traffic 128 + 16 bytes.
 * Beyond, a warp (n <= 16) or block (64 threads, n <= 32; 128, n <= 64) has a matrix in shared memory:
 * all pairs of a round at once, 4 threads a pair, each with every fourth row in registers between the
 * product and the rotation. Columns are 4 elements apart from a multiple of 16, so that the four
 * columns that a quarter of a warp reads are in different banks.
 * The order of rotations is that of the CPU.
 *
 * Bisection, capacity beyond 8 columns and adjoints: the CPU's source, a thread a matrix, its numbers
 * in scratch memory side by side with its neighbours'.
 */
#include "kernel_cuda.cuh"
#include "small_matrix_kernels.h"

enum { REGISTER_BLOCK = 128, PAIR_TEAM = 4 };

/* ---- one name for both real types ------------------------------------------------------------ */

template <typename R> struct real_of;

template <> struct real_of<float> {
    typedef ec_f32_turn turn;
    static __device__ __forceinline__ turn find_turn(float a, float b, float dx, float dy, float gr,
                                                     float gi)
    {
        return ec_f32_find_turn(a, b, dx, dy, gr, gi, 1.0f);
    }
    static __device__ __forceinline__ float fma(float a, float b, float c)
    {
        return ec_fmaf(a, b, c);
    }
    static __device__ __forceinline__ float root(float x) /* x >= 0 */ { return __fsqrt_rn(x); }
    static __device__ __forceinline__ float rcp(float x) { return ec_small_matrix_rcp_f32(x); }
    static __device__ __forceinline__ float unit(float x) { return ec_small_matrix_unit_f32(x); }
    static __device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
    static __device__ __forceinline__ float smaller(float a, float b) { return fminf(a, b); }
    static constexpr float tiny = 1.17549435e-38f, most = 3.40282347e38f;
};

template <> struct real_of<double> {
    typedef ec_f64_turn turn;
    static __device__ __forceinline__ turn find_turn(double a, double b, double dx, double dy,
                                                     double gr, double gi)
    {
        return ec_f64_find_turn(a, b, dx, dy, gr, gi, 1.0);
    }
    static __device__ __forceinline__ double fma(double a, double b, double c)
    {
        return ec_fma(a, b, c);
    }
    static __device__ __forceinline__ double root(double x) { return sqrt(x); }
    static __device__ __forceinline__ double rcp(double x) { return 1.0 / x; }
    static __device__ __forceinline__ double unit(double x) { return ec_small_matrix_unit(x); }
    static __device__ __forceinline__ double larger(double a, double b) { return fmax(a, b); }
    static __device__ __forceinline__ double smaller(double a, double b) { return fmin(a, b); }
    static constexpr double tiny = 2.2250738585072014e-308, most = 1.7976931348623157e308;
};

/* The batch's numbers as they are stored. */
template <int DTYPE> struct stored;
template <> struct stored<EC_C64> {
    typedef float real;
    static __device__ __forceinline__ void get(const void *data, int64_t at, float *re, float *im)
    {
        float2 v = __ldg((const float2 *)data + at);
        *re = v.x;
        *im = v.y;
    }
};
template <> struct stored<EC_C128> {
    typedef double real;
    static __device__ __forceinline__ void get(const void *data, int64_t at, double *re, double *im)
    {
        double2 v = __ldg((const double2 *)data + at);
        *re = v.x;
        *im = v.y;
    }
};
template <> struct stored<EC_F64> {
    typedef double real;
    static __device__ __forceinline__ void get(const void *data, int64_t at, double *re, double *im)
    {
        *re = __ldg((const double *)data + at);
        *im = 0.0;
    }
};

template <typename A, typename B> struct same_type {
    static constexpr bool value = false;
};
template <typename A> struct same_type<A, A> {
    static constexpr bool value = true;
};

/* ---- a thread's matrix ------------------------------------------------------------------------ */

/* Where a thread's matrix lies. */
struct place {
    size_t lane, y;
    int64_t base; /* of its first element */
};

static __device__ __forceinline__ bool find_place(const ec_small_matrix_work &w, size_t task,
                                                  size_t tasks, place *at)
{
    if (task >= tasks)
        return false;
    if (tasks == w.lanes) { /* no division */
        at->y = 0;
        at->lane = task;
    } else if (tasks <= 0xffffffffu) { /* the short one */
        at->y = (uint32_t)task / (uint32_t)w.lanes;
        at->lane = (uint32_t)task - (uint32_t)at->y * (uint32_t)w.lanes;
    } else {
        at->y = task / w.lanes;
        at->lane = task % w.lanes;
    }
    at->base = ec_small_matrix_base(&w.matrix, &w, at->y, w.rows * w.cols) +
               (int64_t)at->lane * w.matrix.lane;
    return true;
}

/* Element (i, j) of X, m x n. */
template <int DTYPE>
static __device__ __forceinline__ void
get_element(const ec_small_matrix_work &w, const place &at, int i, int j, bool wide,
            typename stored<DTYPE>::real *re, typename stored<DTYPE>::real *im)
{
    int e = wide ? j * w.cols + i : i * w.cols + j;
    stored<DTYPE>::get(w.matrix.data, at.base + e * w.matrix.ld, re, im);
}

/* The largest part of a matrix; NaN where there is one. */
template <int DTYPE>
static __device__ double find_peak(const ec_small_matrix_work &w, const place &at, int first,
                                   int step)
{
    typename stored<DTYPE>::real re, im, peak = 0;
    for (int e = first; e < w.rows * w.cols; e += step) {
        stored<DTYPE>::get(w.matrix.data, at.base + e * w.matrix.ld, &re, &im);
        re = re < 0 ? -re : re;
        im = im < 0 ? -im : im;
        /* a NaN stays */
        peak = re <= peak || peak != peak ? peak : re;
        peak = im <= peak || peak != peak ? peak : im;
    }
    return (double)peak;
}

/* X of N x N into registers (column, row), divided by the unit that is returned; 0 for a matrix that
 * is not finite, and *bad. */
template <typename R, int N, int DTYPE>
static __device__ __forceinline__ double load_square(const ec_small_matrix_work &w, const place &at,
                                                     R (&re)[N][N], R (&im)[N][N], bool *bad)
{
    typedef typename stored<DTYPE>::real S;
    if constexpr (same_type<R, S>::value) {
        R peak = 0;
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int i = 0; i < N; i++)
                stored<DTYPE>::get(w.matrix.data, at.base + (i * N + j) * w.matrix.ld, &re[j][i],
                                   &im[j][i]);
        R zero = 0; /* NaN or infinity times 0 */
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int i = 0; i < N; i++) {
                R r = re[j][i] < 0 ? -re[j][i] : re[j][i], k = im[j][i] < 0 ? -im[j][i] : im[j][i];
                peak = real_of<R>::larger(peak, real_of<R>::larger(r, k));
                zero = real_of<R>::fma(r, (R)0, zero);
                zero = real_of<R>::fma(k, (R)0, zero);
            }
        *bad = !(zero == (R)0);
        R unit = *bad ? (R)1 : real_of<R>::unit(peak);
        R scale = *bad ? (R)0 : real_of<R>::rcp(unit);
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int i = 0; i < N; i++) {
                re[j][i] = *bad ? (R)0 : re[j][i] * scale;
                im[j][i] = *bad ? (R)0 : im[j][i] * scale;
            }
        return (double)unit;
    } else {
        double peak = find_peak<DTYPE>(w, at, 0, 1);
        *bad = !(peak <= 1.7976931348623157e308);
        double unit = *bad ? 1.0 : ec_small_matrix_unit(peak), scale = *bad ? 0.0 : 1.0 / unit;
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int i = 0; i < N; i++) {
                S r, k;
                stored<DTYPE>::get(w.matrix.data, at.base + (i * N + j) * w.matrix.ld, &r, &k);
                re[j][i] = *bad ? (R)0 : (R)((double)r * scale);
                im[j][i] = *bad ? (R)0 : (R)((double)k * scale);
            }
        return unit;
    }
}

/* The triangle of X's QR factors, of which rows become columns: X^H = Q' [re + j im] with the same
 * singular values. Rows of X are rotated into it one by one. */
template <typename R, int N, int DTYPE>
static __device__ double load_tall(const ec_small_matrix_work &w, const place &at, R (&re)[N][N],
                                   R (&im)[N][N], bool *bad)
{
    const bool wide = w.rows < w.cols;
    const int m = wide ? w.cols : w.rows;
    double peak = find_peak<DTYPE>(w, at, 0, 1);
    *bad = !(peak <= 1.7976931348623157e308);
    double unit = *bad ? 1.0 : ec_small_matrix_unit(peak), scale = *bad ? 0.0 : 1.0 / unit;
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int i = 0; i < N; i++)
            re[j][i] = im[j][i] = (R)0;
    for (int row = 0; row < m; row++) {
        R vr[N], vi[N];
#pragma unroll
        for (int j = 0; j < N; j++) {
            typename stored<DTYPE>::real r, k;
            get_element<DTYPE>(w, at, row, j, wide, &r, &k);
            vr[j] = *bad ? (R)0 : (R)((double)r * scale);
            vi[j] = *bad ? (R)0 : (R)((double)k * scale);
        }
#pragma unroll
        for (int k = 0; k < N; k++) {
            R d = re[k][k];
            R square = real_of<R>::fma(d, d, real_of<R>::fma(vr[k], vr[k], vi[k] * vi[k]));
            R length = real_of<R>::root(square);
            R over = square > real_of<R>::tiny ? (R)1 / length : (R)0;
            R c = square > real_of<R>::tiny ? d * over : (R)1, sr = vr[k] * over, si = vi[k] * over;
#pragma unroll
            for (int j = k; j < N; j++) {
                R ur = re[k][j], ui = im[k][j], xr = vr[j], xi = vi[j];
                re[k][j] = real_of<R>::fma(c, ur, real_of<R>::fma(sr, xr, si * xi));
                im[k][j] = real_of<R>::fma(c, ui, real_of<R>::fma(sr, xi, -si * xr));
                vr[j] = real_of<R>::fma(c, xr, real_of<R>::fma(-sr, ur, si * ui));
                vi[j] = real_of<R>::fma(c, xi, real_of<R>::fma(-sr, ui, -si * ur));
            }
        }
    }
    return unit;
}

template <typename R, int N>
static __device__ __forceinline__ R norm_of(const R (&re)[N], const R (&im)[N])
{
    R r = 0, i = 0;
#pragma unroll
    for (int k = 0; k < N; k++) {
        r = real_of<R>::fma(re[k], re[k], r);
        i = real_of<R>::fma(im[k], im[k], i);
    }
    return r + i;
}

/* Rotates columns P and Q. */
template <typename R, int N>
static __device__ __forceinline__ bool rotate(R (&pr)[N], R (&pi)[N], R (&qr)[N], R (&qi)[N], R &ap,
                                              R &aq, R &dp, R &dq)
{
    R rr = 0, ii = 0, ri = 0, ir = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        rr = real_of<R>::fma(pr[i], qr[i], rr);
        ii = real_of<R>::fma(pi[i], qi[i], ii);
        ri = real_of<R>::fma(pr[i], qi[i], ri);
        ir = real_of<R>::fma(pi[i], qr[i], ir);
    }
    typename real_of<R>::turn t = real_of<R>::find_turn(ap, aq, dp, dq, rr + ii, ri - ir);
#pragma unroll
    for (int i = 0; i < N; i++) {
        R ur = pr[i], ui = pi[i], vr = qr[i], vi = qi[i];
        pr[i] = real_of<R>::fma(-t.to_x_re, vr, real_of<R>::fma(t.to_x_im, vi, ur));
        pi[i] = real_of<R>::fma(-t.to_x_re, vi, real_of<R>::fma(-t.to_x_im, vr, ui));
        qr[i] = real_of<R>::fma(t.to_y_re, ur, real_of<R>::fma(-t.to_y_im, ui, vr));
        qi[i] = real_of<R>::fma(t.to_y_re, ui, real_of<R>::fma(t.to_y_im, ur, vi));
    }
    ap = real_of<R>::larger(ap - t.shift, (R)0);
    aq = real_of<R>::larger(aq + t.shift, (R)0);
    dp *= t.shrink;
    dq *= t.shrink;
    return t.moved > (R)0;
}

/* Singular values of the columns, largest first. */
template <typename R, int N>
static __device__ __forceinline__ bool jacobi(R (&re)[N][N], R (&im)[N][N], R (&s)[N])
{
    constexpr int players = N + (N & 1);
    R a[N], d[N];
    bool more = N > 1;
#pragma unroll
    for (int j = 0; j < N; j++)
        d[j] = (R)1;
#pragma unroll 1
    for (int sweep = 0; sweep < EC_JACOBI_SWEEPS && more; sweep++) {
        more = false;
#pragma unroll
        for (int j = 0; j < N; j++)
            a[j] = d[j] * norm_of<R, N>(re[j], im[j]);
#pragma unroll
        for (int round = 0; round < players - 1; round++)
#pragma unroll
            for (int k = 0; k < players / 2; k++) {
                int p, q;
                ec_small_matrix_pair(players, round, k, &p, &q);
                if (q < N)
                    more |= rotate<R, N>(re[p], im[p], re[q], im[q], a[p], a[q], d[p], d[q]);
            }
        R least = d[0];
#pragma unroll
        for (int j = 1; j < N; j++)
            least = real_of<R>::smaller(least, d[j]);
        if (least < (R)(1.0 / 16777216.0)) {
#pragma unroll
            for (int j = 0; j < N; j++) {
                bool small = d[j] < (R)(1.0 / 16777216.0);
                R root = small ? (R)(1.0 / 4096.0) : (R)1;
                d[j] *= small ? (R)16777216.0 : (R)1;
#pragma unroll
                for (int i = 0; i < N; i++) {
                    re[j][i] *= root;
                    im[j][i] *= root;
                }
            }
        }
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        s[j] = real_of<R>::root(d[j] * norm_of<R, N>(re[j], im[j]));
#pragma unroll
    for (int round = 0; round < N; round++)
#pragma unroll
        for (int j = round & 1; j + 1 < N; j += 2) {
            R large = real_of<R>::larger(s[j], s[j + 1]);
            s[j + 1] = real_of<R>::smaller(s[j], s[j + 1]);
            s[j] = large;
        }
    return !more;
}

template <typename R, int N, bool SQUARE, int DTYPE>
static __device__ __forceinline__ double load_matrix(const ec_small_matrix_work &w, const place &at,
                                                     R (&re)[N][N], R (&im)[N][N], bool *bad)
{
    if constexpr (SQUARE)
        return load_square<R, N, DTYPE>(w, at, re, im, bad);
    else
        return load_tall<R, N, DTYPE>(w, at, re, im, bad);
}

template <typename R, int N, bool SQUARE>
static __global__ void __launch_bounds__(REGISTER_BLOCK)
    singular_kernel(const __grid_constant__ ec_small_matrix_work w, size_t tasks)
{
    place at;
    if (w.stop && *w.stop)
        return;
    if (!find_place(w, (size_t)blockIdx.x * REGISTER_BLOCK + threadIdx.x, tasks, &at))
        return;
    R re[N][N], im[N][N], s[N];
    double unit;
    bool bad;
    if (w.matrix.dtype == EC_C64)
        unit = load_matrix<R, N, SQUARE, EC_C64>(w, at, re, im, &bad);
    else if (w.matrix.dtype == EC_C128)
        unit = load_matrix<R, N, SQUARE, EC_C128>(w, at, re, im, &bad);
    else
        unit = load_matrix<R, N, SQUARE, EC_F64>(w, at, re, im, &bad);
    if (!jacobi<R, N>(re, im, s))
        bad = true;
    if (bad && w.status)
        w.status[at.lane] |= EC_CANDIDATE_EVALUATOR;
    int64_t to = ec_small_matrix_base(&w.result, &w, at.y, N) + (int64_t)at.lane * w.result.lane;
    if (w.result.dtype == EC_F32) {
        float *out = (float *)w.result.data + to;
#pragma unroll
        for (int k = 0; k < N; k++)
            out[k * w.result.ld] = bad ? NAN : (float)((double)s[k] * unit);
    } else {
        double *out = (double *)w.result.data + to;
#pragma unroll
        for (int k = 0; k < N; k++)
            out[k * w.result.ld] = bad ? (double)NAN : (double)s[k] * unit;
    }
}

/* ---- a team's matrix in shared memory --------------------------------------------------------- */

/* A warp of a block that has one matrix a warp, or the whole block. */
template <int COLUMNS> static __device__ __forceinline__ void team_wait()
{
    if (COLUMNS <= 16)
        __syncwarp();
    else
        __syncthreads();
}

template <int COLUMNS> static __device__ __forceinline__ bool team_any(bool value)
{
    if (COLUMNS <= 16)
        return __any_sync(0xffffffffu, value);
    return __syncthreads_or(value);
}

/* Sum over the four threads of a pair. */
template <typename R> static __device__ __forceinline__ R pair_sum(R x)
{
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

template <typename R> struct alignas(2 * sizeof(R)) number_pair {
    R re, im;
};

/* Columns of R complex numbers: COLUMNS of them, 4 ROWS + 4 apart, then their norms and scales. */
template <typename R, int COLUMNS, int ROWS> struct team_memory {
    static constexpr int stride = PAIR_TEAM * ROWS + 4;
    alignas(16) number_pair<R> x[COLUMNS * stride];
    R a[COLUMNS], d[COLUMNS];
    double peak[COLUMNS / 16];
};

template <typename R, int COLUMNS, int ROWS>
static __device__ __forceinline__ R team_norm(const team_memory<R, COLUMNS, ROWS> &t, int column,
                                              int member, bool there)
{
    R r = 0, i = 0;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        number_pair<R> v = {0, 0};
        if (there)
            v = t.x[column * t.stride + member + PAIR_TEAM * k];
        r = real_of<R>::fma(v.re, v.re, r);
        i = real_of<R>::fma(v.im, v.im, i);
    }
    return pair_sum(r + i);
}

template <typename R, int COLUMNS, int ROWS>
static __device__ __forceinline__ bool team_rotate(team_memory<R, COLUMNS, ROWS> &t, int p, int q,
                                                   int member, bool there)
{
    number_pair<R> x[ROWS], y[ROWS];
    number_pair<R> *cp = t.x + p * t.stride + member, *cq = t.x + q * t.stride + member;
    R rr = 0, ii = 0, ri = 0, ir = 0, ap = 0, aq = 0, dp = 0, dq = 0;
    /* before the threads meet in the sums: the first of them writes these afterwards */
    if (there) {
        ap = t.a[p];
        aq = t.a[q];
        dp = t.d[p];
        dq = t.d[q];
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        x[k].re = x[k].im = y[k].re = y[k].im = 0;
        if (there) {
            x[k] = cp[PAIR_TEAM * k];
            y[k] = cq[PAIR_TEAM * k];
        }
        rr = real_of<R>::fma(x[k].re, y[k].re, rr);
        ii = real_of<R>::fma(x[k].im, y[k].im, ii);
        ri = real_of<R>::fma(x[k].re, y[k].im, ri);
        ir = real_of<R>::fma(x[k].im, y[k].re, ir);
    }
    R gr = pair_sum(rr + ii), gi = pair_sum(ri - ir);
    if (!there)
        return false;
    typename real_of<R>::turn turn = real_of<R>::find_turn(ap, aq, dp, dq, gr, gi);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        number_pair<R> u = x[k], v = y[k];
        x[k].re = real_of<R>::fma(-turn.to_x_re, v.re, real_of<R>::fma(turn.to_x_im, v.im, u.re));
        x[k].im = real_of<R>::fma(-turn.to_x_re, v.im, real_of<R>::fma(-turn.to_x_im, v.re, u.im));
        y[k].re = real_of<R>::fma(turn.to_y_re, u.re, real_of<R>::fma(-turn.to_y_im, u.im, v.re));
        y[k].im = real_of<R>::fma(turn.to_y_re, u.im, real_of<R>::fma(turn.to_y_im, u.re, v.im));
        cp[PAIR_TEAM * k] = x[k];
        cq[PAIR_TEAM * k] = y[k];
    }
    if (member == 0) {
        t.a[p] = real_of<R>::larger(ap - turn.shift, (R)0);
        t.a[q] = real_of<R>::larger(aq + turn.shift, (R)0);
        t.d[p] = dp * turn.shrink;
        t.d[q] = dq * turn.shrink;
    }
    return turn.moved > (R)0;
}

/* X into shared memory, divided by the unit that is returned. */
template <typename R, int COLUMNS, int ROWS, int DTYPE>
static __device__ __forceinline__ double team_load(const ec_small_matrix_work &w, const place &at,
                                                   team_memory<R, COLUMNS, ROWS> &t, bool *bad)
{
    constexpr int size = COLUMNS / 2 * PAIR_TEAM;
    const bool wide = w.rows < w.cols;
    const int n = wide ? w.rows : w.cols, m = wide ? w.cols : w.rows, thread = threadIdx.x;
    double peak = find_peak<DTYPE>(w, at, thread, size);
    for (int step = 16; step; step /= 2) {
        double other = __shfl_xor_sync(0xffffffffu, peak, step);
        peak = ec_small_matrix_larger(peak, other);
    }
    if (COLUMNS > 16) {
        if (thread % 32 == 0)
            t.peak[thread / 32] = peak;
        __syncthreads();
        for (int k = 0; k < size / 32; k++)
            peak = ec_small_matrix_larger(peak, t.peak[k]);
    }
    *bad = !(peak <= 1.7976931348623157e308);
    double unit = *bad ? 1.0 : ec_small_matrix_unit(peak), scale = *bad ? 0.0 : 1.0 / unit;
    for (int k = thread; k < n * PAIR_TEAM * ROWS; k += size) {
        int j = k / (PAIR_TEAM * ROWS), i = k % (PAIR_TEAM * ROWS);
        number_pair<R> v = {0, 0};
        if (i < m && !*bad) {
            typename stored<DTYPE>::real re, im;
            get_element<DTYPE>(w, at, i, j, wide, &re, &im);
            v.re = (R)((double)re * scale);
            v.im = (R)((double)im * scale);
        }
        t.x[j * t.stride + i] = v;
    }
    return unit;
}

template <typename R, int COLUMNS, int ROWS>
static __device__ __forceinline__ void team_singular(const ec_small_matrix_work &w, const place &at,
                                                     team_memory<R, COLUMNS, ROWS> &t)
{
    constexpr int size = COLUMNS / 2 * PAIR_TEAM;
    const int n = w.rows < w.cols ? w.rows : w.cols;
    const int thread = threadIdx.x, member = thread % PAIR_TEAM, pair = thread / PAIR_TEAM;
    const int players = n + (n & 1);
    double unit;
    bool bad;

    if (w.matrix.dtype == EC_C64)
        unit = team_load<R, COLUMNS, ROWS, EC_C64>(w, at, t, &bad);
    else if (w.matrix.dtype == EC_C128)
        unit = team_load<R, COLUMNS, ROWS, EC_C128>(w, at, t, &bad);
    else
        unit = team_load<R, COLUMNS, ROWS, EC_F64>(w, at, t, &bad);
    for (int j = thread; j < n; j += size)
        t.d[j] = (R)1;
    team_wait<COLUMNS>();
    bool more = true;
    for (int sweep = 0; sweep < EC_JACOBI_SWEEPS && more; sweep++) {
        bool moved = false;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int j = pair + half * (COLUMNS / 2);
            R norm = team_norm(t, j, member, j < n);
            if (j < n && member == 0)
                t.a[j] = t.d[j] * norm;
        }
        team_wait<COLUMNS>();
        for (int round = 0; round < players - 1; round++) {
            int p = 0, q = n;
            if (pair < players / 2)
                ec_small_matrix_pair(players, round, pair, &p, &q);
            moved |= team_rotate(t, p, q, member, q < n);
            team_wait<COLUMNS>();
        }
        for (int half = 0; half < 2; half++) {
            int j = pair + half * (COLUMNS / 2);
            R d = j < n ? t.d[j] : (R)1;
            __syncwarp();
            while (d < (R)(1.0 / 16777216.0)) {
                d *= (R)16777216.0;
                for (int k = 0; k < ROWS; k++) {
                    number_pair<R> *v = &t.x[j * t.stride + member + PAIR_TEAM * k];
                    v->re *= (R)(1.0 / 4096.0);
                    v->im *= (R)(1.0 / 4096.0);
                }
            }
            if (j < n && member == 0)
                t.d[j] = d;
        }
        more = team_any<COLUMNS>(moved);
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int j = pair + half * (COLUMNS / 2);
        R norm = team_norm(t, j, member, j < n);
        if (j < n && member == 0)
            t.a[j] = real_of<R>::root(t.d[j] * norm);
    }
    team_wait<COLUMNS>();
    bad = bad || more;
    for (int j = thread; j < n; j += size) {
        /* its rank is its place; equal ones by number */
        int rank = 0;
        for (int k = 0; k < n; k++)
            rank += t.a[k] > t.a[j] || (t.a[k] == t.a[j] && k < j);
        double value = bad ? (double)NAN : (double)t.a[j] * unit;
        ec_small_matrix_write(&w.result, &w, at.lane, at.y, n, rank, 1, &value);
    }
    if (thread == 0 && bad && w.status)
        w.status[at.lane] |= EC_CANDIDATE_EVALUATOR;
    team_wait<COLUMNS>();
}

template <typename R, int COLUMNS, int ROWS>
static __global__ void team_kernel(const __grid_constant__ ec_small_matrix_work w, size_t tasks)
{
    extern __shared__ double2 shared[];
    team_memory<R, COLUMNS, ROWS> &t =
        ((team_memory<R, COLUMNS, ROWS> *)(void *)shared)[threadIdx.y];
    place at;
    if (w.stop && *w.stop)
        return;
    for (size_t task = (size_t)blockIdx.x * blockDim.y + threadIdx.y;
         find_place(w, task, tasks, &at); task += (size_t)gridDim.x * blockDim.y)
        team_singular(w, at, t);
}

/* ---- capacity of a thread's matrix ------------------------------------------------------------ */

/* The lower triangle of X^H X, of X as it is in registers or row by row. */
template <typename R, int N>
static __device__ __forceinline__ void add_row(const R (&vr)[N], const R (&vi)[N], R (&gr)[N][N],
                                               R (&gi)[N][N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) {
            gr[i][j] = real_of<R>::fma(vr[i], vr[j], real_of<R>::fma(vi[i], vi[j], gr[i][j]));
            if (j < i)
                gi[i][j] = real_of<R>::fma(vr[i], vi[j], real_of<R>::fma(-vi[i], vr[j], gi[i][j]));
        }
}

template <typename R, int N, bool SQUARE, int DTYPE>
static __device__ __forceinline__ double load_gram(const ec_small_matrix_work &w, const place &at,
                                                   R (&gr)[N][N], R (&gi)[N][N], bool *bad)
{
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < N; j++)
            gr[i][j] = gi[i][j] = (R)0;
    if constexpr (SQUARE && N <= 4) {
        R re[N][N], im[N][N];
        double unit = load_square<R, N, DTYPE>(w, at, re, im, bad);
#pragma unroll
        for (int i = 0; i < N; i++) {
            R vr[N], vi[N];
#pragma unroll
            for (int j = 0; j < N; j++) {
                vr[j] = re[j][i];
                vi[j] = im[j][i];
            }
            add_row<R, N>(vr, vi, gr, gi);
        }
        return unit;
    } else {
        const bool wide = w.rows < w.cols;
        const int m = wide ? w.cols : w.rows;
        double peak = find_peak<DTYPE>(w, at, 0, 1);
        *bad = !(peak <= 1.7976931348623157e308);
        double unit = *bad ? 1.0 : ec_small_matrix_unit(peak), scale = *bad ? 0.0 : 1.0 / unit;
        for (int row = 0; row < m; row++) {
            R vr[N], vi[N];
#pragma unroll
            for (int j = 0; j < N; j++) {
                typename stored<DTYPE>::real r, k;
                get_element<DTYPE>(w, at, row, j, wide, &r, &k);
                vr[j] = *bad ? (R)0 : (R)((double)r * scale);
                vi[j] = *bad ? (R)0 : (R)((double)k * scale);
            }
            add_row<R, N>(vr, vi, gr, gi);
        }
        return unit;
    }
}

template <typename R, int N, bool SQUARE>
static __global__ void __launch_bounds__(REGISTER_BLOCK)
    capacity_kernel(const __grid_constant__ ec_small_matrix_work w, size_t tasks)
{
    place at;
    if (w.stop && *w.stop)
        return;
    if (!find_place(w, (size_t)blockIdx.x * REGISTER_BLOCK + threadIdx.x, tasks, &at))
        return;
    R gr[N][N], gi[N][N];
    bool bad;
    double unit, square = 0.0;
    if (w.matrix.dtype == EC_C64)
        unit = load_gram<R, N, SQUARE, EC_C64>(w, at, gr, gi, &bad);
    else if (w.matrix.dtype == EC_C128)
        unit = load_gram<R, N, SQUARE, EC_C128>(w, at, gr, gi, &bad);
    else
        unit = load_gram<R, N, SQUARE, EC_F64>(w, at, gr, gi, &bad);
    double snr, unused;
    ec_small_matrix_read(&w.snr, &w, at.lane, at.y, -1, 1, &snr, &unused);
#pragma unroll
    for (int i = 0; i < N; i++)
        square += (double)gr[i][i];
    double rho = w.frobenius ? snr * w.rows / square : snr * (unit * unit / w.cols);
    bad = bad || !(snr >= 0.0 && rho <= 1.7976931348623157e308);
    const bool large = rho > EC_SMALL_MATRIX_LARGE;
    R alpha = (R)(large ? 1.0 / rho : 1.0), beta = (R)(large ? 1.0 : rho);
    R least = alpha > real_of<R>::tiny ? alpha : real_of<R>::tiny;
    double bits = large ? N * ec_det_log2(rho) : 0.0, product = 1.0;
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) {
            gr[i][j] = real_of<R>::fma(beta, gr[i][j], i == j ? alpha : (R)0);
            gi[i][j] *= beta;
        }
#pragma unroll
    for (int k = 0; k < N; k++) {
        R pivot = gr[k][k] > least ? gr[k][k] : least;
        R inverse = real_of<R>::rcp(pivot);
        product *= (double)pivot;
        if (k % 4 == 3 || k + 1 == N) {
            bits += ec_det_log2(product);
            product = 1.0;
        }
#pragma unroll
        for (int i = k + 1; i < N; i++)
#pragma unroll
            for (int j = k + 1; j <= i; j++) {
                R re = gr[j][k] * inverse, mi = gi[j][k] * inverse;
                gr[i][j] = real_of<R>::fma(-gr[i][k], re, real_of<R>::fma(-gi[i][k], mi, gr[i][j]));
                if (j < i)
                    gi[i][j] =
                        real_of<R>::fma(-gi[i][k], re, real_of<R>::fma(gr[i][k], mi, gi[i][j]));
            }
    }
    if (bad && w.status)
        w.status[at.lane] |= EC_CANDIDATE_EVALUATOR;
    bits = bad ? (double)NAN : bits;
    ec_small_matrix_write(&w.result, &w, at.lane, at.y, 1, 0, 1, &bits);
}

/* ---- the CPU's source, a thread a matrix ------------------------------------------------------ */

template <typename R, int TASK>
static __global__ void __launch_bounds__(REGISTER_BLOCK)
    plain_kernel(const __grid_constant__ ec_small_matrix_work w, size_t tasks)
{
    const size_t stride = (size_t)gridDim.x * REGISTER_BLOCK;
    const size_t thread = (size_t)blockIdx.x * REGISTER_BLOCK + threadIdx.x;
    R *x = (R *)(void *)w.scratch + thread;
    if (w.stop && *w.stop)
        return;
    for (size_t task = thread; task < tasks; task += stride) {
        size_t lane = task % w.lanes, y = task / w.lanes;
        if constexpr (TASK == EC_SMALL_MATRIX_CAPACITY_ADJOINT)
            ec_f64_capacity_adjoint(&w, lane, y, (double *)x, stride);
        else if constexpr (TASK == EC_SMALL_MATRIX_SINGULAR_ADJOINT)
            ec_f64_singular_adjoint(&w, lane, y, (double *)x, stride);
        else if constexpr (TASK == EC_SMALL_MATRIX_CAPACITY && sizeof(R) == sizeof(double))
            ec_f64_capacity(&w, lane, y, (double *)x, stride);
        else if constexpr (TASK == EC_SMALL_MATRIX_CAPACITY)
            ec_f32_capacity(&w, lane, y, (float *)x, stride);
        else if constexpr (sizeof(R) == sizeof(double))
            ec_f64_singular(&w, lane, y, (double *)x, stride, true);
        else
            ec_f32_singular(&w, lane, y, (float *)x, stride, true);
    }
}

template <typename R, int TASK>
static int run_plain(cudaStream_t stream, const ec_small_matrix_work &w, size_t tasks)
{
    size_t blocks = (tasks + REGISTER_BLOCK - 1) / REGISTER_BLOCK;
    size_t most = (size_t)w.scratch_teams / REGISTER_BLOCK;
    plain_kernel<R, TASK>
        <<<(unsigned)(blocks < most ? blocks : most), REGISTER_BLOCK, 0, stream>>>(w, tasks);
    return (int)cudaPeekAtLastError();
}

/* ---- launches ---------------------------------------------------------------------------------- */

static unsigned register_blocks(size_t tasks)
{
    return (unsigned)((tasks + REGISTER_BLOCK - 1) / REGISTER_BLOCK);
}

template <typename R, int N>
static int run_singular(cudaStream_t stream, const ec_small_matrix_work &w, size_t tasks)
{
    if (w.rows == w.cols)
        singular_kernel<R, N, true>
            <<<register_blocks(tasks), REGISTER_BLOCK, 0, stream>>>(w, tasks);
    else
        singular_kernel<R, N, false>
            <<<register_blocks(tasks), REGISTER_BLOCK, 0, stream>>>(w, tasks);
    return (int)cudaPeekAtLastError();
}

template <typename R, int N>
static int run_capacity(cudaStream_t stream, const ec_small_matrix_work &w, size_t tasks)
{
    if (w.rows == w.cols)
        capacity_kernel<R, N, true>
            <<<register_blocks(tasks), REGISTER_BLOCK, 0, stream>>>(w, tasks);
    else
        capacity_kernel<R, N, false>
            <<<register_blocks(tasks), REGISTER_BLOCK, 0, stream>>>(w, tasks);
    return (int)cudaPeekAtLastError();
}

template <typename R, int COLUMNS, int ROWS>
static int run_team(cudaStream_t stream, const ec_small_matrix_work &w, size_t tasks)
{
    const unsigned teams = COLUMNS <= 16 ? 4 : 1;
    const size_t bytes = teams * sizeof(team_memory<R, COLUMNS, ROWS>);
    size_t blocks = (tasks + teams - 1) / teams;
    cudaError_t error = cudaFuncSetAttribute(
        team_kernel<R, COLUMNS, ROWS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return (int)error;
    team_kernel<R, COLUMNS, ROWS>
        <<<(unsigned)(blocks < 0x40000000u ? blocks : 0x40000000u),
           dim3(COLUMNS / 2 * PAIR_TEAM, teams), bytes, stream>>>(w, tasks);
    return (int)cudaPeekAtLastError();
}

template <typename R>
static int run_large(cudaStream_t stream, const ec_small_matrix_work &w, size_t tasks, int m, int n)
{
    if (n <= 16)
        return m <= 16   ? run_team<R, 16, 4>(stream, w, tasks)
               : m <= 32 ? run_team<R, 16, 8>(stream, w, tasks)
                         : run_team<R, 16, 16>(stream, w, tasks);
    if (n <= 32)
        return m <= 32 ? run_team<R, 32, 8>(stream, w, tasks)
                       : run_team<R, 32, 16>(stream, w, tasks);
    return run_team<R, 64, 16>(stream, w, tasks);
}

extern "C" int ec_cuda_small_matrix_jacobi(void *stream, const void *args, size_t lanes, size_t ny)
{
    const ec_small_matrix_work &w = *(const ec_small_matrix_work *)args;
    const int m = w.rows > w.cols ? w.rows : w.cols, n = w.rows > w.cols ? w.cols : w.rows;
    const size_t tasks = lanes * ny;
    cudaStream_t s = (cudaStream_t)stream;
    if (tasks == 0)
        return 0;
#define SIZE(columns)                                                                              \
    case columns:                                                                                  \
        return w.wide ? run_singular<double, columns>(s, w, tasks)                                 \
                      : run_singular<float, columns>(s, w, tasks);
    switch (n) {
        SIZE(1)
        SIZE(2)
        SIZE(3)
        SIZE(4)
        SIZE(5)
        SIZE(6)
#undef SIZE
    case 7:
        if (!w.wide)
            return run_singular<float, 7>(s, w, tasks);
        break;
    case 8:
        if (!w.wide)
            return run_singular<float, 8>(s, w, tasks);
        break;
    default:
        break;
    }
    return w.wide ? run_large<double>(s, w, tasks, m, n) : run_large<float>(s, w, tasks, m, n);
}

extern "C" int ec_cuda_small_matrix_bisection(void *stream, const void *args, size_t lanes,
                                              size_t ny)
{
    const ec_small_matrix_work &w = *(const ec_small_matrix_work *)args;
    if (lanes * ny == 0)
        return 0;
    return w.wide
               ? run_plain<double, EC_SMALL_MATRIX_BISECTION>((cudaStream_t)stream, w, lanes * ny)
               : run_plain<float, EC_SMALL_MATRIX_BISECTION>((cudaStream_t)stream, w, lanes * ny);
}

extern "C" int ec_cuda_small_matrix_capacity(void *stream, const void *args, size_t lanes,
                                             size_t ny)
{
    const ec_small_matrix_work &w = *(const ec_small_matrix_work *)args;
    const size_t tasks = lanes * ny;
    cudaStream_t s = (cudaStream_t)stream;
    if (tasks == 0)
        return 0;
    switch (w.rows > w.cols ? w.cols : w.rows) {
#define SIZE(columns)                                                                              \
    case columns:                                                                                  \
        return w.wide ? run_capacity<double, columns>(s, w, tasks)                                 \
                      : run_capacity<float, columns>(s, w, tasks);
        SIZE(1)
        SIZE(2)
        SIZE(3)
        SIZE(4)
        SIZE(5)
        SIZE(6)
        SIZE(7)
        SIZE(8)
#undef SIZE
    default:
        return w.wide ? run_plain<double, EC_SMALL_MATRIX_CAPACITY>(s, w, tasks)
                      : run_plain<float, EC_SMALL_MATRIX_CAPACITY>(s, w, tasks);
    }
}

extern "C" int ec_cuda_small_matrix_capacity_adjoint(void *stream, const void *args, size_t lanes,
                                                     size_t ny)
{
    if (lanes * ny == 0)
        return 0;
    return run_plain<double, EC_SMALL_MATRIX_CAPACITY_ADJOINT>(
        (cudaStream_t)stream, *(const ec_small_matrix_work *)args, lanes * ny);
}

extern "C" int ec_cuda_small_matrix_singular_adjoint(void *stream, const void *args, size_t lanes,
                                                     size_t ny)
{
    if (lanes * ny == 0)
        return 0;
    return run_plain<double, EC_SMALL_MATRIX_SINGULAR_ADJOINT>(
        (cudaStream_t)stream, *(const ec_small_matrix_work *)args, lanes * ny);
}
