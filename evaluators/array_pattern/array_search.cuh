/* array_search.cuh: the side-lobe level of a line and of a u-v grid and the mask excess of a line
 * in float32, one block a candidate and one launch: phasor tables, the matrix product (see
 * array_row_template.h), |F|^2 and the search for the peaks stay in shared memory and registers; a
 * candidate reads its positions and writes one number. Definitions and interpolation are those of
 * array_cut.h and array_surface.h.
 *
 * Operations a candidate (real weights, grid symmetric): P N multiply-adds for P points and N
 * elements, on a line and on a grid; (rows + columns) N sines and cosines, each with one float64
 * operation. Both kernels are bound by the float32 units.
 */
#ifndef EC_ARRAY_SEARCH_CUH
#define EC_ARRAY_SEARCH_CUH

#include "array_surface.h"

#include <cuda_runtime.h>

enum {
    LINE_THREADS = 128,
    LINE_ELEMENTS = 512,
    LINE_SHARED = 96 << 10,
    GRID_THREADS = 256,
    GRID_ELEMENTS = 1024,
    GRID_TILE = 64,  /* rows and columns of a tile: 4 x 4 products a thread */
    GRID_CHUNK = 24, /* elements whose phasors are in shared memory at a time */
    GRID_SHARED = 200 << 10
};

/* ---- phases ---- */

/* A phase t in turns is kept as t + TURN_MAGIC: the low word of the sum is the fraction of a turn,
 * as a signed number of 2^-32 turns, for |t| < 2^19 (args->compact says so). One float64 operation
 * brings x u + turn into that form, ready for the float32 sine. */
#define TURN_MAGIC 1572864.0 /* 1.5 * 2^20 */

static __device__ __forceinline__ void magic_sincos(double t, float *s, float *c)
{
    ec_sincos_turns_f32((float)__double2loint(t) * 2.3283064e-10f, s, c);
}

/* ---- a candidate's elements in shared memory ---- */

typedef struct search_elements {
    double *x, *y, *turn;
    float *amplitude;
    double u0, v0;
    int32_t bad;
} search_elements;

static __device__ double block_sum(double value, double *slot, int32_t threads)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0)
        slot[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0.0;
    for (int32_t k = 0; k < threads / 32; k++)
        sum += slot[k];
    __syncthreads();
    return sum;
}

/* Positions in wavelengths, excitation (with the columns' centre) in turns with the magic number
 * and amplitudes over their sum; status bits in el->bad. The elements' z is common and drops out.
 * */
static __device__ void search_gather(const ec_pattern_args *args, size_t c, size_t s,
                                     int32_t threads, double *slot, int32_t *bits,
                                     search_elements *el)
{
    const ec_pattern_view *in = args->in;
    double wavelength = ec_pattern_read(&in[EC_PATTERN_WAVELENGTH], c, s, 0);
    double w0 = ec_pattern_read(&in[EC_PATTERN_W0], c, s, 0);
    double sum = 0.0;
    int bad = 0;

    el->u0 = ec_pattern_read(&in[EC_PATTERN_U0], c, s, 0);
    el->v0 = ec_pattern_read(&in[EC_PATTERN_V0], c, s, 0);
    if (threadIdx.x == 0)
        *bits = 0;
    bad |= ec_pattern_check(&in[EC_PATTERN_WAVELENGTH], wavelength);
    bad |= wavelength > 0.0 ? 0 : EC_CANDIDATE_EVALUATOR;
    bad |= ec_pattern_check(&in[EC_PATTERN_U0], el->u0);
    bad |= ec_pattern_check(&in[EC_PATTERN_V0], el->v0);
    bad |= ec_pattern_check(&in[EC_PATTERN_W0], w0);
    double per_wavelength = 1.0 / wavelength;
    for (int32_t m = threadIdx.x; m < args->elements; m += threads) {
        double x = ec_pattern_read(&in[EC_PATTERN_X], c, s, m);
        double y = ec_pattern_read(&in[EC_PATTERN_Y], c, s, m);
        double z = ec_pattern_read(&in[EC_PATTERN_Z], c, s, m);
        double amplitude = ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m);
        double phase = ec_pattern_read(&in[EC_PATTERN_PHASE], c, s, m);
        bad |= ec_pattern_check(&in[EC_PATTERN_X], x) | ec_pattern_check(&in[EC_PATTERN_Y], y) |
               ec_pattern_check(&in[EC_PATTERN_Z], z) |
               ec_pattern_check(&in[EC_PATTERN_AMPLITUDE], amplitude) |
               ec_pattern_check(&in[EC_PATTERN_PHASE], phase);
        sum += fabs(amplitude);
        el->x[m] = x * per_wavelength;
        el->y[m] = y * per_wavelength;
        el->turn[m] = ec_turns_reduce(phase * (1.0 / EC_TURN)) - el->x[m] * el->u0 +
                      el->y[m] * (args->product.centre_v - el->v0) + TURN_MAGIC;
    }
    sum = block_sum(sum, slot, threads);
    bad |= sum > 1e-290 && sum < 1e290 ? 0 : EC_CANDIDATE_EVALUATOR;
    double share = 1.0 / sum;
    for (int32_t m = threadIdx.x; m < args->elements; m += threads)
        el->amplitude[m] = (float)(ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m) * share);
    if (bad)
        atomicOr(bits, bad);
    __syncthreads();
    el->bad = *bits;
}

static __device__ void search_write(const ec_pattern_args *args, size_t c, size_t s, double value,
                                    int bits)
{
    const ec_pattern_target *out = &args->metric[0].out;

    out->data[s * out->sample + c * out->lane] = value;
    if (args->fresh) {
        args->status[c] = (uint8_t)bits;
    } else if (bits) {
        size_t address = (size_t)(args->status + c);
        atomicOr((unsigned *)(address & ~(size_t)3), (unsigned)bits << 8 * (address & 3));
    }
}

/* SLL from the powers of the beam's peak and of the highest side lobe (0: none). */
static __device__ void search_finish(const ec_pattern_args *args, size_t c, size_t s, double peak,
                                     double lobe)
{
    double log_peak = ec_det_log(peak > EC_POWER_MIN ? peak : EC_POWER_MIN);

    if (!(log_peak > args->zero_log)) {
        search_write(args, c, s, nan(""), EC_CANDIDATE_EVALUATOR);
        return;
    }
    double level = lobe > 0.0
                       ? EC_DB * (ec_det_log(lobe > EC_POWER_MIN ? lobe : EC_POWER_MIN) - log_peak)
                       : -200.0;
    search_write(args, c, s, level < -200.0 ? -200.0 : level, 0);
}

static __device__ float block_max(float value, float *slot, int32_t threads)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, offset));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        slot[threadIdx.x / 32] = value;
    __syncthreads();
    for (int32_t k = 0; k < threads / 32; k++)
        value = fmaxf(value, slot[k]);
    return value;
}

/* The highest power and, of equals, the smallest index, as one number: powers are not negative. */
static __device__ unsigned long long peak_key(float power, int32_t index)
{
    return (unsigned long long)__float_as_uint(power) << 32 | (0xffffffffu - (unsigned)index);
}

static __device__ unsigned long long block_max_key(unsigned long long key, unsigned long long *slot,
                                                   int32_t threads)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        unsigned long long other = __shfl_down_sync(0xffffffffu, key, offset);
        key = other > key ? other : key;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        slot[threadIdx.x / 32] = key;
    __syncthreads();
    for (int32_t k = 0; k < threads / 32; k++)
        key = slot[k] > key ? slot[k] : key;
    return key;
}

/* ---- a line ---- */

/* Elements in a row of a table: groups of two for 16-byte loads, rows two banks apart. */
static __host__ __device__ int32_t line_stride(int32_t elements)
{
    return (elements + 3) / 4 * 4 + 2;
}

static size_t line_shared_bytes(const ec_pattern_args *args)
{
    size_t n = (size_t)line_stride(args->elements);

    return 2 * n * sizeof(double) + n * sizeof(float) + 8 +
           (size_t)(args->product.rows + args->product.columns) * n * sizeof(float2) +
           (size_t)args->grid.na * sizeof(float);
}

typedef struct line_shared {
    double *x, *turn; /* wavelengths; turns with the magic number */
    float *amplitude;
    float2 *weights, *columns;
    float *row;
} line_shared;

/* Elements into shared memory. Returns 0, or bits when the candidate cannot be scored (then all of
 * its threads do). */
static __device__ int line_gather(const ec_pattern_args *args, size_t c, size_t s,
                                  const line_shared *shared, double u0, int32_t *bits)
{
    const ec_pattern_view *in = args->in;
    int bad = 0;

    if (threadIdx.x == 0)
        *bits = 0;
    for (int32_t m = threadIdx.x; m < args->elements; m += LINE_THREADS) {
        double wavelength = ec_pattern_read(&in[EC_PATTERN_WAVELENGTH], c, s, 0);
        double v0 = ec_pattern_read(&in[EC_PATTERN_V0], c, s, 0);
        double w0 = ec_pattern_read(&in[EC_PATTERN_W0], c, s, 0);
        double x = ec_pattern_read(&in[EC_PATTERN_X], c, s, m);
        double y = ec_pattern_read(&in[EC_PATTERN_Y], c, s, m);
        double z = ec_pattern_read(&in[EC_PATTERN_Z], c, s, m);
        double amplitude = ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m);
        double phase = ec_pattern_read(&in[EC_PATTERN_PHASE], c, s, m);
        bad |= ec_pattern_check(&in[EC_PATTERN_WAVELENGTH], wavelength) |
               ec_pattern_check(&in[EC_PATTERN_U0], u0) | ec_pattern_check(&in[EC_PATTERN_V0], v0) |
               ec_pattern_check(&in[EC_PATTERN_W0], w0) | ec_pattern_check(&in[EC_PATTERN_X], x) |
               ec_pattern_check(&in[EC_PATTERN_Y], y) | ec_pattern_check(&in[EC_PATTERN_Z], z) |
               ec_pattern_check(&in[EC_PATTERN_AMPLITUDE], amplitude) |
               ec_pattern_check(&in[EC_PATTERN_PHASE], phase);
        bad |= wavelength > 0.0 ? 0 : EC_CANDIDATE_EVALUATOR;
        bad |= fabs(amplitude) < 1e30 ? 0 : EC_CANDIDATE_EVALUATOR;
        double per_wavelength = 1.0 / wavelength;
        x *= per_wavelength;
        y *= per_wavelength;
        shared->x[m] = x;
        shared->turn[m] = ec_turns_reduce(phase * (1.0 / EC_TURN)) - x * u0 +
                          y * (args->product.centre_v - v0) + TURN_MAGIC;
        shared->amplitude[m] = (float)amplitude;
    }
    if (!__syncthreads_or(bad))
        return 0;
    if (bad)
        atomicOr(bits, bad);
    __syncthreads();
    return *bits;
}

/* Sum of |amplitude|, by each warp for itself in the same order. */
static __device__ float line_amplitude_sum(const float *amplitude, int32_t n)
{
    float sum = 0.0f;

    for (int32_t m = threadIdx.x % 32; m < n; m += 32)
        sum += fabsf(amplitude[m]);
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    return sum;
}

/* A warp fills a row of a table at a time. */
static __device__ void line_tables(const ec_pattern_args *args, const line_shared *shared,
                                   int32_t stride, float share)
{
    const ec_pattern_product *product = &args->product;
    const ec_pattern_grid *grid = &args->grid;
    int32_t n = args->elements, used = stride - 2, warp = threadIdx.x / 32;

    for (int32_t k = warp; k < product->rows + product->columns; k += LINE_THREADS / 32) {
        bool is_row = k < product->rows;
        int32_t b = k - product->rows;
        double u = is_row ? grid->start +
                                grid->step * (product->first - 0.5 + (2 * k + 1) * product->columns)
                          : grid->step * (b + 0.5);
        float2 *to = is_row ? shared->weights + k * stride : shared->columns + b * stride;
        for (int32_t m = threadIdx.x % 32; m < used; m += 32) {
            float s = 0.0f, c = 0.0f;
            if (m < n) {
                float scale = is_row ? shared->amplitude[m] * share : 1.0f;
                magic_sincos(ec_fma(shared->x[m], u, is_row ? shared->turn[m] : TURN_MAGIC), &s,
                             &c);
                s *= scale;
                c *= scale;
            }
            to[m] = make_float2(c, s);
        }
    }
}

static __device__ __forceinline__ void line_place(const ec_pattern_args *args, int32_t r, int32_t b,
                                                  const float a[4], float *row)
{
    const ec_pattern_product *product = &args->product;
    const float *gain = args->grid.gain;
    int32_t up = product->first + (2 * r + 1) * product->columns + b;
    int32_t down = up - 2 * b - 1, last = args->grid.na - 1;
    float pr = a[0] - a[3], pi = a[2] + a[1], mr = a[0] + a[3], mi = a[2] - a[1];
    float plus = ec_fmaf(pr, pr, pi * pi), minus = ec_fmaf(mr, mr, mi * mi);

    if (r >= product->rows)
        return;
    if (up <= last) {
        row[up] = gain ? plus * gain[up] : plus;
        if (product->mirrored)
            row[last - up] = gain ? plus * gain[last - up] : plus;
    }
    if (down <= last) {
        row[down] = gain ? minus * gain[down] : minus;
        if (product->mirrored)
            row[last - down] = gain ? minus * gain[last - down] : minus;
    }
}

/* The matrix product: a thread takes two rows and two columns, half of the columns apart, so that
 * the lanes of a warp read neighbouring rows of the column table. */
static __device__ void line_multiply(const ec_pattern_args *args, const line_shared *shared,
                                     int32_t stride)
{
    const ec_pattern_product *product = &args->product;
    int32_t half = product->columns / 2, tiles = (product->rows + 1) / 2 * half;

    for (int32_t tile = threadIdx.x; tile < tiles; tile += LINE_THREADS) {
        int32_t r0 = tile / half * 2, r1 = r0 + 1 < product->rows ? r0 + 1 : r0;
        int32_t b0 = tile % half, b1 = b0 + half;
        const float4 *w0 = (const float4 *)(shared->weights + r0 * stride);
        const float4 *w1 = (const float4 *)(shared->weights + r1 * stride);
        const float4 *c0 = (const float4 *)(shared->columns + b0 * stride);
        const float4 *c1 = (const float4 *)(shared->columns + b1 * stride);
        float acc[2][2][4] = {};
#pragma unroll 2
        for (int32_t k = 0; k < (stride - 2) / 2; k++) {
            float4 w[2] = {w0[k], w1[k]}, c[2] = {c0[k], c1[k]};
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    float *a = acc[i][j];
                    a[0] = ec_fmaf(w[i].x, c[j].x, a[0]);
                    a[1] = ec_fmaf(w[i].x, c[j].y, a[1]);
                    a[2] = ec_fmaf(w[i].y, c[j].x, a[2]);
                    a[3] = ec_fmaf(w[i].y, c[j].y, a[3]);
                    a[0] = ec_fmaf(w[i].z, c[j].z, a[0]);
                    a[1] = ec_fmaf(w[i].z, c[j].w, a[1]);
                    a[2] = ec_fmaf(w[i].w, c[j].z, a[2]);
                    a[3] = ec_fmaf(w[i].w, c[j].w, a[3]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 2; j++)
                line_place(args, r0 + i, j ? b1 : b0, acc[i][j], shared->row);
    }
}

/* The parabola's vertex about sample i: its value; move in samples, within half a sample. */
static __device__ __forceinline__ float line_vertex(const float *row, int32_t i, float *move)
{
    float left = row[i] - row[i - 1], right = row[i + 1] - row[i], curve = right - left;
    float slope = 0.5f * (left + right);

    *move = curve != 0.0f ? fminf(fmaxf(-slope / curve, -0.5f), 0.5f) : 0.0f;
    return ec_fmaf(*move, ec_fmaf(0.5f * curve, *move, slope), row[i]);
}

/* |F|^2 at a position in samples by the cubic through the four samples around it. */
static __device__ float line_at(const float *row, int32_t n, double position)
{
    int32_t first = (int32_t)floor(position) - 1;

    first = first > n - 4 ? n - 4 : first < 0 ? 0 : first;
    float x = (float)(position - first), x1 = x - 1.0f, x2 = x - 2.0f, x3 = x - 3.0f;
    const float *p = row + first;
    return (x * x1 * (x2 * p[3] - 3.0f * x3 * p[2]) + x2 * x3 * (3.0f * x * p[1] - x1 * p[0])) *
           (1.0f / 6.0f);
}

/* Positions in samples. */
typedef struct line_beam {
    double lo, hi;      /* visible stretch */
    double left, right; /* edges of the beam; beyond lo or hi: it reaches the grid's end */
    double look;
    bool excluded;
} line_beam;

/* Nearest visible sample to the look direction. */
static __device__ int32_t line_nearest(const ec_pattern_grid *grid, double look)
{
    int32_t i = (int32_t)floor(look + 0.5);

    return i < grid->first ? grid->first : i > grid->last ? grid->last : i;
}

static __device__ int32_t line_climb(const ec_pattern_grid *grid, const float *row, int32_t i)
{
    for (;;) {
        float left = i > grid->first ? row[i - 1] : -1.0f;
        float right = i < grid->last ? row[i + 1] : -1.0f;
        if (left <= row[i] && right <= row[i])
            return i;
        i += right > left ? 1 : -1;
    }
}

/* Without an exclusion: the first minimum on either side of the peak; found[2] in shared memory. */
static __device__ void line_minima(const ec_pattern_grid *grid, const float *row, int32_t peak,
                                   int32_t *found, line_beam *beam)
{
    int32_t left = -1, right = grid->na;
    float move;

    for (int32_t i = grid->first + 1 + (int32_t)threadIdx.x; i < grid->last; i += LINE_THREADS) {
        if (i < peak && row[i - 1] > row[i])
            left = i > left ? i : left;
        if (i > peak && row[i + 1] > row[i])
            right = i < right ? i : right;
    }
    left = __reduce_max_sync(0xffffffffu, left);
    right = __reduce_min_sync(0xffffffffu, right);
    if (threadIdx.x % 32 == 0) {
        atomicMax(&found[0], left);
        atomicMin(&found[1], right);
    }
    __syncthreads();
    beam->left = beam->lo - 1.0;
    beam->right = beam->hi + 1.0;
    if (found[0] >= 0) {
        line_vertex(row, found[0], &move);
        beam->left = found[0] + (double)move;
    }
    if (found[1] < grid->na) {
        line_vertex(row, found[1], &move);
        beam->right = found[1] + (double)move;
    }
}

/* Highest sample inside the exclusion interval, by one warp; the nearest to look without any. */
static __device__ int32_t line_peak_inside(const ec_pattern_grid *grid, const float *row,
                                           const line_beam *beam)
{
    int32_t low = (int32_t)ceil(beam->left), high = (int32_t)floor(beam->right);
    float best = -1.0f;
    int32_t at = 0x7fffffff;

    low = low < grid->first ? grid->first : low;
    high = high > grid->last ? grid->last : high;
    for (int32_t i = low + (int32_t)threadIdx.x % 32; i <= high; i += 32) {
        if (row[i] > best) {
            best = row[i];
            at = i;
        }
    }
    unsigned top = __reduce_max_sync(0xffffffffu, __float_as_uint(fmaxf(best, 0.0f)));
    at =
        __reduce_min_sync(0xffffffffu, __float_as_uint(fmaxf(best, 0.0f)) == top ? at : 0x7fffffff);
    return at == 0x7fffffff ? line_nearest(grid, beam->look) : at;
}

/* Highest of the interpolated side lobes whose peaks lie in [lo, left] or [right, hi]. */
static __device__ float line_lobes(const ec_pattern_grid *grid, const float *row,
                                   const line_beam *beam)
{
    int32_t from = grid->first - 1 > 1 ? grid->first - 1 : 1;
    int32_t to = grid->last + 1 < grid->na - 2 ? grid->last + 1 : grid->na - 2;
    float lo = (float)beam->lo, hi = (float)beam->hi, best = 0.0f, move;
    float left = beam->left > beam->lo ? (float)beam->left : lo - 1.0f;
    float right = beam->right < beam->hi ? (float)beam->right : hi + 1.0f;

    for (int32_t i = from + (int32_t)threadIdx.x; i <= to; i += LINE_THREADS) {
        float p = row[i];
        if (!(p > 0.7f * best && p >= row[i - 1] && p >= row[i + 1]))
            continue;
        float top = line_vertex(row, i, &move), t = (float)i + move;
        if ((t >= lo && t <= left) || (t >= right && t <= hi))
            best = fmaxf(best, top);
    }
    return best;
}

/* Power of the beam's peak about its sample. */
static __device__ float line_peak(const ec_pattern_grid *grid, const float *row,
                                  const line_beam *beam, int32_t i)
{
    float move;

    if (i <= 0 || i >= grid->na - 1)
        return row[i];
    float top = line_vertex(row, i, &move);
    double t = i + (double)move;
    return t >= beam->lo && t <= beam->hi ? top : row[i];
}

/* By the first warp: the ends of the two stretches, the beam's peak, and the result. */
static __device__ void line_finish(const ec_pattern_args *args, size_t c, size_t s,
                                   const float *row, const line_beam *beam, int32_t peak_sample,
                                   float lobe)
{
    const ec_pattern_grid *grid = &args->grid;
    int32_t lane = threadIdx.x;
    bool has_left = beam->left > beam->lo, has_right = beam->right < beam->hi;
    double left = has_left ? beam->left : beam->lo, right = has_right ? beam->right : beam->hi;
    double at = lane == 0 ? beam->lo : lane == 1 ? left : lane == 2 ? right : beam->hi;
    float end = lane < 4 ? line_at(row, grid->na, at) : 0.0f;
    bool counts = lane < 4 && (lane < 2 ? has_left : has_right);
    float edge = fmaxf(__shfl_sync(0xffffffffu, end, 1), __shfl_sync(0xffffffffu, end, 2));
    unsigned ends = __reduce_max_sync(0xffffffffu, counts ? __float_as_uint(fmaxf(end, 0.0f)) : 0u);

    if (lane != 0)
        return;
    float peak = line_peak(grid, row, beam, peak_sample);
    if (beam->excluded) /* the beam may still rise at the edge of its interval */
        peak = fmaxf(peak, edge);
    search_finish(args, c, s, peak, fmaxf(lobe, __uint_as_float(ends)));
}

/* A mask line's stretch in samples and its limit, log2 of power, at sample 0 and per sample. */
typedef struct line_limit {
    double from, to;
    float start, slope, sign;
} line_limit;

#define LOG2_PER_DB 0.33219280948873623

static __device__ line_limit line_of_mask(const ec_pattern_grid *grid, const line_beam *beam,
                                          const ec_pattern_line *line)
{
    line_limit l;
    double from = (line->from - grid->start) * grid->per_step;
    double to = (line->to - grid->start) * grid->per_step;
    double slope = to > from ? (line->limit[1] - line->limit[0]) / (to - from) : 0.0;

    l.slope = (float)(slope * LOG2_PER_DB);
    l.start = (float)((line->limit[0] - slope * from) * LOG2_PER_DB);
    l.sign = (float)line->sign;
    l.from = from > beam->lo ? from : beam->lo;
    l.to = to < beam->hi ? to : beam->hi;
    return l;
}

static __device__ float line_score(const line_limit *l, float power, float position, float offset)
{
    float level = log2f(fmaxf(power, 1e-37f)) + offset;

    return l->sign * (level - ec_fmaf(l->slope, position, l->start));
}

/* Highest score of the thread's share of a mask; offset is added to log2 of the row. */
static __device__ float line_mask(const ec_pattern_grid *grid, const float *row,
                                  const line_beam *beam, const ec_pattern_metric *metric,
                                  float offset)
{
    float best = -3e38f, move;

    for (int32_t k = 0; k < metric->n; k++) {
        line_limit l = line_of_mask(grid, beam, &metric->lines[k]);
        if (!(l.from <= l.to))
            continue;
        int32_t first = (int32_t)ceil(l.from) - 1, last = (int32_t)floor(l.to) + 1;
        first = first < 1 ? 1 : first;
        last = last > grid->na - 2 ? grid->na - 2 : last;
        float before = exp2f(l.slope), behind = exp2f(-l.slope);
        for (int32_t i = first + (int32_t)threadIdx.x; i <= last; i += LINE_THREADS) {
            /* neighbours against the limit here */
            float p[3] = {row[i - 1] * before, row[i], row[i + 1] * behind};
            if (l.sign > 0.0f ? p[1] < p[0] || p[1] < p[2] : p[1] > p[0] || p[1] > p[2])
                continue;
            float top = line_vertex(p, 1, &move), t = (float)i + move;
            if (t >= (float)l.from && t <= (float)l.to)
                best = fmaxf(best, line_score(&l, top, (float)i, offset));
        }
        if (threadIdx.x % 32 < 2 && threadIdx.x / 32 == k % (LINE_THREADS / 32)) {
            double end = threadIdx.x % 32 ? l.to : l.from;
            best = fmaxf(best, line_score(&l, line_at(row, grid->na, end), (float)end, offset));
        }
    }
    return best;
}

/* The mask's excess from the pattern in shared memory. */
static __device__ void line_excess(const ec_pattern_args *args, size_t c, size_t s,
                                   const float *row, const line_beam *beam, int32_t *peak_sample,
                                   float sum, float *slot)
{
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_metric *metric = &args->metric[0];
    float offset = 2.0f * log2f(sum) + (float)(args->gain.peak_log / EC_LN2), peak = 1.0f;

    if (metric->relative) {
        if (beam->excluded && threadIdx.x < 32) {
            int32_t found = line_peak_inside(grid, row, beam);
            if (threadIdx.x == 0)
                *peak_sample = found;
        } else if (!beam->excluded && threadIdx.x == 0) {
            *peak_sample = line_climb(grid, row, line_nearest(grid, beam->look));
        }
        __syncthreads();
        peak = line_peak(grid, row, beam, *peak_sample);
        offset = -log2f(fmaxf(peak, 1e-37f));
    }
    float best = block_max(line_mask(grid, row, beam, metric, offset), slot, LINE_THREADS);
    if (threadIdx.x != 0)
        return;
    bool zero = !(ec_det_log(peak > 1e-37f ? (double)peak : 1e-37) > args->zero_log);
    if (zero || best < -1e38f)
        search_write(args, c, s, nan(""), EC_CANDIDATE_EVALUATOR);
    else
        search_write(args, c, s, best / LOG2_PER_DB, 0);
}

static __global__ void __launch_bounds__(LINE_THREADS, 6)
    line_kernel(const __grid_constant__ ec_pattern_args args)
{
    extern __shared__ double memory[];
    __shared__ float slot[LINE_THREADS / 32];
    __shared__ int32_t bits, peak_sample, minimum[2];
    const ec_pattern_grid *grid = &args.grid;
    const ec_pattern_metric *metric = &args.metric[0];
    size_t c = blockIdx.x % args.n, s = blockIdx.x / args.n;
    int32_t stride = line_stride(args.elements);
    line_shared shared;
    line_beam beam;

    shared.weights = (float2 *)memory;
    shared.columns = shared.weights + args.product.rows * stride;
    shared.x = (double *)(shared.columns + args.product.columns * stride);
    shared.turn = shared.x + stride;
    shared.amplitude = (float *)(shared.turn + stride);
    shared.row = shared.amplitude + stride;
    if (args.stop && *args.stop)
        return;
    double u0 = ec_pattern_read(&args.in[EC_PATTERN_U0], c, s, 0);
    double look = metric->look_a == metric->look_a ? metric->look_a : u0;
    int bad = line_gather(&args, c, s, &shared, u0, &bits);
    float sum = line_amplitude_sum(shared.amplitude, args.elements);
    bool outside = look < grid->lo - 1e-9 || look > grid->hi + 1e-9 || grid->first > grid->last;
    outside = outside && (metric->kind == EC_METRIC_SLL || metric->relative);
    if (bad || outside || !(sum > 1e-30f)) {
        if (threadIdx.x == 0)
            search_write(&args, c, s, nan(""), bad ? bad : EC_CANDIDATE_EVALUATOR);
        return;
    }
    line_tables(&args, &shared, stride, 1.0f / sum);
    beam.look = (look - grid->start) * grid->per_step;
    beam.lo = (grid->lo - grid->start) * grid->per_step;
    beam.hi = (grid->hi - grid->start) * grid->per_step;
    beam.excluded = metric->exclude_a == metric->exclude_a;
    __syncthreads();
    line_multiply(&args, &shared, stride);
    __syncthreads();
    if (beam.excluded) {
        beam.left = beam.look - metric->exclude_a * grid->per_step;
        beam.right = beam.look + metric->exclude_a * grid->per_step;
    }
    if (metric->kind == EC_METRIC_EXCESS) {
        line_excess(&args, c, s, shared.row, &beam, &peak_sample, sum, slot);
        return;
    }
    if (beam.excluded) {
        if (threadIdx.x < 32) {
            int32_t found = line_peak_inside(grid, shared.row, &beam);
            if (threadIdx.x == 0)
                peak_sample = found;
        }
    } else {
        if (threadIdx.x == 0) {
            peak_sample = line_climb(grid, shared.row, line_nearest(grid, beam.look));
            minimum[0] = -1;
            minimum[1] = grid->na;
        }
        __syncthreads();
        line_minima(grid, shared.row, peak_sample, minimum, &beam);
    }
    float lobe = line_lobes(grid, shared.row, &beam);
    unsigned top = __reduce_max_sync(0xffffffffu, __float_as_uint(lobe));
    if (threadIdx.x % 32 == 0)
        slot[threadIdx.x / 32] = __uint_as_float(top);
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    for (int32_t k = 0; k < LINE_THREADS / 32; k++)
        lobe = fmaxf(lobe, slot[k]);
    line_finish(&args, c, s, shared.row, &beam, peak_sample, lobe);
}

/* ---- a u-v grid ---- */

/* Powers of the computed rows [rows][nb]; with mirrored rows the others are read through them. */
typedef struct grid_view {
    const ec_pattern_grid *grid;
    const ec_pattern_product *product;
    const float *power;
} grid_view;

static __device__ float grid_power(const grid_view *view, int32_t ia, int32_t ib)
{
    const ec_pattern_grid *grid = view->grid;

    if (ia < 0 || ib < 0 || ia >= grid->na || ib >= grid->nb)
        return -1.0f;
    if (ia < view->product->first) {
        ia = grid->na - 1 - ia;
        ib = grid->nb - 1 - ib;
    }
    return view->power[(ia - view->product->first) * grid->nb + ib];
}

static __device__ void grid_neighbours(const grid_view *view, int32_t ia, int32_t ib, float p[8])
{
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int step = k < 4 ? k : k + 1;
        p[k] = grid_power(view, ia + step / 3 - 1, ib + step % 3 - 1);
    }
}

/* Interpolated peak at a sample, and its place. */
static __device__ double grid_vertex(const grid_view *view, int32_t ia, int32_t ib,
                                     const float neighbour[8], double *a, double *b)
{
    const ec_pattern_grid *grid = view->grid;
    double p[8], da, db, p0 = grid_power(view, ia, ib);
    int32_t la = ia > 0 ? ia - 1 : 0, ha = ia < grid->na - 1 ? ia + 1 : ia;
    int32_t lb = ib > 0 ? ib - 1 : 0, hb = ib < grid->nb - 1 ? ib + 1 : ib;

    for (int k = 0; k < 8; k++)
        p[k] = neighbour[k];
    *a = grid->a[ia];
    *b = grid->b[ib];
    double gain = ec_surface_quadratic(p, p0, *a - grid->a[la], grid->a[ha] - *a, *b - grid->b[lb],
                                       grid->b[hb] - *b, &da, &db);
    *a += da;
    *b += db;
    return p0 + gain;
}

typedef struct grid_shared {
    double *x, *y, *turn, *measure_a, *measure_b;
    float *amplitude, *power;
    float2 *weights, *columns; /* [GRID_CHUNK][GRID_TILE] */
    uint32_t *mask;            /* flood: a bit a point */
    uint16_t *queue;           /* in the tables' place */
} grid_shared;

static __host__ __device__ size_t grid_tables_bytes(const ec_pattern_args *args)
{
    size_t tables = 2 * sizeof(float2) * GRID_CHUNK * GRID_TILE;
    size_t queue = args->metric[0].exclude_a == args->metric[0].exclude_a
                       ? 0
                       : (size_t)args->grid.points * sizeof(uint16_t);

    return tables > queue ? tables : (queue + 15) / 16 * 16;
}

static __host__ __device__ size_t grid_lay_out(const ec_pattern_args *args, char *memory,
                                               grid_shared *shared)
{
    size_t n = ((size_t)args->elements + 3) / 4 * 4, at = 0;
    size_t na = ((size_t)args->grid.na + 1) / 2 * 2, nb = ((size_t)args->grid.nb + 1) / 2 * 2;

    shared->weights = (float2 *)memory;
    shared->columns = shared->weights + GRID_CHUNK * GRID_TILE;
    shared->queue = (uint16_t *)memory;
    at += grid_tables_bytes(args);
    shared->x = (double *)(memory + at);
    shared->y = shared->x + n;
    shared->turn = shared->y + n;
    shared->measure_a = shared->turn + n;
    shared->measure_b = shared->measure_a + na;
    at += (3 * n + na + nb) * sizeof(double);
    shared->amplitude = (float *)(memory + at);
    at += n * sizeof(float);
    shared->power = (float *)(memory + at);
    at += ((size_t)args->product.rows * (size_t)args->grid.nb + 3) / 4 * 4 * sizeof(float);
    shared->mask = (uint32_t *)(memory + at);
    return at + ((size_t)args->grid.points + 31) / 32 * sizeof(uint32_t);
}

/* Phasors of elements first .. first + GRID_CHUNK for a tile; a thread keeps its row and column. */
static __device__ void grid_tables(const ec_pattern_args *args, const grid_shared *shared,
                                   int32_t first, double u, double shift)
{
    int32_t lane = threadIdx.x % GRID_TILE;

    for (int32_t k = threadIdx.x / GRID_TILE; k < GRID_CHUNK; k += GRID_THREADS / GRID_TILE) {
        int32_t m = first + k;
        float s = 0.0f, c = 0.0f, amplitude = 0.0f, sc = 0.0f, cc = 0.0f;
        if (m < args->elements) {
            amplitude = shared->amplitude[m];
            magic_sincos(ec_fma(shared->x[m], u, shared->turn[m]), &s, &c);
            magic_sincos(ec_fma(shared->y[m], shift, TURN_MAGIC), &sc, &cc);
        }
        shared->weights[k * GRID_TILE + lane] = make_float2(amplitude * c, amplitude * s);
        shared->columns[k * GRID_TILE + lane] = make_float2(cc, sc);
    }
}

/* One product step: 4 x 4 pairs. */
static __device__ __forceinline__ void grid_step(const float2 *weights, const float2 *columns,
                                                 float acc[4][4][4])
{
    int32_t tr = threadIdx.x / 16 * 2, tc = threadIdx.x % 16 * 2;
    float4 w[2] = {*(const float4 *)(weights + tr), *(const float4 *)(weights + 32 + tr)};
    float4 c[2] = {*(const float4 *)(columns + tc), *(const float4 *)(columns + 32 + tc)};

#pragma unroll
    for (int i = 0; i < 4; i++) {
        float re = i & 1 ? w[i / 2].z : w[i / 2].x, im = i & 1 ? w[i / 2].w : w[i / 2].y;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float cosine = j & 1 ? c[j / 2].z : c[j / 2].x, sine = j & 1 ? c[j / 2].w : c[j / 2].y;
            acc[i][j][0] = ec_fmaf(re, cosine, acc[i][j][0]);
            acc[i][j][1] = ec_fmaf(re, sine, acc[i][j][1]);
            acc[i][j][2] = ec_fmaf(im, cosine, acc[i][j][2]);
            acc[i][j][3] = ec_fmaf(im, sine, acc[i][j][3]);
        }
    }
}

static __device__ void grid_place(const ec_pattern_args *args, int32_t r, int32_t b,
                                  const float acc[4], float *power)
{
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_product *product = &args->product;
    float pr = acc[0] - acc[3], pi = acc[2] + acc[1], mr = acc[0] + acc[3], mi = acc[2] - acc[1];
    float both[2] = {ec_fmaf(pr, pr, pi * pi), ec_fmaf(mr, mr, mi * mi)};

    if (r >= product->rows || b >= product->columns)
        return;
    for (int side = 0; side < 2; side++) {
        int32_t ib = side ? product->columns - 1 - b : grid->nb - product->columns + b;
        float gain = grid->gain ? grid->gain[(product->first + r) * grid->nb + ib] : 1.0f;
        power[r * grid->nb + ib] = gain < 0.0f ? -1.0f : both[side] * gain;
    }
}

static __device__ void grid_pattern(const ec_pattern_args *args, const grid_shared *shared)
{
    const ec_pattern_product *product = &args->product;
    int32_t lane = threadIdx.x % GRID_TILE;

    for (int32_t tile_r = 0; tile_r < product->rows; tile_r += GRID_TILE) {
        for (int32_t tile_b = 0; tile_b < product->columns; tile_b += GRID_TILE) {
            int32_t r = tile_r + lane, b = tile_b + lane;
            double u = product->row_u[r < product->rows ? r : 0];
            double shift = product->column_s[b < product->columns ? b : 0];
            float acc[4][4][4] = {};
            for (int32_t first = 0; first < args->elements; first += GRID_CHUNK) {
                __syncthreads();
                grid_tables(args, shared, first, u, shift);
                __syncthreads();
#pragma unroll 2
                for (int32_t k = 0; k < GRID_CHUNK; k++)
                    grid_step(shared->weights + k * GRID_TILE, shared->columns + k * GRID_TILE,
                              acc);
            }
            int32_t tr = threadIdx.x / 16 * 2, tc = threadIdx.x % 16 * 2;
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    grid_place(args, tile_r + tr + i % 2 + i / 2 * 32,
                               tile_b + tc + j % 2 + j / 2 * 32, acc[i][j], shared->power);
        }
    }
    __syncthreads();
}

/* The nearest of ascending values. */
static __device__ int32_t grid_nearest(const double *a, int32_t n, double x)
{
    int32_t low = 0, high = n - 1;

    while (high - low > 1) {
        int32_t middle = (low + high) / 2;
        if (a[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return fabs(a[high] - x) < fabs(a[low] - x) ? high : low;
}

/* Sample uphill from the one nearest to the look direction (one thread). */
static __device__ int32_t grid_climb(const grid_view *view, double look_a, double look_b)
{
    const ec_pattern_grid *grid = view->grid;
    int32_t ia = grid_nearest(grid->a, grid->na, look_a);
    int32_t ib = grid_nearest(grid->b, grid->nb, look_b);

    for (int32_t count = 0; count < grid->points; count++) {
        float p[8], best = grid_power(view, ia, ib);
        int to = -1;
        grid_neighbours(view, ia, ib, p);
        for (int k = 0; k < 8; k++)
            if (p[k] > best) {
                best = p[k];
                to = k;
            }
        if (to < 0)
            break;
        to += to >= 4;
        ia += to / 3 - 1;
        ib += to % 3 - 1;
    }
    return ia * grid->nb + ib;
}

/* Marks what a descending flood reaches from the peak. Each round takes the points that the last
 * one marked; their order does not matter, since the set is what is reachable. */
static __device__ void grid_flood(const grid_view *view, const grid_shared *shared, int32_t peak,
                                  int32_t *tail)
{
    const ec_pattern_grid *grid = view->grid;

    for (int32_t k = threadIdx.x; k < (grid->points + 31) / 32; k += GRID_THREADS)
        shared->mask[k] = k == peak / 32 ? 1u << peak % 32 : 0u;
    if (threadIdx.x == 0) {
        shared->queue[0] = (uint16_t)peak;
        *tail = 1;
    }
    __syncthreads();
    for (int32_t head = 0, end = 1; head < end;) {
        for (int32_t k = head * 8 + (int32_t)threadIdx.x; k < end * 8; k += GRID_THREADS) {
            int32_t i = shared->queue[k / 8], step = k % 8 + (k % 8 >= 4);
            int32_t ia = i / grid->nb, ib = i % grid->nb;
            int32_t ja = ia + step / 3 - 1, jb = ib + step % 3 - 1;
            float p = grid_power(view, ja, jb);
            if (p < 0.0f || p > grid_power(view, ia, ib))
                continue;
            int32_t j = ja * grid->nb + jb;
            uint32_t bit = 1u << j % 32;
            if (!(atomicOr(&shared->mask[j / 32], bit) & bit))
                shared->queue[atomicAdd(tail, 1)] = (uint16_t)j;
        }
        __syncthreads();
        head = end;
        end = *tail;
        __syncthreads();
    }
}

/* Is point (ia, ib) in the main beam? */
static __device__ bool grid_in_beam(const ec_pattern_grid *grid, const grid_shared *shared,
                                    bool excluded, int32_t ia, int32_t ib)
{
    if (excluded)
        return shared->measure_a[ia] + shared->measure_b[ib] <= 1.0 + EC_EDGE_SLACK;
    int32_t i = ia * grid->nb + ib;
    return shared->mask[i / 32] >> i % 32 & 1u;
}

static __global__ void __launch_bounds__(GRID_THREADS, 2)
    grid_kernel(const __grid_constant__ ec_pattern_args args)
{
    extern __shared__ double memory[];
    __shared__ double slot[GRID_THREADS / 32];
    __shared__ int32_t bits, tail, peak_sample;
    const ec_pattern_grid *grid = &args.grid;
    const ec_pattern_product *product = &args.product;
    const ec_pattern_metric *metric = &args.metric[0];
    size_t c = blockIdx.x % args.n, s = blockIdx.x / args.n;
    grid_shared shared;

    if (args.stop && *args.stop)
        return;
    grid_lay_out(&args, (char *)memory, &shared);
    search_elements el = {shared.x, shared.y, shared.turn, shared.amplitude, 0.0, 0.0, 0};
    search_gather(&args, c, s, GRID_THREADS, slot, &bits, &el);
    if (el.bad) {
        if (threadIdx.x == 0)
            search_write(&args, c, s, nan(""), el.bad);
        return;
    }
    double look_a = metric->look_a == metric->look_a ? metric->look_a : el.u0;
    double look_b = metric->look_b == metric->look_b ? metric->look_b : el.v0;
    bool excluded = metric->exclude_a == metric->exclude_a;
    double half_b = metric->exclude_b == metric->exclude_b ? metric->exclude_b : metric->exclude_a;
    for (int32_t k = threadIdx.x; excluded && k < grid->na; k += GRID_THREADS) {
        double x = (grid->a[k] - look_a) / metric->exclude_a;
        shared.measure_a[k] = x * x;
    }
    for (int32_t k = threadIdx.x; excluded && k < grid->nb; k += GRID_THREADS) {
        double y = (grid->b[k] - look_b) / half_b;
        shared.measure_b[k] = y * y;
    }
    grid_pattern(&args, &shared);
    grid_view view = {grid, product, shared.power};
    if (!excluded) {
        if (threadIdx.x == 0)
            peak_sample = grid_climb(&view, look_a, look_b);
        __syncthreads();
        grid_flood(&view, &shared, peak_sample, &tail);
    }
    /* the highest samples inside and outside the beam; a mirrored row stands for two points */
    unsigned long long key = 0;
    float bar = 0.0f;
    int32_t count = product->rows * grid->nb;
    for (int32_t k = threadIdx.x; k < count; k += GRID_THREADS) {
        float p = shared.power[k];
        if (p < 0.0f)
            continue;
        for (int twin = 0; twin <= product->mirrored; twin++) {
            int32_t ia = product->first + k / grid->nb, ib = k % grid->nb;
            ia = twin ? grid->na - 1 - ia : ia;
            ib = twin ? grid->nb - 1 - ib : ib;
            if (grid_in_beam(grid, &shared, excluded, ia, ib)) {
                unsigned long long other = peak_key(p, ia * grid->nb + ib);
                key = other > key ? other : key;
            } else {
                bar = fmaxf(bar, p);
            }
        }
    }
    key = block_max_key(key, (unsigned long long *)slot, GRID_THREADS);
    bar = block_max(bar, (float *)slot, GRID_THREADS);
    /* interpolated peaks: no more than 1.5 dB above their samples */
    double best = bar;
    for (int32_t k = threadIdx.x; k < count; k += GRID_THREADS) {
        float p = shared.power[k], neighbour[8];
        if (!(1.4f * p > bar))
            continue;
        int32_t ra = product->first + k / grid->nb, rb = k % grid->nb;
        bool peak = true;
        grid_neighbours(&view, ra, rb, neighbour);
        for (int j = 0; j < 8; j++)
            peak = peak && neighbour[j] <= p;
        for (int twin = 0; peak && twin <= product->mirrored; twin++) {
            int32_t ia = twin ? grid->na - 1 - ra : ra, ib = twin ? grid->nb - 1 - rb : rb;
            if (grid_in_beam(grid, &shared, excluded, ia, ib))
                continue;
            double a, b;
            grid_neighbours(&view, ia, ib, neighbour);
            double top = grid_vertex(&view, ia, ib, neighbour, &a, &b);
            double x = (a - look_a) / metric->exclude_a, y = (b - look_b) / half_b;
            if (top > best && (!excluded || x * x + y * y >= 1.0))
                best = top;
        }
    }
    float lobe = block_max((float)best, (float *)slot, GRID_THREADS);
    if (threadIdx.x != 0)
        return;
    int32_t sample = !excluded ? peak_sample : key ? (int32_t)(0xffffffffu - (unsigned)key) : -1;
    double peak = 0.0, a, b;
    if (sample >= 0) {
        float neighbour[8];
        grid_neighbours(&view, sample / grid->nb, sample % grid->nb, neighbour);
        peak = grid_vertex(&view, sample / grid->nb, sample % grid->nb, neighbour, &a, &b);
    } else { /* no sample lies inside the exclusion: the look direction itself */
        float re = 0.0f, im = 0.0f;
        for (int32_t m = 0; m < args.elements; m++) {
            float sine, cosine;
            double t = ec_fma(shared.x[m], look_a,
                              ec_fma(shared.y[m], look_b - product->centre_v, shared.turn[m]));
            magic_sincos(t, &sine, &cosine);
            re = ec_fmaf(shared.amplitude[m], cosine, re);
            im = ec_fmaf(shared.amplitude[m], sine, im);
        }
        peak = (double)re * re + (double)im * im;
        double square = 1.0 - look_a * look_a - look_b * look_b;
        ec_direction d = {look_a, look_b, sqrt(square > 0.0 ? square : 0.0)};
        peak *= ec_gain_power(&args.gain, d);
    }
    if (peak < 0.0)
        search_write(&args, c, s, nan(""), EC_CANDIDATE_EVALUATOR);
    else
        search_finish(&args, c, s, peak, lobe);
}

/* ---- launch ---- */

/* Launches metric k with its own kernel. -1: it has none; else 0 or a cudaError_t. */
static int ec_search_launch(cudaStream_t stream, const ec_pattern_args *args, int32_t k)
{
    const ec_pattern_product *product = &args->product;
    ec_pattern_args one = *args;
    grid_shared ignored;

    bool line = args->grid.topology == EC_PATTERN_CUT;
    if (!(args->metric[k].kind == EC_METRIC_SLL ||
          (args->metric[k].kind == EC_METRIC_EXCESS && line)) ||
        args->row != EC_ROW_PRODUCT || args->double_precision || args->exact || args->vjp ||
        !product->paired)
        return -1;
    one.metric[0] = args->metric[k];
    one.n_metrics = 1;
    unsigned blocks = (unsigned)(args->n * args->samples);
    if (line) {
        size_t bytes = line_shared_bytes(&one);
        if (args->elements > LINE_ELEMENTS || bytes > LINE_SHARED || args->grid.na < 8 ||
            !args->compact || args->grid.circular || product->columns % 2)
            return -1;
        cudaError_t error = cudaSuccess;
        if (bytes > 48 << 10)
            error = cudaFuncSetAttribute(line_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         LINE_SHARED);
        if (error != cudaSuccess)
            return (int)error;
        line_kernel<<<blocks, LINE_THREADS, bytes, stream>>>(one);
        return (int)cudaPeekAtLastError();
    }
    size_t bytes = grid_lay_out(&one, NULL, &ignored);
    if (args->elements > GRID_ELEMENTS || !args->compact || bytes > GRID_SHARED ||
        args->grid.points > 65536 || args->grid.circular)
        return -1;
    cudaError_t error =
        cudaFuncSetAttribute(grid_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, GRID_SHARED);
    if (error != cudaSuccess)
        return (int)error;
    grid_kernel<<<blocks, GRID_THREADS, bytes, stream>>>(one);
    return (int)cudaPeekAtLastError();
}

#endif
