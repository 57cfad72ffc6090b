/* array_transform.cuh: the pattern by the transforms of nufft.h on CUDA: cuts, float64, sub-arrays and
 * the complex pattern, which array_spread.cuh does not take. For each part of a batch of candidates:
 *
 *   strengths  one block a candidate: the part's elements as points and strengths, a vector a term
 *   (transform, nufft_cuda.c)
 *   add        the terms times their factors, turned to the part's place, onto the field
 *
 * and at the end |F|^2 times the element's power as rows, which every metric reads. The plain version
 * is that of the CPU (array_row_template.h).
 */
#ifndef EC_ARRAY_TRANSFORM_CUH
#define EC_ARRAY_TRANSFORM_CUH

#include "array_spread.cuh"

enum { STRENGTH_THREADS = 256, FIELD_THREADS = 128 };

template <typename real> struct field_of;
template <> struct field_of<float> {
    typedef float2 type;
};
template <> struct field_of<double> {
    typedef double2 type;
};

static __device__ __forceinline__ void field_sincos(double turn, float *s, float *c)
{
    ec_sincos_turns_f32((float)ec_turns_reduce(turn), s, c);
}

static __device__ __forceinline__ void field_sincos(double turn, double *s, double *c)
{
    ec_sincos_turns_f64(ec_turns_reduce(turn), s, c);
}

static __device__ __forceinline__ ec_pattern_part part_of(const ec_pattern_args *args)
{
    const ec_pattern_nufft *nufft = &args->nufft;
    ec_pattern_part whole = {0, args->elements, 0.0, 0.0, nufft->z_c, 0.0, 0.0, nufft->z_half};

    return nufft->parts ? nufft->part[nufft->at_part] : whole;
}

static __global__ void __launch_bounds__(FIELD_THREADS)
    target_kernel(const __grid_constant__ ec_pattern_args args)
{
    const ec_pattern_grid *grid = &args.grid;
    const ec_pattern_part part = part_of(&args);
    int32_t i = (int32_t)(blockIdx.x * FIELD_THREADS + threadIdx.x);

    if (i >= grid->points || (args.stop && *args.stop))
        return;
    args.nufft.target[0][i] = ec_fma(part.slope_x, grid->w[i], grid->u[i]);
    args.nufft.target[1][i] = ec_fma(part.slope_y, grid->w[i], grid->v[i]);
}

/* Status bits of an element's inputs. */
static __device__ __forceinline__ int element_check(const ec_pattern_view *in, size_t c, size_t s,
                                                    int32_t m)
{
    static const int32_t each[] = {EC_PATTERN_X, EC_PATTERN_Y, EC_PATTERN_Z, EC_PATTERN_AMPLITUDE,
                                   EC_PATTERN_PHASE};
    int bad = 0;

    for (int k = 0; k < 5; k++)
        bad |= ec_pattern_check(&in[each[k]], ec_pattern_read(&in[each[k]], c, s, m));
    return bad;
}

/* The candidate's status and the amplitudes' sum are taken once, for part 0. */
template <typename real>
static __global__ void __launch_bounds__(STRENGTH_THREADS)
    strength_kernel(const __grid_constant__ ec_pattern_args args)
{
    typedef typename field_of<real>::type pair;
    __shared__ double slot[STRENGTH_THREADS / 32];
    __shared__ int32_t bits;
    const ec_pattern_nufft *nufft = &args.nufft;
    const ec_pattern_view *in = args.in;
    const ec_pattern_part part = part_of(&args);
    size_t task = nufft->first + blockIdx.x, c = task % args.n, s = task / args.n;
    size_t n = (size_t)nufft->longest;
    double *x = nufft->point[0] + blockIdx.x * n, *y = nufft->point[1] + blockIdx.x * n;
    pair *strength = (pair *)nufft->strength + blockIdx.x * n * (size_t)nufft->terms;

    if (args.stop && *args.stop)
        return;
    double per_wavelength = 1.0 / ec_pattern_read(&in[EC_PATTERN_WAVELENGTH], c, s, 0);
    double u0 = ec_pattern_read(&in[EC_PATTERN_U0], c, s, 0);
    double v0 = ec_pattern_read(&in[EC_PATTERN_V0], c, s, 0);
    double w0 = ec_pattern_read(&in[EC_PATTERN_W0], c, s, 0);
    if (nufft->at_part == 0) {
        double sum = 0.0;
        int bad = ec_pattern_check(&in[EC_PATTERN_U0], u0) |
                  ec_pattern_check(&in[EC_PATTERN_V0], v0) |
                  ec_pattern_check(&in[EC_PATTERN_W0], w0) |
                  ec_pattern_check(&in[EC_PATTERN_WAVELENGTH],
                                   ec_pattern_read(&in[EC_PATTERN_WAVELENGTH], c, s, 0));
        bad |= per_wavelength > 0.0 ? 0 : EC_CANDIDATE_EVALUATOR;
        if (threadIdx.x == 0)
            bits = 0;
        for (int32_t m = (int32_t)threadIdx.x; m < args.elements; m += STRENGTH_THREADS) {
            sum += fabs(ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m));
            bad |= element_check(in, c, s, m);
        }
        sum = block_sum(sum, slot, STRENGTH_THREADS); /* synchronizes, too */
        bad |= sum > 1e-290 && sum < 1e290 ? 0 : EC_CANDIDATE_EVALUATOR;
        if (bad)
            atomicOr(&bits, bad);
        __syncthreads();
        if (threadIdx.x == 0) {
            nufft->share[blockIdx.x] = 1.0 / sum;
            nufft->bad[blockIdx.x] = bits;
        }
        __syncthreads();
    }
    double share = nufft->share[blockIdx.x];
    double per_half = nufft->terms > 1 ? 1.0 / part.depth : 0.0;
    bool outside = false;
    for (size_t k = threadIdx.x; k < n; k += STRENGTH_THREADS) {
        bool there = k < (size_t)part.count; /* a shorter part repeats its last element with 0 */
        size_t at = (size_t)part.first + (there ? k : (size_t)part.count - 1);
        int32_t m = nufft->order ? nufft->order[at] : (int32_t)at;
        double ex = ec_pattern_read(&in[EC_PATTERN_X], c, s, m) * per_wavelength;
        double ey = ec_pattern_read(&in[EC_PATTERN_Y], c, s, m) * per_wavelength;
        double ez =
            args.planar ? 0.0 : ec_pattern_read(&in[EC_PATTERN_Z], c, s, m) * per_wavelength;
        double phase = ec_pattern_read(&in[EC_PATTERN_PHASE], c, s, m);
        double amplitude = ec_pattern_read(&in[EC_PATTERN_AMPLITUDE], c, s, m) * share;
        double turn = ec_turns_reduce(phase / EC_TURN) - (ex * u0 + ey * v0 + ez * w0);
        double dx = ex - part.x, dy = ey - part.y;
        double dz = ez - part.z - part.slope_x * dx - part.slope_y * dy;
        outside = outside || fabs(dx) > nufft->span[0] || fabs(dy) > nufft->span[1] ||
                  fabs(dz) > part.depth;
        turn = ec_fma(dx, nufft->turn[0],
                      ec_fma(dy, nufft->turn[1], ec_fma(dz, nufft->w_c, ec_turns_reduce(turn))));
        real sine, cosine, weight = there ? (real)amplitude : (real)0;
        field_sincos(turn, &sine, &cosine);
        x[k] = dx * nufft->scale[0];
        y[k] = dy * nufft->scale[1];
        /* a flat part has no depth but rounding errors, which the powers would blow up */
        double zeta = dz * per_half;
        zeta = zeta > 1.0 ? 1.0 : zeta < -1.0 ? -1.0 : zeta;
        real here = 1, before = 0;
        for (int32_t p = 0; p < nufft->terms; p++) {
            pair value;
            value.x = weight * cosine * here;
            value.y = weight * sine * here;
            strength[(size_t)p * n + k] = value;
            real next =
                nufft->taylor || p == 0 ? (real)zeta * here : (real)2 * (real)zeta * here - before;
            before = here;
            here = next;
        }
    }
    /* elements that vary have to be where their part was planned for */
    if (nufft->moving && outside)
        atomicOr(&nufft->bad[blockIdx.x], (int32_t)EC_CANDIDATE_OUT_OF_RANGE);
}

/* c_p at direction i: from the planned table, by powers, or by cubic interpolation of the curve. */
template <typename real>
static __device__ __forceinline__ real term_factor(const ec_pattern_args *args,
                                                   const ec_pattern_part *part, int32_t p, size_t i)
{
    const ec_pattern_nufft *nufft = &args->nufft;
    double y = EC_TURN * part->depth * (args->grid.w[i] - nufft->w_c);

    if (nufft->factor)
        return ((const real *)nufft->factor)[(size_t)p * (size_t)args->grid.points + i];
    if (nufft->taylor || nufft->terms == 1) {
        double power = 1.0;
        for (int32_t k = 1; k <= p; k++)
            power *= y / k;
        return (real)power;
    }
    double at = fabs(y) * nufft->per_knot;
    int32_t k = (int32_t)at, last = nufft->knots - 2;
    k = k > last ? last : k;
    double t = at - k, r = 1.0 - t;
    const double *knot = nufft->curve + 2 * ((size_t)p * (size_t)nufft->knots + (size_t)k);
    double value = r * r * ((1.0 + 2.0 * t) * knot[0] + t * knot[1]) +
                   t * t * ((3.0 - 2.0 * t) * knot[2] - r * knot[3]);
    return (real)(p % 2 && y < 0.0 ? -value : value);
}

template <typename real>
static __global__ void __launch_bounds__(FIELD_THREADS)
    add_kernel(const __grid_constant__ ec_pattern_args args)
{
    typedef typename field_of<real>::type pair;
    const ec_pattern_nufft *nufft = &args.nufft;
    const ec_pattern_grid *grid = &args.grid;
    const ec_pattern_part part = part_of(&args);
    size_t points = (size_t)grid->points;
    size_t i = (size_t)blockIdx.x * FIELD_THREADS + threadIdx.x;
    const pair *term = (const pair *)nufft->term + blockIdx.y * points * (size_t)nufft->terms;
    pair *field = (pair *)nufft->field + blockIdx.y * points;
    real re = 0, im = 0;

    if (i >= points || (args.stop && *args.stop))
        return;
    for (int32_t p = 0; p < nufft->terms; p++) { /* j^p */
        pair value = term[(size_t)p * points + i];
        real factor = term_factor<real>(&args, &part, p, i);
        factor = p & 2 ? -factor : factor;
        re += p & 1 ? -factor * value.y : factor * value.x;
        im += p & 1 ? factor * value.x : factor * value.y;
    }
    if (args.fields || nufft->parts > 1) { /* the part's place matters */
        real s, c, r = re;
        field_sincos(part.x * grid->u[i] + part.y * grid->v[i] + part.z * grid->w[i], &s, &c);
        re = r * c - im * s;
        im = r * s + im * c;
    }
    if (nufft->at_part > 0) {
        re += field[i].x;
        im += field[i].y;
    }
    pair sum;
    sum.x = re;
    sum.y = im;
    field[i] = sum;
}

template <typename real>
static __global__ void __launch_bounds__(FIELD_THREADS)
    rows_kernel(const __grid_constant__ ec_pattern_args args)
{
    typedef typename field_of<real>::type pair;
    const ec_pattern_grid *grid = &args.grid;
    size_t points = (size_t)grid->points;
    size_t i = (size_t)blockIdx.x * FIELD_THREADS + threadIdx.x;

    if (i >= points || (args.stop && *args.stop))
        return;
    pair f = ((const pair *)args.nufft.field)[blockIdx.y * points + i];
    float gain = grid->gain ? grid->gain[i] : 1.0f;
    real power = f.x * f.x + f.y * f.y;
    args.nufft.rows[blockIdx.y * points + i] = gain < 0.0f ? -1.0f : (float)(power * (real)gain);
}

/* ---- launches ---- */

static dim3 field_blocks(const ec_pattern_args *args)
{
    size_t points = (size_t)args->grid.points;

    return dim3((unsigned)((points + FIELD_THREADS - 1) / FIELD_THREADS),
                (unsigned)args->nufft.count);
}

static int ec_transform_launch_strengths(cudaStream_t stream, const ec_pattern_args *args)
{
    unsigned count = (unsigned)args->nufft.count;

    if (args->nufft.tilt)
        target_kernel<<<field_blocks(args).x, FIELD_THREADS, 0, stream>>>(*args);
    if (args->double_precision)
        strength_kernel<double><<<count, STRENGTH_THREADS, 0, stream>>>(*args);
    else
        strength_kernel<float><<<count, STRENGTH_THREADS, 0, stream>>>(*args);
    return (int)cudaPeekAtLastError();
}

static int ec_transform_launch_add(cudaStream_t stream, const ec_pattern_args *args)
{
    if (args->double_precision)
        add_kernel<double><<<field_blocks(args), FIELD_THREADS, 0, stream>>>(*args);
    else
        add_kernel<float><<<field_blocks(args), FIELD_THREADS, 0, stream>>>(*args);
    return (int)cudaPeekAtLastError();
}

static int ec_transform_launch_rows(cudaStream_t stream, const ec_pattern_args *args)
{
    if (args->fields)
        return 0;
    if (args->double_precision)
        rows_kernel<double><<<field_blocks(args), FIELD_THREADS, 0, stream>>>(*args);
    else
        rows_kernel<float><<<field_blocks(args), FIELD_THREADS, 0, stream>>>(*args);
    return (int)cudaPeekAtLastError();
}

#endif
