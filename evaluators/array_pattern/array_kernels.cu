/* array_kernels.cu: the array pattern on CUDA. Every metric, fidelity and adjoint runs in a general
 * kernel, one block a candidate, from the source that the CPU compiles (array_candidate.h); blocks
 * are persistent, so their workspaces do not grow with the population. The two cases that searches
 * spend their time in, the side-lobe level of a line and of a u-v grid in float32, have kernels of
 * their own (array_search.cuh) that keep the pattern on chip. Large arrays go through non-uniform
 * FFTs, whose rows all metrics can read: over u-v grids in float32 by a path of their own
 * (array_spread.cuh), else by the transforms of nufft.h (array_transform.cuh). */
#include "array_transform.cuh"

/* ---- the row, shared by the block; plain versions, the tables in the workspace ---- */

template <typename real> static __device__ void turn_sincos(double turn, real *s, real *c);

template <> __device__ void turn_sincos<float>(double turn, float *s, float *c)
{
    ec_sincos_turns_f32((float)ec_turns_reduce(turn), s, c);
}

template <> __device__ void turn_sincos<double>(double turn, double *s, double *c)
{
    ec_sincos_turns_f64(ec_turns_reduce(turn), s, c);
}

static __device__ float fused(float a, float b, float c)
{
    return ec_fmaf(a, b, c);
}

static __device__ double fused(double a, double b, double c)
{
    return ec_fma(a, b, c);
}

template <typename real>
static __device__ void store_power(const ec_pattern_grid *grid, float *row, int32_t i, real power)
{
    float gain = grid->gain ? grid->gain[i] : 1.0f;

    row[i] = gain < 0.0f ? -1.0f : (float)(power * (real)gain);
}

template <typename real>
static __device__ void row_direct(const ec_team *team, const ec_pattern_args *args,
                                  const ec_pattern_elements *el, float *row)
{
    const ec_pattern_grid *grid = &args->grid;

    for (int32_t i = team->rank; i < grid->points; i += team->size) {
        double u = grid->u[i], v = grid->v[i], w = grid->w[i];
        real re = 0, im = 0;
        for (int32_t m = 0; m < el->n; m++) {
            real s, c, amplitude = (real)el->amplitude[m];
            turn_sincos<real>(
                ec_fma(el->x[m], u, ec_fma(el->y[m], v, ec_fma(el->z[m], w, el->turn[m]))), &s, &c);
            re = fused(amplitude, c, re);
            im = fused(amplitude, s, im);
        }
        store_power<real>(grid, row, i, re * re + im * im);
    }
}

/* The same of elements with fields of their own. */
template <typename real>
static __device__ void row_own(const ec_team *team, const ec_pattern_args *args,
                               const ec_pattern_elements *el, float *row)
{
    const ec_pattern_grid *grid = &args->grid;
    int32_t parts = args->own.parts;
    size_t stride = ec_round_up((size_t)grid->points, 64);

    for (int32_t i = team->rank; i < grid->points; i += team->size) {
        ec_direction d = {grid->u[i], grid->v[i], grid->w[i]};
        real re[3] = {0, 0, 0}, im[3] = {0, 0, 0}, power = 0;
        double unit[3];
        ec_gain_unit(&args->gain, d, unit);
        for (int32_t m = 0; m < el->n; m++) {
            real s, c, amplitude = (real)el->amplitude[m];
            ec_c128 e[3];
            turn_sincos<real>(
                ec_fma(el->x[m], d.u, ec_fma(el->y[m], d.v, ec_fma(el->z[m], d.w, el->turn[m]))),
                &s, &c);
            if (!args->own.field)
                ec_own_field(&args->own, m, d, parts == 1 ? unit : NULL, e);
            const float *from = args->own.field + 2 * (size_t)m * parts * stride + i;
            for (int32_t p = 0; p < parts; p++) {
                real er = args->own.field ? (real)from[2 * p * stride] : (real)e[p].re;
                real ei = args->own.field ? (real)from[(2 * p + 1) * stride] : (real)e[p].im;
                re[p] += amplitude * (c * er - s * ei);
                im[p] += amplitude * (c * ei + s * er);
            }
        }
        for (int32_t p = 0; p < parts; p++)
            power += re[p] * re[p] + im[p] * im[p];
        store_power<real>(grid, row, i, power);
    }
}

/* See array_row_template.h for the decomposition. */
template <typename real>
static __device__ void row_product(const ec_team *team, const ec_pattern_args *args,
                                   const ec_pattern_elements *el, void *tables, float *row)
{
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_product *product = &args->product;
    int32_t n = el->n, rows = product->rows, columns = product->columns;
    bool line = grid->topology == EC_PATTERN_CUT;
    const double *along = line ? el->x : el->y;
    real *wr = (real *)tables, *wi = wr + (size_t)rows * n;
    real *cosines = wi + (size_t)rows * n, *sines = cosines + (size_t)n * columns;

    for (int32_t k = team->rank; k < rows * n; k += team->size) {
        int32_t r = k / n, m = k % n;
        real s, c, amplitude = (real)el->amplitude[m];
        turn_sincos<real>(
            ec_fma(el->x[m], product->row_u[r], ec_fma(el->y[m], product->centre_v, el->turn[m])),
            &s, &c);
        wr[k] = amplitude * c;
        wi[k] = amplitude * s;
    }
    for (int32_t k = team->rank; k < n * columns; k += team->size)
        turn_sincos<real>(along[k / columns] * product->column_s[k % columns], &sines[k],
                          &cosines[k]);
    ec_team_sync(team);
    int32_t last = grid->points - 1;
    for (int32_t k = team->rank; k < rows * columns; k += team->size) {
        int32_t r = k / columns, b = k % columns, up, down;
        real rc = 0, rs = 0, ic = 0, is = 0;
        for (int32_t m = 0; m < n; m++) {
            real c = cosines[m * columns + b], s = sines[m * columns + b];
            real re = wr[r * n + m], im = wi[r * n + m];
            rc = fused(re, c, rc);
            rs = fused(re, s, rs);
            ic = fused(im, c, ic);
            is = fused(im, s, is);
        }
        real plus = (rc - is) * (rc - is) + (ic + rs) * (ic + rs);
        real minus = (rc + is) * (rc + is) + (ic - rs) * (ic - rs);
        if (line) {
            up = product->first + r * 2 * columns + columns + b;
            down = up - 2 * b - 1;
        } else {
            int32_t start = (product->first + r) * grid->nb;
            up = start + (product->paired ? grid->nb - columns : 0) + b;
            down = start + columns - 1 - b;
        }
        if (up <= last) {
            store_power<real>(grid, row, up, plus);
            if (product->mirrored)
                store_power<real>(grid, row, last - up, plus);
        }
        /* the middle column of an odd row stands for one point only */
        bool middle = !line && up == down;
        if (product->paired && down <= last && !middle) {
            store_power<real>(grid, row, down, minus);
            if (product->mirrored)
                store_power<real>(grid, row, last - down, minus);
        }
    }
}

static __device__ void compute_row(const ec_team *team, const ec_pattern_args *args,
                                   const ec_pattern_elements *el, void *tables, float *row)
{
    if (args->row == EC_ROW_PRODUCT) {
        if (args->double_precision)
            row_product<double>(team, args, el, tables, row);
        else
            row_product<float>(team, args, el, tables, row);
    } else if (args->own.parts) {
        if (args->double_precision)
            row_own<double>(team, args, el, row);
        else
            row_own<float>(team, args, el, row);
    } else if (args->double_precision) {
        row_direct<double>(team, args, el, row);
    } else {
        row_direct<float>(team, args, el, row);
    }
}

/* Element i of a complex pattern that array_transform.cuh left in the staging buffer. */
static __device__ ec_c128 given_field(const ec_pattern_args *args, const void *field, int32_t i)
{
    const double *f64 = (const double *)field;
    const float *f32 = (const float *)field;
    ec_c128 f = {0.0, 0.0};

    f.re = args->double_precision ? f64[2 * i] : (double)f32[2 * i];
    f.im = args->double_precision ? f64[2 * i + 1] : (double)f32[2 * i + 1];
    return f;
}

#define EC_PATTERN_ROW(team, args, el, tables, row) compute_row(team, args, el, tables, row)
#define EC_PATTERN_FIELD(args, el, tables)          ((void)0)
#define EC_PATTERN_FIELD_AT(args, tables, i)        given_field(args, tables, i)
#include "array_candidate.h"

/* ---- the general kernel ---- */

enum { GENERAL_THREADS = 128 };

static __global__ void __launch_bounds__(GENERAL_THREADS)
    pattern_kernel(const __grid_constant__ ec_pattern_args args)
{
    __shared__ ec_pattern_best scratch[EC_TEAM_MAX];
    ec_team team = {(int32_t)threadIdx.x, GENERAL_THREADS, scratch};

    if (args.stop && *args.stop)
        return;
    bool given = args.row == EC_ROW_GIVEN;
    size_t first = given ? args.nufft.first : 0;
    size_t end = given ? first + args.nufft.count : args.n * args.samples;
    for (size_t task = first + blockIdx.x; task < end; task += gridDim.x) {
        ec_pattern_candidate(&team, &args, task % args.n, task / args.n,
                             args.workspace + blockIdx.x * args.workspace_bytes);
        __syncthreads();
    }
}

static bool reads_row(const ec_pattern_metric *metric)
{
    if (metric->kind == EC_METRIC_LEVEL || metric->kind == EC_METRIC_NULL_DEPTH)
        return metric->relative;
    return metric->kind != EC_METRIC_DIRECTIVITY && metric->kind != EC_METRIC_TOWARDS &&
           metric->kind != EC_METRIC_PATTERN && metric->kind != EC_METRIC_PIECES;
}

extern "C" int ec_cuda_array_pattern(void *stream, const void *arguments, size_t lanes, size_t ny)
{
    const ec_pattern_args *args = (const ec_pattern_args *)arguments;
    ec_pattern_args rest = *args;
    size_t tasks = args->row == EC_ROW_NUFFT ? args->nufft.count : args->n * args->samples;
    bool nufft = args->row == EC_ROW_NUFFT;

    (void)lanes;
    (void)ny;
    if (tasks == 0)
        return 0;
    if (nufft && args->nufft.stage == EC_SPREAD_STAGE)
        return ec_nufft_launch_spread((cudaStream_t)stream, args);
    if (nufft && args->nufft.stage == EC_STRENGTH_STAGE)
        return ec_transform_launch_strengths((cudaStream_t)stream, args);
    if (nufft && args->nufft.stage == EC_ADD_STAGE)
        return ec_transform_launch_add((cudaStream_t)stream, args);
    if (nufft) {
        int result = args->nufft.transform ? ec_transform_launch_rows((cudaStream_t)stream, args)
                                           : ec_nufft_launch_power((cudaStream_t)stream, args);
        if (result != 0)
            return result;
        rest.row = EC_ROW_GIVEN;
    }
    /* the metrics without a kernel of their own go together */
    bool needs_row = false;
    rest.n_metrics = 0;
    for (int32_t k = 0; k < args->n_metrics; k++) {
        int result = nufft ? ec_nufft_launch_metric((cudaStream_t)stream, args, k)
                           : ec_search_launch((cudaStream_t)stream, args, k);
        if (result > 0)
            return result;
        if (result == 0)
            continue;
        rest.metric[rest.n_metrics++] = args->metric[k];
        needs_row = needs_row || reads_row(&args->metric[k]);
    }
    if (rest.n_metrics == 0)
        return 0;
    if (!needs_row && !nufft)
        rest.row = EC_ROW_NONE;
    unsigned blocks = (unsigned)(tasks < (size_t)args->teams ? tasks : (size_t)args->teams);
    pattern_kernel<<<blocks, GENERAL_THREADS, 0, (cudaStream_t)stream>>>(rest);
    return (int)cudaPeekAtLastError();
}
