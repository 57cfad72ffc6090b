/* nufft_kernels.cu: batched NUFFTs on CUDA, different points for each candidate. Launches of a batch
 * (nufft_cuda.c):
 *
 *   middle       type 3: the middle of a candidate's points and targets, checked against the spans
 *   place        one block a candidate: points as cells and offsets, sorted by bins of the grid
 *   spread       one block a tile of a fine grid: adds the windows of the points that reach it in
 *                shared memory, writes the tile once. Grids of up to 4,096 cells are one tile.
 *   pad          type 2: modes onto the fine grid, divided by the window's transform
 *   (FFT of the batch, by the backend)
 *   modes        type 1: the modes asked for, divided by the window's transform
 *   interpolate  type 2 and 3: one lane a column of a point's window
 *   sums         instead of all but the first two: direct sums, one thread an output
 *
 * A tile's sums are integers, so they do not depend on the order of the points: 32 bits for loose
 * tolerances, else 64 bits in two words with the carry. The unit is 2^-30 or 2^-62 of the largest
 * strength times the number of points that reach the tile, so nothing overflows.
 *
 * Bytes of a set with G cells, M modes (float32): 8 G to write the grid, 32 G for the FFT, 8 G + 8 M
 * to read it. Updates of shared memory: 2 width^2 a point, and those near a tile's side again.
 */
#include "nufft_cuda.h"
#include "nufft_ranges.cuh"

#include "../../core/fastmath.h"
#include "../../core/status.h"

enum {
    PLACE_THREADS = 256,
    SPREAD_THREADS = 256,
    COPY_THREADS = 256,
    POINT_THREADS = 128,
    SUM_THREADS = 128,
    CHUNK = 128 /* terms of a direct sum in shared memory */
};

/* ---- the two precisions ---- */

template <typename real> struct complex_of;
template <> struct complex_of<float> {
    typedef float2 type;
    typedef uint32_t bits; /* of |x| order as x does, NaN above all */
};
template <> struct complex_of<double> {
    typedef double2 type;
    typedef unsigned long long bits;
};

static __device__ __forceinline__ float fused(float a, float b, float c)
{
    return ec_fmaf(a, b, c);
}
static __device__ __forceinline__ double fused(double a, double b, double c)
{
    return ec_fma(a, b, c);
}
static __device__ __forceinline__ void turn_sincos(double t, float *s, float *c)
{
    ec_sincos_turns_f32((float)t, s, c);
}
static __device__ __forceinline__ void turn_sincos(double t, double *s, double *c)
{
    ec_sincos_turns_f64(t, s, c);
}
static __device__ __forceinline__ uint32_t magnitude_bits(float x)
{
    return __float_as_uint(x) & 0x7fffffffu;
}
static __device__ __forceinline__ unsigned long long magnitude_bits(double x)
{
    return (unsigned long long)__double_as_longlong(x) & 0x7fffffffffffffffull;
}
static __device__ __forceinline__ float from_bits(uint32_t bits)
{
    return __uint_as_float(bits);
}
static __device__ __forceinline__ double from_bits(unsigned long long bits)
{
    return __longlong_as_double((long long)bits);
}
static __device__ __forceinline__ int32_t to_int32(float x)
{
    return __float2int_rn(x);
}
static __device__ __forceinline__ int32_t to_int32(double x)
{
    return __double2int_rn(x);
}
static __device__ __forceinline__ long long to_int64(float x)
{
    return __float2ll_rn(x);
}
static __device__ __forceinline__ long long to_int64(double x)
{
    return __double2ll_rn(x);
}

/* ---- coordinates ---- */

/* The coordinate of grid axis k: in one dimension the grid has one row, and its inner axis is the
 * line's. */
static __device__ __forceinline__ int32_t dimension(const ec_nufft_args *plan, int k)
{
    return plan->dim == 2 ? k : 0;
}

static __device__ __forceinline__ const double *coordinates(const ec_nufft_cuda_args *a, int which,
                                                            size_t candidate, int32_t d)
{
    return which == 0 ? a->batch.point[d] + candidate * a->batch.point_stride
                      : a->batch.target[d] + candidate * a->batch.target_stride;
}

/* Points of a candidate; its targets are always as many. */
static __device__ __forceinline__ int32_t count_of(const ec_nufft_cuda_args *a, int which,
                                                   size_t candidate)
{
    int32_t n = which == 0 && a->batch.points ? a->batch.points[candidate] : 0;

    return n > 0 ? n : a->side[which].n;
}

/* Strengths or values of a set at a candidate's points, `n` a vector: vectors without a gap. */
static __device__ __forceinline__ size_t at_points(const ec_nufft_cuda_args *a, size_t set,
                                                   int32_t n)
{
    size_t vectors = (size_t)a->batch.vectors;

    return set / vectors * vectors * (size_t)a->side[0].n + set % vectors * (size_t)n;
}

/* exp(2 pi j (a b + c d)), the products in two words: centres may be thousands of turns. */
template <typename real>
static __device__ __forceinline__ void phasor(double a, double b, double c, double d, real *re,
                                              real *im)
{
    double first = a * b, second = c * d;
    double low = __fma_rn(a, b, -first) + __fma_rn(c, d, -second);
    double turns = ec_turns_reduce(first) + ec_turns_reduce(second);

    turn_sincos(ec_turns_reduce(turns + low), im, re);
}

/* Bits of a candidate: not finite, out of range. */
static __device__ __forceinline__ int32_t bad_of(const ec_nufft_cuda_args *a, size_t local)
{
    int32_t bad = a->side[0].bad[local * a->side[0].stride];

    if (a->plan.type == 3)
        bad |= a->side[1].bad[local * a->side[1].stride];
    return bad & EC_CANDIDATE_NOT_FINITE ? EC_CANDIDATE_NOT_FINITE : bad;
}

static __device__ __forceinline__ void write_status(const ec_nufft_cuda_args *a, size_t candidate,
                                                    int32_t bad)
{
    if (a->batch.status)
        a->batch.status[candidate] = (uint8_t)bad;
}

/* ---- middle ---- */

static __global__ void __launch_bounds__(PLACE_THREADS)
    middle_kernel(const __grid_constant__ ec_nufft_cuda_args args)
{
    __shared__ double low[PLACE_THREADS], high[PLACE_THREADS];
    __shared__ int32_t bits;
    int which = (int)blockIdx.y;
    const ec_nufft_side *side = &args.side[which];
    size_t local = blockIdx.x, rank = threadIdx.x;
    int32_t n = count_of(&args, which, args.candidate + local);

    if (local > 0 && side->stride == 0)
        return;
    if (rank == 0)
        bits = 0;
    for (int32_t d = 0; d < args.plan.dim; d++) {
        const double *x = coordinates(&args, which, args.candidate + local, d);
        double span = which == 0 ? args.plan.span[d] : args.plan.target_span[d];
        double lo = x[0], hi = x[0];
        int32_t wrong = 0;
        for (int32_t m = (int32_t)rank; m < n; m += PLACE_THREADS) {
            lo = x[m] < lo ? x[m] : lo;
            hi = x[m] > hi ? x[m] : hi;
            wrong |= x[m] - x[m] != 0.0;
        }
        low[rank] = lo;
        high[rank] = hi;
        __syncthreads();
        if (wrong)
            atomicOr(&bits, (int32_t)EC_CANDIDATE_NOT_FINITE);
        for (size_t half = PLACE_THREADS / 2; half > 0; half /= 2) {
            if (rank < half) {
                low[rank] = low[rank + half] < low[rank] ? low[rank + half] : low[rank];
                high[rank] = high[rank + half] > high[rank] ? high[rank + half] : high[rank];
            }
            __syncthreads();
        }
        if (rank == 0) {
            double width = high[0] - low[0];
            side->middle[2 * local + (size_t)d] = low[0] + 0.5 * width;
            if (!(0.5 * width <= span * (1.0 + 1e-9)))
                atomicOr(&bits, (int32_t)EC_CANDIDATE_OUT_OF_RANGE);
        }
        __syncthreads();
    }
    if (rank == 0)
        side->bad[local] = bits & EC_CANDIDATE_NOT_FINITE ? (int32_t)EC_CANDIDATE_NOT_FINITE : bits;
}

/* ---- place ---- */

/* First cell of a point's window and its place in that cell as 2 s - 1; false: it is not finite. */
static __device__ __forceinline__ bool cell_of(const ec_nufft_side *side, int k, double x,
                                               double scale, int32_t rows, int32_t *cell,
                                               double *offset)
{
    double width = k == 0 && rows == 1 ? 1.0 : side->width;

    if (!side->periodic) {
        double at = x * scale + (side->fine[k] / 2 - 0.5 * width), first = ceil(at);
        *cell = (int32_t)first;
        *offset = 2.0 * (first - at) - 1.0;
        return true;
    }
    double t = x * scale;
    t -= ec_det_rint(t);
    if (t - t != 0.0)
        return false;
    t = t < 0.0 ? t + 1.0 : t;
    double at = t * side->fine[k] - 0.5 * width, first = ceil(at);
    int32_t here = (int32_t)first;
    *offset = 2.0 * (first - at) - 1.0;
    here += here < 0 ? side->fine[k] : 0;
    *cell = here >= side->fine[k] ? here - side->fine[k] : here;
    return true;
}

/* Cells and offsets of point m; false: it is not finite. */
template <typename real>
static __device__ __forceinline__ bool
place_point(const ec_nufft_cuda_args *a, int which, const double *const x[2], const double *middle,
            int32_t m, int4 *record, typename complex_of<real>::type *offset)
{
    const ec_nufft_side *side = &a->side[which];
    int32_t cell[2] = {0, 0}, rows = a->plan.dim == 2 ? 2 : 1;
    double off[2] = {0.0, 0.0};
    bool finite = true;

    for (int k = 2 - a->plan.dim; k < 2; k++) {
        int32_t d = dimension(&a->plan, k);
        double value = x[d][m] - (side->centred ? middle[d] : 0.0);
        finite = cell_of(side, k, value, side->scale[d], rows, &cell[k], &off[k]) && finite;
    }
    *record = make_int4(cell[0], cell[1], m, 0);
    offset->x = (real)off[0];
    offset->y = (real)off[1];
    return finite;
}

template <typename real>
static __global__ void __launch_bounds__(PLACE_THREADS)
    place_kernel(const __grid_constant__ ec_nufft_cuda_args args, int which)
{
    typedef typename complex_of<real>::type pair;
    extern __shared__ int32_t count[];
    __shared__ int32_t slot[PLACE_THREADS], bits;
    const ec_nufft_side *side = &args.side[which];
    size_t local = blockIdx.x;
    int32_t bins = side->bins[0] * side->bins[1];
    int32_t n = count_of(&args, which, args.candidate + local);
    int4 *record = (int4 *)side->record + local * (size_t)side->n;
    pair *offset = (pair *)side->offset + local * (size_t)side->n;
    const double *x[2] = {coordinates(&args, which, args.candidate + local, 0), NULL};
    double middle[2] = {0.0, 0.0};
    int4 r;
    pair o;

    if (args.plan.dim == 2)
        x[1] = coordinates(&args, which, args.candidate + local, 1);
    if (side->centred) {
        if (side->bad[local])
            return;
        for (int32_t d = 0; d < args.plan.dim; d++)
            middle[d] = side->middle[2 * local + (size_t)d];
    }
    if (threadIdx.x == 0)
        bits = 0;
    for (int32_t k = (int32_t)threadIdx.x; k <= bins; k += PLACE_THREADS)
        count[k] = 0;
    __syncthreads();
    bool finite = true;
    for (int32_t m = (int32_t)threadIdx.x; m < n; m += PLACE_THREADS) {
        finite = place_point<real>(&args, which, x, middle, m, &r, &o) && finite;
        if (args.plan.direct)
            continue;
        if (bins == 0) {
            record[m] = r;
            offset[m] = o;
        } else {
            atomicAdd(&count[r.x / side->bin[0] * side->bins[1] + r.y / side->bin[1]], 1);
        }
    }
    if (!finite)
        atomicOr(&bits, (int32_t)EC_CANDIDATE_NOT_FINITE);
    __syncthreads();
    if (!side->centred && threadIdx.x == 0)
        side->bad[local] = bits;
    if (bins == 0 || bits)
        return;
    block_scan<PLACE_THREADS>(count, bins, slot);
    int32_t *start = side->start + local * ((size_t)bins + 1);
    for (int32_t k = (int32_t)threadIdx.x; k <= bins; k += PLACE_THREADS)
        start[k] = count[k];
    __syncthreads();
    for (int32_t m = (int32_t)threadIdx.x; m < n; m += PLACE_THREADS) {
        place_point<real>(&args, which, x, middle, m, &r, &o);
        int32_t at = atomicAdd(&count[r.x / side->bin[0] * side->bins[1] + r.y / side->bin[1]], 1);
        record[at] = r;
        offset[at] = o;
    }
}

/* ---- spread ---- */

template <int PAD, typename real>
static __device__ __forceinline__ void window_taps(const real *window, int32_t powers, real z,
                                                   real tap[PAD])
{
#pragma unroll
    for (int t = 0; t < PAD; t++)
        tap[t] = window[t];
    for (int32_t d = 1; d < powers; d++) {
#pragma unroll
        for (int t = 0; t < PAD; t++)
            tap[t] = fused(tap[t], z, window[d * PAD + t]);
    }
}

/* Sums of 32 bits, or of 64 in two words: the low one's carry goes up. */
template <bool WIDE, typename real>
static __device__ __forceinline__ void add(int32_t *plane, int32_t cell, real value)
{
    if (!WIDE) {
        atomicAdd(&plane[cell], to_int32(value));
        return;
    }
    long long whole = to_int64(value);
    uint32_t low = (uint32_t)whole;
    uint32_t before = atomicAdd((uint32_t *)&plane[cell], low);
    int32_t high = (int32_t)(whole >> 32) + (before + low < before ? 1 : 0);
    if (high)
        atomicAdd(&plane[EC_NUFFT_TILE_CELLS + cell], high);
}

template <bool WIDE, typename real>
static __device__ __forceinline__ real sum_of(const int32_t *plane, int32_t cell, double unit)
{
    if (!WIDE)
        return (real)((double)plane[cell] * unit);
    long long whole = (long long)plane[EC_NUFFT_TILE_CELLS + cell] * 4294967296ll +
                      (long long)(uint32_t)plane[cell];
    return (real)((double)whole * unit);
}

/* The largest magnitude bits of a block's threads. */
template <typename bits> static __device__ bits block_largest(bits value, bits *slot)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        bits other = __shfl_down_sync(0xffffffffu, value, offset);
        value = other > value ? other : value;
    }
    if (threadIdx.x % 32 == 0)
        slot[threadIdx.x / 32] = value;
    __syncthreads();
    value = slot[0];
    for (int k = 1; k < SPREAD_THREADS / 32; k++)
        value = slot[k] > value ? slot[k] : value;
    return value;
}

/* Where cell (a, b) of the points' grid goes in the grid that is transformed, and its weight: type 3
 * sees the cells as modes. */
template <typename real>
static __device__ __forceinline__ size_t cell_target(const ec_nufft_cuda_args *args, int32_t a,
                                                     int32_t b, real *weight)
{
    const ec_nufft_args *inner = &args->inner;

    *weight = (real)1;
    if (args->plan.type == 3) {
        const ec_nufft_axis *line = &inner->axis[inner->dim - 1];
        *weight = ((const real *)line->weight)[b];
        b += line->first;
        b += b < 0 ? line->grid : 0;
        if (inner->dim == 2) {
            *weight *= ((const real *)inner->axis[0].weight)[a];
            a += inner->axis[0].first;
            a += a < 0 ? inner->axis[0].grid : 0;
        }
    }
    return (size_t)a * (size_t)args->fine[1] + (size_t)b;
}

template <typename real, int PAD, bool WIDE>
static __global__ void __launch_bounds__(SPREAD_THREADS)
    spread_kernel(const __grid_constant__ ec_nufft_cuda_args args)
{
    typedef typename complex_of<real>::type pair;
    typedef typename complex_of<real>::bits word;
    extern __shared__ int32_t plane[]; /* [re, im][low, high] of the tile, then the window */
    __shared__ ec_ranges ranges;
    __shared__ word slot[SPREAD_THREADS / 32];
    const ec_nufft_side *side = &args.side[0];
    const ec_nufft_args *plan = &args.plan;
    const int words = WIDE ? 2 : 1;
    int32_t *re = plane, *im = plane + words * EC_NUFFT_TILE_CELLS;
    real *window = (real *)(plane + 2 * words * EC_NUFFT_TILE_CELLS);
    int32_t across = (side->fine[1] + side->tile[1] - 1) / side->tile[1];
    int32_t from[2] = {(int32_t)blockIdx.x / across * side->tile[0],
                       (int32_t)blockIdx.x % across * side->tile[1]};
    int32_t size[2], rows = plan->dim == 2 ? plan->width : 1;
    size_t set = args.first + blockIdx.y, vectors = (size_t)args.batch.vectors;
    size_t local = set / vectors - args.candidate, stored = local * side->stride;
    int32_t n = count_of(&args, 0, set / vectors);
    bool whole = side->bins[0] == 0;

    if (bad_of(&args, local))
        return;
    for (int k = 0; k < 2; k++)
        size[k] = side->fine[k] - from[k] < side->tile[k] ? side->fine[k] - from[k] : side->tile[k];
    if (threadIdx.x == 0) {
        const int32_t width[2] = {rows, plan->width};
        ranges.total = ranges.before[1] = n;
        ranges.first[0] = ranges.before[0] = ranges.shift_a[0] = ranges.shift_b[0] = 0;
        if (!whole)
            ranges_find(side->start + stored * ((size_t)side->bins[0] * side->bins[1] + 1),
                        side->fine, width, side->bin, side->bins, from, size, &ranges);
    }
    for (int32_t k = (int32_t)threadIdx.x; k < 2 * words * EC_NUFFT_TILE_CELLS; k += SPREAD_THREADS)
        plane[k] = 0;
    for (int32_t k = (int32_t)threadIdx.x; k < plan->coefficients * PAD; k += SPREAD_THREADS)
        window[k] = ((const real *)plan->window)[k];
    __syncthreads();
    const int4 *record = (const int4 *)side->record + stored * (size_t)side->n;
    const pair *offset = (const pair *)side->offset + stored * (size_t)side->n;
    const pair *in = (const pair *)args.batch.in + at_points(&args, set, n);
    word largest = 0;
    int32_t range = 0;
    for (int32_t k = (int32_t)threadIdx.x; k < ranges.total; k += SPREAD_THREADS) {
        pair c = in[record[ranges_at(&ranges, k, &range)].z];
        word x = magnitude_bits(c.x), y = magnitude_bits(c.y);
        largest = x > largest ? x : largest;
        largest = y > largest ? y : largest;
    }
    largest = block_largest(largest, slot);
    /* strengths come down to at most 1 / sqrt(2) a part, then up to the units of the sums */
    double most = 1.4143 * (double)from_bits(largest);
    bool finite = most - most == 0.0;
    real down = (real)(most > 1e-30 ? 1.0 / most : 1e30);
    real up = (real)((WIDE ? 0.99 * 4611686018427387904.0 : 0.99 * 1073741824.0) /
                     (ranges.total > 0 ? ranges.total : 1));
    range = 0;
    for (int32_t k = (int32_t)threadIdx.x; finite && k < ranges.total; k += SPREAD_THREADS) {
        int32_t at = ranges_at(&ranges, k, &range);
        int4 r = record[at];
        int32_t a = r.x + ranges.shift_a[range], b = r.y + ranges.shift_b[range];
        if (a <= -rows || a >= size[0] || b <= -plan->width || b >= size[1])
            continue;
        pair o = offset[at], c = in[r.z];
        if (plan->type == 3) { /* exp(2 pi j s_middle x'), see nufft_template.h */
            const double *middle = side->middle + 2 * stored;
            const double *towards = args.side[1].middle + 2 * local * args.side[1].stride;
            size_t candidate = args.candidate + local;
            double x = coordinates(&args, 0, candidate, 0)[r.z] - middle[0], y = 0.0, v = 0.0;
            real cosine, sine;
            if (plan->dim == 2) {
                y = coordinates(&args, 0, candidate, 1)[r.z] - middle[1];
                v = towards[1];
            }
            phasor(towards[0], x, v, y, &cosine, &sine);
            sine = plan->sign < 0 ? -sine : sine;
            real turned = fused(c.x, cosine, -c.y * sine);
            c.y = fused(c.x, sine, c.y * cosine);
            c.x = turned;
        }
        real tap_a[PAD], tap_b[PAD];
        window_taps<PAD>(window, plan->coefficients, o.y, tap_b);
        if (plan->dim == 2)
            window_taps<PAD>(window, plan->coefficients, o.x, tap_a);
        else
            tap_a[0] = (real)1;
        real cr = c.x * down * up, ci = c.y * down * up;
#pragma unroll
        for (int i = 0; i < PAD; i++) {
            if (i >= rows)
                break;
            int32_t row = a + i;
            row -= whole && side->periodic && row >= size[0] ? size[0] : 0;
            if (row < 0 || row >= size[0])
                continue;
            real fr = cr * tap_a[i], fi = ci * tap_a[i];
#pragma unroll
            for (int j = 0; j < PAD; j++) {
                int32_t column = b + j;
                column -= whole && side->periodic && column >= size[1] ? size[1] : 0;
                if (j >= plan->width || column < 0 || column >= size[1])
                    continue;
                int32_t cell = row * side->tile[1] + column;
                add<WIDE>(re, cell, fr * tap_b[j]);
                add<WIDE>(im, cell, fi * tap_b[j]);
            }
        }
    }
    __syncthreads();
    pair *grid = (pair *)args.grid + blockIdx.y * ((size_t)args.fine[0] * (size_t)args.fine[1]);
    double unit = finite ? 1.0 / ((double)down * (double)up) : (double)NAN;
    for (int32_t k = (int32_t)threadIdx.x; k < size[0] * side->tile[1]; k += SPREAD_THREADS) {
        int32_t a = k / side->tile[1], b = k % side->tile[1];
        real weight;
        if (b >= size[1])
            continue;
        size_t to = cell_target(&args, from[0] + a, from[1] + b, &weight);
        pair value;
        value.x = sum_of<WIDE, real>(re, k, unit) * weight;
        value.y = sum_of<WIDE, real>(im, k, unit) * weight;
        grid[to] = value;
    }
}

/* ---- modes to and from a fine grid ---- */

/* Mode of a cell counted from the first one on; >= modes: none. */
static __device__ __forceinline__ int32_t mode_of(const ec_nufft_axis *axis, int32_t cell)
{
    int32_t i = cell - axis->first; /* positive modes, from -first on */

    return i < axis->modes ? i : cell - axis->grid >= axis->first ? i - axis->grid : axis->modes;
}

template <typename real>
static __global__ void __launch_bounds__(COPY_THREADS)
    pad_kernel(const __grid_constant__ ec_nufft_cuda_args args)
{
    typedef typename complex_of<real>::type pair;
    const ec_nufft_args *plan = &args.plan;
    const ec_nufft_axis *line = &plan->axis[plan->dim - 1];
    size_t cells = (size_t)args.fine[0] * (size_t)args.fine[1];
    size_t cell = (size_t)blockIdx.x * COPY_THREADS + threadIdx.x, set = args.first + blockIdx.y;

    if (cell >= cells)
        return;
    size_t modes = (size_t)plan->axis[0].modes * (size_t)(plan->dim == 2 ? line->modes : 1);
    int32_t a = 0, b = mode_of(line, (int32_t)(cell % (size_t)args.fine[1]));
    real weight = b < line->modes ? ((const real *)line->weight)[b] : (real)0;
    if (plan->dim == 2) {
        a = mode_of(&plan->axis[0], (int32_t)(cell / (size_t)args.fine[1]));
        weight *= a < plan->axis[0].modes ? ((const real *)plan->axis[0].weight)[a] : (real)0;
    }
    pair value;
    value.x = value.y = (real)0;
    if (b < line->modes && (plan->dim == 1 || a < plan->axis[0].modes)) {
        value = ((const pair *)
                     args.batch.in)[set * modes + (size_t)a * (size_t)line->modes + (size_t)b];
        value.x *= weight;
        value.y *= weight;
    }
    ((pair *)args.grid)[blockIdx.y * cells + cell] = value;
}

template <typename real>
static __global__ void __launch_bounds__(COPY_THREADS)
    modes_kernel(const __grid_constant__ ec_nufft_cuda_args args)
{
    typedef typename complex_of<real>::type pair;
    const ec_nufft_args *plan = &args.plan;
    const ec_nufft_axis *line = &plan->axis[plan->dim - 1];
    size_t cells = (size_t)args.fine[0] * (size_t)args.fine[1];
    size_t modes = (size_t)plan->axis[0].modes * (size_t)(plan->dim == 2 ? line->modes : 1);
    size_t mode = (size_t)blockIdx.x * COPY_THREADS + threadIdx.x, set = args.first + blockIdx.y;
    size_t vectors = (size_t)args.batch.vectors, local = set / vectors - args.candidate;
    int32_t bad = bad_of(&args, local);

    if (mode == 0 && set % vectors == 0)
        write_status(&args, args.candidate + local, bad);
    if (mode >= modes)
        return;
    int32_t i = (int32_t)(mode / (size_t)line->modes), j = (int32_t)(mode % (size_t)line->modes);
    int32_t a = 0, b = j + line->first;
    real weight = ((const real *)line->weight)[j];
    b += b < 0 ? line->grid : 0;
    if (plan->dim == 2) {
        a = i + plan->axis[0].first;
        a += a < 0 ? plan->axis[0].grid : 0;
        weight *= ((const real *)plan->axis[0].weight)[i];
    }
    pair value = ((const pair *)
                      args.grid)[blockIdx.y * cells + (size_t)a * (size_t)args.fine[1] + (size_t)b];
    value.x = bad ? (real)NAN : value.x * weight;
    value.y = bad ? (real)NAN : value.y * weight;
    ((pair *)args.batch.out)[set * modes + mode] = value;
}

/* ---- interpolate ---- */

/* 1 / transform of the outer window at a target's turns, and the phase of the points' middle. */
template <typename real>
static __device__ __forceinline__ void target_factor(const ec_nufft_cuda_args *args, size_t local,
                                                     int32_t k, real *re, real *im)
{
    const ec_nufft_args *plan = &args->plan;
    const ec_nufft_side *side = &args->side[1];
    const double *middle = args->side[0].middle + 2 * local * args->side[0].stride;
    const double *own = side->middle + 2 * local * side->stride;
    double s[2] = {0.0, 0.0}, x[2] = {0.0, 0.0}, weight = 1.0;

    for (int32_t d = 0; d < plan->dim; d++) {
        s[d] = coordinates(args, 1, args->candidate + local, d)[k];
        x[d] = middle[d];
        double t = (s[d] - own[d]) * side->scale[d], z = ec_fma(plan->taper_scale * t, t, -1.0);
        double sum = plan->taper[0];
        for (int i = 1; i < EC_NUFFT_TAPER; i++)
            sum = ec_fma(sum, z, plan->taper[i]);
        weight *= sum;
    }
    phasor(s[0], x[0], s[1], x[1], re, im);
    *re *= (real)weight;
    *im *= plan->sign < 0 ? -(real)weight : (real)weight;
}

template <typename real, int PAD>
static __global__ void __launch_bounds__(POINT_THREADS)
    interpolate_kernel(const __grid_constant__ ec_nufft_cuda_args args)
{
    typedef typename complex_of<real>::type pair;
    int which = args.plan.type == 3;
    const ec_nufft_side *side = &args.side[which];
    const ec_nufft_args *plan = which ? &args.inner : &args.plan;
    int32_t lane = (int32_t)threadIdx.x % PAD;
    int32_t at = (int32_t)blockIdx.x * (POINT_THREADS / PAD) + (int32_t)threadIdx.x / PAD;
    size_t set = args.first + blockIdx.y, vectors = (size_t)args.batch.vectors;
    size_t local = set / vectors - args.candidate, stored = local * side->stride;
    int32_t bad = bad_of(&args, local), rows = plan->dim == 2 ? plan->width : 1;
    int32_t n = count_of(&args, which, set / vectors);
    pair *out = (pair *)args.batch.out + (which ? set * (size_t)n : at_points(&args, set, n));

    if (blockIdx.x == 0 && threadIdx.x == 0 && set % vectors == 0)
        write_status(&args, args.candidate + local, bad);
    bool there = at < n;
    int32_t safe = there ? at : n - 1; /* all lanes take part in the exchanges */
    if (bad) {
        pair none;
        none.x = none.y = (real)NAN;
        if (there && lane == 0)
            out[safe] = none;
        return;
    }
    const int4 r = ((const int4 *)side->record + stored * (size_t)side->n)[safe];
    const pair o = ((const pair *)side->offset + stored * (size_t)side->n)[safe];
    const real *window = (const real *)plan->window;
    real tap_b = window[lane], tap_a = tap_b;
    for (int32_t d = 1; d < plan->coefficients; d++) {
        real w = window[d * PAD + lane];
        tap_b = fused(tap_b, o.y, w);
        tap_a = fused(tap_a, o.x, w);
    }
    const pair *grid =
        (const pair *)args.grid + blockIdx.y * ((size_t)args.fine[0] * (size_t)args.fine[1]);
    int32_t column = r.y + lane, row = r.x;
    column -= column >= args.fine[1] ? args.fine[1] : 0;
    real re = 0, im = 0;
    for (int32_t i = 0; i < rows; i++) {
        real tap = rows == 1 ? (real)1 : __shfl_sync(0xffffffffu, tap_a, i, PAD);
        if (lane < plan->width) {
            pair value = grid[(size_t)row * (size_t)args.fine[1] + (size_t)column];
            re = fused(tap, value.x, re);
            im = fused(tap, value.y, im);
        }
        row = row + 1 == args.fine[0] ? 0 : row + 1;
    }
    re = lane < plan->width ? re * tap_b : (real)0;
    im = lane < plan->width ? im * tap_b : (real)0;
    for (int half = PAD / 2; half > 0; half /= 2) {
        re += __shfl_down_sync(0xffffffffu, re, half, PAD);
        im += __shfl_down_sync(0xffffffffu, im, half, PAD);
    }
    if (!there || lane != 0)
        return;
    pair value;
    value.x = re;
    value.y = im;
    if (which) {
        real fr, fi;
        target_factor(&args, local, r.z, &fr, &fi);
        value.x = fused(re, fr, -im * fi);
        value.y = fused(re, fi, im * fr);
    }
    out[r.z] = value;
}

/* ---- direct sums ---- */

/* Coordinates of mode i of a plan, counted from the first. */
static __device__ __forceinline__ void mode_at(const ec_nufft_args *plan, uint32_t i, double k[2])
{
    const ec_nufft_axis *line = &plan->axis[plan->dim - 1];
    uint32_t row = plan->dim == 2 ? i / (uint32_t)line->modes : 0;

    k[0] = (double)((int32_t)(i - row * (uint32_t)line->modes) + line->first);
    k[1] = 0.0;
    if (plan->dim == 2) {
        k[1] = k[0];
        k[0] = (double)((int32_t)row + plan->axis[0].first);
    }
}

/* Points or modes or targets number i: what a phase is made of. Points of types 1 and 2 are reduced
 * to a period, which keeps products with modes exact enough. */
static __device__ __forceinline__ void term_at(const ec_nufft_cuda_args *args, bool outputs,
                                               size_t candidate, size_t i, double x[2])
{
    const ec_nufft_args *plan = &args->plan;
    bool modes = (plan->type == 1 && outputs) || (plan->type == 2 && !outputs);

    x[1] = 0.0;
    if (modes) {
        mode_at(plan, (uint32_t)i, x);
        return;
    }
    for (int32_t d = 0; d < plan->dim; d++) {
        x[d] = coordinates(args, plan->type == 3 && outputs, candidate, d)[i];
        x[d] -= plan->type == 3 ? 0.0 : ec_det_rint(x[d]);
    }
}

template <typename real>
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_kernel(const __grid_constant__ ec_nufft_cuda_args args, size_t n_in, size_t n_out)
{
    typedef typename complex_of<real>::type pair;
    __shared__ double xs[CHUNK], ys[CHUNK];
    __shared__ pair strengths[CHUNK];
    size_t set = args.first + blockIdx.y, vectors = (size_t)args.batch.vectors;
    size_t candidate = set / vectors, local = candidate - args.candidate;
    size_t o = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x;
    int32_t n = count_of(&args, 0, candidate);
    const pair *in =
        (const pair *)args.batch.in + (args.plan.type == 2 ? set * n_in : at_points(&args, set, n));
    pair *out =
        (pair *)args.batch.out + (args.plan.type == 2 ? at_points(&args, set, n) : set * n_out);
    int32_t bad = bad_of(&args, local);
    double own[2] = {0.0, 0.0}, x[2];
    real re = 0, im = 0;

    if (o == 0 && set % vectors == 0)
        write_status(&args, candidate, bad);
    n_in = args.plan.type == 2 ? n_in : (size_t)n;
    n_out = args.plan.type == 2 ? (size_t)n : n_out;
    if (o < n_out)
        term_at(&args, true, candidate, o, own);
    for (size_t first = 0; first < n_in && !bad; first += CHUNK) {
        size_t i = first + threadIdx.x;
        __syncthreads();
        if (threadIdx.x < CHUNK && i < n_in) {
            term_at(&args, false, candidate, i, x);
            xs[threadIdx.x] = x[0];
            ys[threadIdx.x] = x[1];
            strengths[threadIdx.x] = in[i];
        }
        __syncthreads();
        size_t count = n_in - first < CHUNK ? n_in - first : CHUNK;
        for (size_t k = 0; k < count; k++) {
            pair c = strengths[k];
            real cosine, sine;
            if (args.plan.type == 3)
                phasor(own[0], xs[k], own[1], ys[k], &cosine, &sine);
            else
                turn_sincos(ec_turns_reduce(ec_fma(own[0], xs[k], own[1] * ys[k])), &sine, &cosine);
            sine = args.plan.sign < 0 ? -sine : sine;
            re = fused(c.x, cosine, fused(-c.y, sine, re));
            im = fused(c.x, sine, fused(c.y, cosine, im));
        }
    }
    if (o >= n_out)
        return;
    pair value;
    value.x = bad ? (real)NAN : re;
    value.y = bad ? (real)NAN : im;
    out[o] = value;
}

/* ---- launches ---- */

static int allow_shared(const void *kernel, size_t bytes)
{
    if (bytes <= 40 << 10)
        return 0;
    return (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)bytes);
}

template <typename real>
static int launch_place(cudaStream_t stream, const ec_nufft_cuda_args *args)
{
    int sides = args->plan.type == 3 ? 2 : 1;

    if (sides == 2)
        middle_kernel<<<dim3((unsigned)args->candidates, 2), PLACE_THREADS, 0, stream>>>(*args);
    if (sides == 2 && args->plan.direct)
        return (int)cudaPeekAtLastError();
    for (int which = 0; which < sides; which++) {
        const ec_nufft_side *side = &args->side[which];
        size_t bytes = ((size_t)side->bins[0] * side->bins[1] + 1) * sizeof(int32_t);
        int error = allow_shared((const void *)place_kernel<real>, bytes);
        if (error != 0)
            return error;
        unsigned sets = side->stride ? (unsigned)args->candidates : 1;
        place_kernel<real><<<sets, PLACE_THREADS, bytes, stream>>>(*args, which);
    }
    return (int)cudaPeekAtLastError();
}

template <typename real, int PAD, bool WIDE>
static int launch_spread_of(cudaStream_t stream, const ec_nufft_cuda_args *args)
{
    const ec_nufft_side *side = &args->side[0];
    size_t bytes = 2 * (WIDE ? 2 : 1) * EC_NUFFT_TILE_CELLS * sizeof(int32_t) +
                   (size_t)args->plan.coefficients * PAD * sizeof(real);
    unsigned tiles = 1;

    for (int k = 0; k < 2; k++)
        tiles *= (unsigned)((side->fine[k] + side->tile[k] - 1) / side->tile[k]);
    int error = allow_shared((const void *)spread_kernel<real, PAD, WIDE>, bytes);
    if (error != 0)
        return error;
    spread_kernel<real, PAD, WIDE>
        <<<dim3(tiles, (unsigned)args->count), SPREAD_THREADS, bytes, stream>>>(*args);
    return (int)cudaPeekAtLastError();
}

template <typename real, bool WIDE>
static int launch_spread_wide(cudaStream_t stream, const ec_nufft_cuda_args *args)
{
    switch (args->plan.padded) {
    case 4:
        return launch_spread_of<real, 4, WIDE>(stream, args);
    case 8:
        return launch_spread_of<real, 8, WIDE>(stream, args);
    default:
        return launch_spread_of<real, 16, WIDE>(stream, args);
    }
}

static int launch_spread(cudaStream_t stream, const ec_nufft_cuda_args *args)
{
    size_t cells = (size_t)args->fine[0] * (size_t)args->fine[1];
    bool wide = args->plan.double_precision;

    if (args->plan.type == 2) {
        dim3 blocks((unsigned)((cells + COPY_THREADS - 1) / COPY_THREADS), (unsigned)args->count);
        if (wide)
            pad_kernel<double><<<blocks, COPY_THREADS, 0, stream>>>(*args);
        else
            pad_kernel<float><<<blocks, COPY_THREADS, 0, stream>>>(*args);
        return (int)cudaPeekAtLastError();
    }
    if (args->plan.type == 3) { /* cells that are no modes */
        cudaError_t error = cudaMemsetAsync(
            args->grid, 0, args->count * cells * (wide ? sizeof(double2) : sizeof(float2)), stream);
        if (error != cudaSuccess)
            return (int)error;
    }
    if (wide)
        return launch_spread_wide<double, true>(stream, args);
    return args->wide ? launch_spread_wide<float, true>(stream, args)
                      : launch_spread_wide<float, false>(stream, args);
}

template <typename real>
static int launch_finish(cudaStream_t stream, const ec_nufft_cuda_args *args)
{
    const ec_nufft_args *plan = &args->plan;
    bool scattered = plan->type == 3;

    if (plan->type == 1) {
        size_t modes =
            (size_t)plan->axis[0].modes * (size_t)(plan->dim == 2 ? plan->axis[1].modes : 1);
        dim3 blocks((unsigned)((modes + COPY_THREADS - 1) / COPY_THREADS), (unsigned)args->count);
        modes_kernel<real><<<blocks, COPY_THREADS, 0, stream>>>(*args);
        return (int)cudaPeekAtLastError();
    }
    int32_t pad = scattered ? args->inner.padded : plan->padded, n = args->side[scattered].n;
    int32_t points = POINT_THREADS / pad;
    dim3 blocks((unsigned)((n + points - 1) / points), (unsigned)args->count);
    if (pad == 4)
        interpolate_kernel<real, 4><<<blocks, POINT_THREADS, 0, stream>>>(*args);
    else if (pad == 8)
        interpolate_kernel<real, 8><<<blocks, POINT_THREADS, 0, stream>>>(*args);
    else
        interpolate_kernel<real, 16><<<blocks, POINT_THREADS, 0, stream>>>(*args);
    return (int)cudaPeekAtLastError();
}

template <typename real> static int launch_sum(cudaStream_t stream, const ec_nufft_cuda_args *args)
{
    const ec_nufft_args *plan = &args->plan;
    size_t modes = (size_t)plan->axis[0].modes * (size_t)(plan->dim == 2 ? plan->axis[1].modes : 1);
    size_t n_in = plan->type == 2 ? modes : (size_t)plan->points;
    size_t n_out = plan->type == 1   ? modes
                   : plan->type == 2 ? (size_t)plan->points
                                     : (size_t)plan->targets;
    dim3 blocks((unsigned)((n_out + SUM_THREADS - 1) / SUM_THREADS), (unsigned)args->count);

    sum_kernel<real><<<blocks, SUM_THREADS, 0, stream>>>(*args, n_in, n_out);
    return (int)cudaPeekAtLastError();
}

extern "C" int ec_cuda_nufft(void *stream, const void *arguments, size_t lanes, size_t ny)
{
    const ec_nufft_cuda_args *args = (const ec_nufft_cuda_args *)arguments;
    cudaStream_t s = (cudaStream_t)stream;
    bool wide = args->plan.double_precision;

    (void)lanes;
    (void)ny;
    switch (args->stage) {
    case EC_NUFFT_PLACE:
        return wide ? launch_place<double>(s, args) : launch_place<float>(s, args);
    case EC_NUFFT_SPREAD:
        return launch_spread(s, args);
    case EC_NUFFT_FINISH:
        return wide ? launch_finish<double>(s, args) : launch_finish<float>(s, args);
    default:
        return wide ? launch_sum<double>(s, args) : launch_sum<float>(s, args);
    }
}
