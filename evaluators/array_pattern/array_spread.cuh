/* array_spread.cuh: the pattern over a u-v grid by non-uniform FFTs on CUDA, float32, different
 * positions for each candidate. Launches of a batch of candidates:
 *
 *   sort    one block a candidate: elements as grid coordinates and strengths, sorted by bins
 *   spread  one block a tile of the fine grid: adds the windows of the elements that reach it in
 *           shared memory, writes the tile once
 *   (FFTs of the batch, by the backend)
 *   power   |F|^2 a direction: the window's transform divided out, the terms in z added up; and
 *           the highest samples inside and outside the main beam
 *   lobes   interpolated side lobes near the highest; other metrics read the rows in the general
 *           kernel
 *   finish  the side-lobe level
 *
 * A tile's sums are integers, so they do not depend on the order of the elements: the unit is
 * 2^-30 of the sum of |a| in the tile, which a float32 result cannot tell apart.
 *
 * Bytes a candidate with G fine and P directions: 8 G (spread) + 32 G (FFT) + 16 P (power, lobes).
 * Updates of shared memory: 2 width^2 an element, and those of elements near a tile's side again.
 */
#ifndef EC_ARRAY_SPREAD_CUH
#define EC_ARRAY_SPREAD_CUH

#include "array_search.cuh"
#include "nufft_ranges.cuh"

enum {
    SORT_THREADS = 512,
    SPREAD_THREADS = 256,
    SPREAD_TILE = 64, /* fine cells along a side of a tile */
    POWER_THREADS = 256,
    POWER_ROWS = 8,
    FINISH_THREADS = 128
};

/* ---- sort ---- */

/* First cell that the window of a point reaches, 0 <= cell < fine, and its place: the window's tap t
 * lies `offset + t - width / 2` from the point. */
static __device__ __forceinline__ int32_t spread_cell(double turns, int32_t fine, int32_t width,
                                                      float *offset)
{
    double left = (turns - floor(turns)) * fine - 0.5 * width, cell = ceil(left);
    int32_t first = (int32_t)cell;

    *offset = (float)(cell - left);
    first += first < 0 ? fine : 0;
    return first >= fine ? first - fine : first;
}

static __global__ void __launch_bounds__(SORT_THREADS)
    sort_kernel(const __grid_constant__ ec_pattern_args args)
{
    extern __shared__ int32_t count[];
    __shared__ double sums[SORT_THREADS / 32];
    __shared__ int32_t slot[SORT_THREADS], bits;
    const ec_pattern_nufft *nufft = &args.nufft;
    const ec_pattern_view *in = args.in;
    size_t task = nufft->first + blockIdx.x, c = task % args.n, s = task / args.n;
    int32_t bins = nufft->bins[0] * nufft->bins[1];
    int bad = 0;

    if (args.stop && *args.stop)
        return;
    double wavelength = ec_pattern_read(&in[EC_PATTERN_WAVELENGTH], c, s, 0);
    double u0 = ec_pattern_read(&in[EC_PATTERN_U0], c, s, 0);
    double v0 = ec_pattern_read(&in[EC_PATTERN_V0], c, s, 0);
    double w0 = ec_pattern_read(&in[EC_PATTERN_W0], c, s, 0);
    double sum = 0.0, per_wavelength = 1.0 / wavelength;
    if (threadIdx.x == 0)
        bits = 0;
    for (int32_t k = threadIdx.x; k <= bins; k += SORT_THREADS)
        count[k] = 0;
    __syncthreads();
    bad |= ec_pattern_check(&in[EC_PATTERN_WAVELENGTH], wavelength);
    bad |= wavelength > 0.0 ? 0 : EC_CANDIDATE_EVALUATOR;
    bad |= ec_pattern_check(&in[EC_PATTERN_U0], u0) | ec_pattern_check(&in[EC_PATTERN_V0], v0) |
           ec_pattern_check(&in[EC_PATTERN_W0], w0);
    for (int32_t m = threadIdx.x; m < args.elements; m += SORT_THREADS) {
        double x = ec_pattern_read(&in[EC_PATTERN_X], c, s, m);
        double y = ec_pattern_read(&in[EC_PATTERN_Y], c, s, m);
        double z = ec_pattern_read(&in[EC_PATTERN_Z], c, s, m);
        double amplitude = ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m);
        double phase = ec_pattern_read(&in[EC_PATTERN_PHASE], c, s, m);
        int here = ec_pattern_check(&in[EC_PATTERN_X], x) | ec_pattern_check(&in[EC_PATTERN_Y], y) |
                   ec_pattern_check(&in[EC_PATTERN_Z], z) |
                   ec_pattern_check(&in[EC_PATTERN_AMPLITUDE], amplitude) |
                   ec_pattern_check(&in[EC_PATTERN_PHASE], phase);
        bad |= here;
        sum += fabs(amplitude);
        if (here)
            continue;
        float ignored;
        int32_t a =
            spread_cell(x * per_wavelength * nufft->step_u, nufft->fine[0], nufft->width, &ignored);
        int32_t b =
            spread_cell(y * per_wavelength * nufft->step_v, nufft->fine[1], nufft->width, &ignored);
        atomicAdd(&count[a / EC_SPREAD_BIN * nufft->bins[1] + b / EC_SPREAD_BIN], 1);
    }
    sum = block_sum(sum, sums, SORT_THREADS);
    bad |= sum > 1e-290 && sum < 1e290 ? 0 : EC_CANDIDATE_EVALUATOR;
    if (bad)
        atomicOr(&bits, bad);
    block_scan<SORT_THREADS>(count, bins, slot);
    if (threadIdx.x == 0) {
        ec_pattern_top none = {0, 0, 0};
        nufft->bad[blockIdx.x] = bits;
        nufft->top[blockIdx.x] = none;
    }
    if (bits)
        return;
    int32_t *start = nufft->start + (size_t)blockIdx.x * (bins + 1);
    for (int32_t k = threadIdx.x; k <= bins; k += SORT_THREADS)
        start[k] = count[k];
    __syncthreads();
    float4 *record = (float4 *)nufft->record + (size_t)blockIdx.x * args.elements * 2;
    double share = 1.0 / sum;
    for (int32_t m = threadIdx.x; m < args.elements; m += SORT_THREADS) {
        double x = ec_pattern_read(&in[EC_PATTERN_X], c, s, m) * per_wavelength;
        double y = ec_pattern_read(&in[EC_PATTERN_Y], c, s, m) * per_wavelength;
        double z = args.planar ? 0.0 : ec_pattern_read(&in[EC_PATTERN_Z], c, s, m) * per_wavelength;
        double phase = ec_pattern_read(&in[EC_PATTERN_PHASE], c, s, m);
        float amplitude = (float)(ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m) * share);
        float oa, ob, sine, cosine;
        int32_t a = spread_cell(x * nufft->step_u, nufft->fine[0], nufft->width, &oa);
        int32_t b = spread_cell(y * nufft->step_v, nufft->fine[1], nufft->width, &ob);
        int32_t at = atomicAdd(&count[a / EC_SPREAD_BIN * nufft->bins[1] + b / EC_SPREAD_BIN], 1);
        double turn = ec_turns_reduce(phase * (1.0 / EC_TURN)) + x * (nufft->centre_u - u0) +
                      y * (nufft->centre_v - v0) + z * (nufft->w_c - w0);
        ec_sincos_turns_f32((float)ec_turns_reduce(turn), &sine, &cosine);
        /* a flat array has no depth but rounding errors, which the powers would blow up */
        double zeta = nufft->terms > 1 ? (z - nufft->z_c) / nufft->z_half : 0.0;
        zeta = zeta > 1.0 ? 1.0 : zeta < -1.0 ? -1.0 : zeta;
        record[2 * at] = make_float4(oa, ob, amplitude * cosine, amplitude * sine);
        record[2 * at + 1] = make_float4((float)zeta, __int_as_float(a << 16 | b), 0.0f, 0.0f);
    }
}

/* ---- spread ---- */

template <int WIDTH>
static __device__ __forceinline__ void spread_window(const float *window, int32_t degree,
                                                     float offset, float tap[WIDTH])
{
    float z = 2.0f * offset - 1.0f;

#pragma unroll
    for (int t = 0; t < WIDTH; t++)
        tap[t] = window[t];
    for (int32_t d = 1; d <= degree; d++) {
#pragma unroll
        for (int t = 0; t < WIDTH; t++)
            tap[t] = ec_fmaf(tap[t], z, window[d * WIDTH + t]);
    }
}

/* x^n, or Chebyshev's polynomial T_n(x). */
static __device__ __forceinline__ float spread_basis(int32_t n, float x, bool taylor)
{
    float before = taylor ? 0.0f : 1.0f, here = x;

    if (n == 0)
        return 1.0f;
    for (int32_t k = 1; k < n; k++) {
        float next = ec_fmaf(taylor ? x : 2.0f * x, here, taylor ? 0.0f : -before);
        before = here;
        here = next;
    }
    return here;
}

#define SPREAD_UNIT   1073741824.0f /* 2^30 */
#define SPREAD_WEIGHT 268435456.0f  /* 2^28: an element can be in four ranges of a small grid */

template <int WIDTH>
static __global__ void __launch_bounds__(SPREAD_THREADS)
    spread_kernel(const __grid_constant__ ec_pattern_args args)
{
    __shared__ int32_t re[SPREAD_TILE * SPREAD_TILE], im[SPREAD_TILE * SPREAD_TILE];
    __shared__ float window[WIDTH * (EC_SPREAD_DEGREE_MAX + 1)];
    __shared__ ec_ranges ranges;
    __shared__ unsigned weight;
    const ec_pattern_nufft *nufft = &args.nufft;
    int32_t bins = nufft->bins[0] * nufft->bins[1];
    int32_t tiles_b = (nufft->fine[1] + SPREAD_TILE - 1) / SPREAD_TILE;
    int32_t from[2] = {(int32_t)blockIdx.x / tiles_b * SPREAD_TILE,
                       (int32_t)blockIdx.x % tiles_b * SPREAD_TILE};
    int32_t size[2], term = (int32_t)blockIdx.z;
    size_t task = blockIdx.y;

    if ((args.stop && *args.stop) || nufft->bad[task])
        return;
    for (int k = 0; k < 2; k++)
        size[k] = nufft->fine[k] - from[k] < SPREAD_TILE ? nufft->fine[k] - from[k] : SPREAD_TILE;
    if (threadIdx.x == 0) {
        const int32_t bin[2] = {EC_SPREAD_BIN, EC_SPREAD_BIN}, width[2] = {WIDTH, WIDTH};
        weight = 0;
        ranges_find(nufft->start + task * (bins + 1), nufft->fine, width, bin, nufft->bins, from,
                    size, &ranges);
    }
    for (int32_t k = threadIdx.x; k < SPREAD_TILE * SPREAD_TILE; k += SPREAD_THREADS)
        re[k] = im[k] = 0;
    for (int32_t k = threadIdx.x; k < (nufft->degree + 1) * WIDTH; k += SPREAD_THREADS)
        window[k] = nufft->window[k];
    __syncthreads();
    const float4 *record = (const float4 *)nufft->record + task * args.elements * 2;
    unsigned own = 0;
    int32_t range = 0;
    for (int32_t k = threadIdx.x; k < ranges.total; k += SPREAD_THREADS) {
        float4 r = record[2 * ranges_at(&ranges, k, &range)];
        own += (unsigned)(SPREAD_WEIGHT * sqrtf(ec_fmaf(r.z, r.z, r.w * r.w))) + 2u;
    }
    if (own)
        atomicAdd(&weight, own);
    __syncthreads();
    float scale = weight ? 0.99f * SPREAD_UNIT * SPREAD_WEIGHT / (float)weight : 0.0f;
    range = 0;
    for (int32_t k = threadIdx.x; k < ranges.total; k += SPREAD_THREADS) {
        int32_t at = ranges_at(&ranges, k, &range);
        float4 r = record[2 * at], more = record[2 * at + 1];
        int32_t cell = __float_as_int(more.y);
        int32_t a = (cell >> 16) + ranges.shift_a[range],
                b = (cell & 0xffff) + ranges.shift_b[range];
        if (a <= -WIDTH || a >= size[0] || b <= -WIDTH || b >= size[1])
            continue;
        float tap_a[WIDTH], tap_b[WIDTH], f = scale * spread_basis(term, more.x, nufft->taylor);
        spread_window<WIDTH>(window, nufft->degree, r.x, tap_a);
        spread_window<WIDTH>(window, nufft->degree, r.y, tap_b);
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            if (a + i < 0 || a + i >= size[0])
                continue;
            float fr = f * r.z * tap_a[i], fi = f * r.w * tap_a[i];
            int32_t row = (a + i) * SPREAD_TILE + b;
#pragma unroll
            for (int j = 0; j < WIDTH; j++) {
                if (b + j < 0 || b + j >= size[1])
                    continue;
                atomicAdd(&re[row + j], __float2int_rn(fr * tap_b[j]));
                atomicAdd(&im[row + j], __float2int_rn(fi * tap_b[j]));
            }
        }
    }
    __syncthreads();
    size_t fine = (size_t)nufft->fine[0] * nufft->fine[1];
    float2 *grid = (float2 *)nufft->fields + (task * nufft->terms + term) * fine;
    float unit = weight ? 1.0f / scale : 0.0f;
    for (int32_t k = threadIdx.x; k < size[0] * SPREAD_TILE; k += SPREAD_THREADS) {
        int32_t a = k / SPREAD_TILE, b = k % SPREAD_TILE;
        if (b < size[1])
            grid[(size_t)(from[0] + a) * nufft->fine[1] + from[1] + b] =
                make_float2((float)re[k] * unit, (float)im[k] * unit);
    }
}

/* ---- power ---- */

/* What a scan of a row needs to tell the main beam from the side lobes. */
typedef struct lobes_beam {
    double look_a, look_b, per_a, per_b;
} lobes_beam;

static __device__ lobes_beam lobes_find(const ec_pattern_args *args, size_t task)
{
    const ec_pattern_metric *metric = &args->metric[0];
    size_t c = task % args->n, s = task / args->n;
    double half_b = metric->exclude_b == metric->exclude_b ? metric->exclude_b : metric->exclude_a;
    lobes_beam beam = {metric->look_a, metric->look_b, 1.0 / metric->exclude_a, 1.0 / half_b};

    if (beam.look_a != beam.look_a)
        beam.look_a = ec_pattern_read(&args->in[EC_PATTERN_U0], c, s, 0);
    if (beam.look_b != beam.look_b)
        beam.look_b = ec_pattern_read(&args->in[EC_PATTERN_V0], c, s, 0);
    return beam;
}

/* The block's highest samples inside and outside the main beam into those of the task. */
static __device__ void lobes_top(ec_pattern_top *top, unsigned long long key, float bar,
                                 unsigned long long *slot)
{
    key = block_max_key(key, slot, POWER_THREADS);
    bar = block_max(bar, (float *)slot, POWER_THREADS);
    if (threadIdx.x != 0)
        return;
    if (key)
        atomicMax(&top->key, key);
    if (bar > 0.0f)
        atomicMax(&top->bar, __float_as_uint(bar));
}

/* The field at point i = (ia, ib). */
static __device__ __forceinline__ float2 power_field(const ec_pattern_args *args,
                                                     const float2 *fields, int32_t ia, int32_t ib)
{
    const ec_pattern_nufft *nufft = &args->nufft;
    const ec_pattern_grid *grid = &args->grid;
    size_t fine = (size_t)nufft->fine[0] * nufft->fine[1], i = (size_t)ia * grid->nb + ib;
    int32_t ka = ia - grid->na / 2, kb = ib - grid->nb / 2;

    ka += ka < 0 ? nufft->fine[0] : 0;
    kb += kb < 0 ? nufft->fine[1] : 0;
    const float2 *from = fields + (size_t)ka * nufft->fine[1] + kb;
    float2 f = from[0];
    if (nufft->terms == 1)
        return f;
    const float *factors = (const float *)nufft->factor;
    f.x *= factors[i];
    f.y *= factors[i];
    for (int32_t p = 1; p < nufft->terms; p++) { /* j^p */
        float2 g = from[p * fine];
        float factor = factors[(size_t)p * grid->points + i];
        factor = p & 2 ? -factor : factor;
        f.x = ec_fmaf(factor, p & 1 ? -g.y : g.x, f.x);
        f.y = ec_fmaf(factor, p & 1 ? g.x : g.y, f.y);
    }
    return f;
}

/* Blocks of POWER_THREADS columns and POWER_ROWS rows. COMPUTE: the row from the fields, else it is
 * there; TOP: the highest samples for metric 0. */
template <bool COMPUTE, bool TOP>
static __global__ void __launch_bounds__(POWER_THREADS)
    power_kernel(const __grid_constant__ ec_pattern_args args)
{
    __shared__ unsigned long long slot[POWER_THREADS / 32];
    const ec_pattern_nufft *nufft = &args.nufft;
    const ec_pattern_grid *grid = &args.grid;
    int32_t ib = (int32_t)(blockIdx.x * POWER_THREADS + threadIdx.x);
    int32_t first = (int32_t)blockIdx.y * POWER_ROWS;
    size_t task = blockIdx.z;

    if ((args.stop && *args.stop) || nufft->bad[task])
        return;
    const float2 *fields = (const float2 *)nufft->fields +
                           task * nufft->terms * ((size_t)nufft->fine[0] * nufft->fine[1]);
    float *row = nufft->rows + task * grid->points;
    lobes_beam beam = {};
    unsigned long long key = 0;
    float bar = 0.0f, level_b = 0.0f;
    double y = 0.0;
    if (TOP)
        beam = lobes_find(&args, nufft->first + task);
    if (ib < grid->nb) {
        level_b = COMPUTE ? nufft->level[1][ib] : 0.0f;
        y = TOP ? (grid->b[ib] - beam.look_b) * beam.per_b : 0.0;
    }
    for (int32_t ia = first; ia < first + POWER_ROWS && ia < grid->na && ib < grid->nb; ia++) {
        int32_t i = ia * grid->nb + ib;
        float p;
        if (COMPUTE) {
            float2 f = power_field(&args, fields, ia, ib);
            float level = nufft->level[0][ia] * level_b;
            float gain = grid->gain ? (float)grid->gain[i] : 1.0f;
            p = gain < 0.0f ? -1.0f : ec_fmaf(f.x, f.x, f.y * f.y) * (level * level) * gain;
            row[i] = p;
        } else {
            p = row[i];
        }
        if (!TOP || p < 0.0f)
            continue;
        double x = (grid->a[ia] - beam.look_a) * beam.per_a;
        if (x * x + y * y <= 1.0 + EC_EDGE_SLACK) {
            unsigned long long other = peak_key(p, i);
            key = other > key ? other : key;
        } else {
            bar = fmaxf(bar, p);
        }
    }
    if (TOP)
        lobes_top(&nufft->top[task], key, bar, slot);
}

/* ---- lobes ---- */

/* |F|^2 towards the look direction, by all threads. */
static __device__ double lobes_look(const ec_pattern_args *args, size_t c, size_t s, double a,
                                    double b, double *slot)
{
    const ec_pattern_view *in = args->in;
    double square = 1.0 - a * a - b * b, w = sqrt(square > 0.0 ? square : 0.0);
    double wavelength = ec_pattern_read(&in[EC_PATTERN_WAVELENGTH], c, s, 0);
    double u = a - ec_pattern_read(&in[EC_PATTERN_U0], c, s, 0);
    double v = b - ec_pattern_read(&in[EC_PATTERN_V0], c, s, 0);
    double re = 0.0, im = 0.0, sum = 0.0;

    w -= ec_pattern_read(&in[EC_PATTERN_W0], c, s, 0);
    for (int32_t m = threadIdx.x; m < args->elements; m += FINISH_THREADS) {
        double x = ec_pattern_read(&in[EC_PATTERN_X], c, s, m);
        double y = ec_pattern_read(&in[EC_PATTERN_Y], c, s, m);
        double z = args->planar ? 0.0 : ec_pattern_read(&in[EC_PATTERN_Z], c, s, m);
        double amplitude = ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m);
        double phase = ec_pattern_read(&in[EC_PATTERN_PHASE], c, s, m), sine, cosine;
        double turn = (x * u + y * v + z * w) / wavelength + phase * (1.0 / EC_TURN);
        ec_sincos_turns_f64(ec_turns_reduce(turn), &sine, &cosine);
        re += amplitude * cosine;
        im += amplitude * sine;
        sum += fabs(amplitude);
    }
    re = block_sum(re, slot, FINISH_THREADS);
    im = block_sum(im, slot, FINISH_THREADS);
    sum = block_sum(sum, slot, FINISH_THREADS);
    ec_direction d = {a, b, sqrt(square > 0.0 ? square : 0.0)};
    return (re * re + im * im) / (sum * sum) * ec_gain_power(&args->gain, d);
}

/* Interpolated peaks outside the main beam, no more than 1.5 dB above their samples. */
static __global__ void __launch_bounds__(POWER_THREADS)
    lobes_kernel(const __grid_constant__ ec_pattern_args args)
{
    __shared__ float slot[POWER_THREADS / 32];
    const ec_pattern_nufft *nufft = &args.nufft;
    const ec_pattern_grid *grid = &args.grid;
    int32_t ib = (int32_t)(blockIdx.x * POWER_THREADS + threadIdx.x);
    int32_t first = (int32_t)blockIdx.y * POWER_ROWS;
    size_t task = blockIdx.z;

    if ((args.stop && *args.stop) || nufft->bad[task])
        return;
    /* a row as the product path's kernel reads it, none of it mirrored */
    ec_pattern_product whole = {};
    grid_view view = {grid, &whole, nufft->rows + task * grid->points};
    lobes_beam beam = lobes_find(&args, nufft->first + task);
    float bar = __uint_as_float(nufft->top[task].bar);
    double best = 0.0;
    for (int32_t ia = first; ia < first + POWER_ROWS && ia < grid->na && ib < grid->nb; ia++) {
        float p = view.power[ia * grid->nb + ib], neighbour[8];
        if (!(1.4f * p > bar))
            continue;
        double x = (grid->a[ia] - beam.look_a) * beam.per_a, a, b;
        double y = (grid->b[ib] - beam.look_b) * beam.per_b;
        if (x * x + y * y <= 1.0 + EC_EDGE_SLACK)
            continue;
        bool peak = true;
        grid_neighbours(&view, ia, ib, neighbour);
        for (int j = 0; j < 8; j++)
            peak = peak && neighbour[j] <= p;
        if (!peak)
            continue;
        double top = grid_vertex(&view, ia, ib, neighbour, &a, &b);
        x = (a - beam.look_a) * beam.per_a;
        y = (b - beam.look_b) * beam.per_b;
        if (top > best && x * x + y * y >= 1.0)
            best = top;
    }
    float lobe = block_max((float)best, slot, POWER_THREADS);
    if (threadIdx.x == 0 && lobe > bar)
        atomicMax(&nufft->top[task].lobe, __float_as_uint(lobe));
}

/* The level from the beam's peak and the highest lobe, one block a candidate. */
static __global__ void __launch_bounds__(FINISH_THREADS)
    finish_kernel(const __grid_constant__ ec_pattern_args args)
{
    __shared__ double slot[FINISH_THREADS / 32];
    const ec_pattern_nufft *nufft = &args.nufft;
    const ec_pattern_grid *grid = &args.grid;
    size_t task = nufft->first + blockIdx.x, c = task % args.n, s = task / args.n;

    if (args.stop && *args.stop)
        return;
    if (nufft->bad[blockIdx.x]) {
        if (threadIdx.x == 0)
            search_write(&args, c, s, nan(""), nufft->bad[blockIdx.x]);
        return;
    }
    ec_pattern_product whole = {};
    grid_view view = {grid, &whole, nufft->rows + (size_t)blockIdx.x * grid->points};
    lobes_beam beam = lobes_find(&args, task);
    ec_pattern_top top = nufft->top[blockIdx.x];
    double peak = 0.0, a, b;
    if (!top.key) /* no sample lies inside the exclusion: the look direction itself */
        peak = lobes_look(&args, c, s, beam.look_a, beam.look_b, slot);
    if (threadIdx.x != 0)
        return;
    if (top.key) {
        int32_t i = (int32_t)(0xffffffffu - (unsigned)top.key);
        float neighbour[8];
        grid_neighbours(&view, i / grid->nb, i % grid->nb, neighbour);
        peak = grid_vertex(&view, i / grid->nb, i % grid->nb, neighbour, &a, &b);
    }
    search_finish(&args, c, s, peak, __uint_as_float(top.lobe > top.bar ? top.lobe : top.bar));
}

/* ---- launches ---- */

static size_t sort_shared_bytes(const ec_pattern_nufft *nufft)
{
    return ((size_t)nufft->bins[0] * nufft->bins[1] + 1) * sizeof(int32_t);
}

template <int WIDTH> static void launch_spread(cudaStream_t stream, const ec_pattern_args *args)
{
    const ec_pattern_nufft *nufft = &args->nufft;
    unsigned tiles = 1;

    for (int k = 0; k < 2; k++)
        tiles *= (unsigned)((nufft->fine[k] + SPREAD_TILE - 1) / SPREAD_TILE);
    dim3 grid(tiles, (unsigned)nufft->count, (unsigned)nufft->terms);
    spread_kernel<WIDTH><<<grid, SPREAD_THREADS, 0, stream>>>(*args);
}

/* From the elements to the fine grids. */
static int ec_nufft_launch_spread(cudaStream_t stream, const ec_pattern_args *args)
{
    static void (*const spread[])(cudaStream_t, const ec_pattern_args *) = {
        launch_spread<2>,  launch_spread<3>,  launch_spread<4>,
        launch_spread<5>,  launch_spread<6>,  launch_spread<7>,
        launch_spread<8>,  launch_spread<9>,  launch_spread<10>,
        launch_spread<11>, launch_spread<12>, launch_spread<EC_SPREAD_WIDTH_MAX>};
    size_t bytes = sort_shared_bytes(&args->nufft);
    int32_t which = args->nufft.width - 2;
    cudaError_t error = cudaSuccess;

    if (which < 0 || which >= (int32_t)(sizeof spread / sizeof *spread))
        return (int)cudaErrorInvalidValue;
    if (bytes > 40 << 10)
        error = cudaFuncSetAttribute(sort_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)bytes);
    if (error != cudaSuccess)
        return (int)error;
    sort_kernel<<<(unsigned)args->nufft.count, SORT_THREADS, bytes, stream>>>(*args);
    spread[which](stream, args);
    return (int)cudaPeekAtLastError();
}

/* True for a metric that the kernels here compute from the rows. */
static bool has_lobes_kernel(const ec_pattern_args *args, int32_t k)
{
    const ec_pattern_metric *metric = &args->metric[k];

    return args->grid.kind == EC_ARRAY_GRID_UV && metric->kind == EC_METRIC_SLL &&
           metric->exclude_a == metric->exclude_a && !args->exact && !args->vjp;
}

static dim3 power_blocks(const ec_pattern_args *args)
{
    return dim3((unsigned)((args->grid.nb + POWER_THREADS - 1) / POWER_THREADS),
                (unsigned)((args->grid.na + POWER_ROWS - 1) / POWER_ROWS),
                (unsigned)args->nufft.count);
}

/* From the transformed grids to the rows, and the tops of the rows for metric 0. */
static int ec_nufft_launch_power(cudaStream_t stream, const ec_pattern_args *args)
{
    if (has_lobes_kernel(args, 0))
        power_kernel<true, true><<<power_blocks(args), POWER_THREADS, 0, stream>>>(*args);
    else
        power_kernel<true, false><<<power_blocks(args), POWER_THREADS, 0, stream>>>(*args);
    return (int)cudaPeekAtLastError();
}

/* Launches metric k on the rows with its own kernels. -1: it has none; else 0 or a cudaError_t. */
static int ec_nufft_launch_metric(cudaStream_t stream, const ec_pattern_args *args, int32_t k)
{
    ec_pattern_args one = *args;
    cudaError_t error = cudaSuccess;

    if (!has_lobes_kernel(args, k))
        return -1;
    one.metric[0] = args->metric[k];
    one.n_metrics = 1;
    if (k > 0 || args->nufft.transform) { /* the tops of the rows are not known */
        error = cudaMemsetAsync(one.nufft.top, 0, one.nufft.count * sizeof *one.nufft.top, stream);
        if (error != cudaSuccess)
            return (int)error;
        power_kernel<false, true><<<power_blocks(&one), POWER_THREADS, 0, stream>>>(one);
    }
    lobes_kernel<<<power_blocks(&one), POWER_THREADS, 0, stream>>>(one);
    finish_kernel<<<(unsigned)one.nufft.count, FINISH_THREADS, 0, stream>>>(one);
    return (int)cudaPeekAtLastError();
}

#endif
