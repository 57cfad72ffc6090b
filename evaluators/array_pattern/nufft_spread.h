/* nufft_spread.h: spreading and interpolation with windows of up to EC_NU_WIDTH padded cells.
 * Included by nufft_template.h for each padded width, with EC_NU_WIDTH and EC_NU_SUFFIX defined: a
 * row of the window is one or two registers, and no loop over cells has a remainder. Cells behind
 * the width have the value 0.
 */
#define EC_NU_W(name) EC_CONCAT(EC_NU(name), EC_NU_SUFFIX)

/* The window's values at the cells of a point along both axes. A constant count keeps the sums in
 * registers. */
static inline __attribute__((always_inline)) void
EC_NU_W(window_count)(const EC_REAL *coefficient, int32_t count, EC_REAL offset0, EC_REAL offset1,
                      EC_REAL *value0, EC_REAL *value1)
{
#pragma omp simd
    for (int i = 0; i < EC_NU_WIDTH; i++) {
        EC_REAL sum0 = coefficient[i], sum1 = sum0;
        for (int32_t power = 1; power < count; power++) {
            sum0 = EC_NU_FMA(sum0, offset0, coefficient[power * EC_NU_WIDTH + i]);
            sum1 = EC_NU_FMA(sum1, offset1, coefficient[power * EC_NU_WIDTH + i]);
        }
        value0[i] = sum0;
        value1[i] = sum1;
    }
}

static inline void EC_NU_W(window)(const ec_nufft_args *a, EC_REAL offset0, EC_REAL offset1,
                                   EC_REAL *value0, EC_REAL *value1)
{
    const EC_REAL *coefficient = (const EC_REAL *)a->window;

    switch (a->coefficients) {
#define EC_NU_COUNT(count)                                                                         \
    case count:                                                                                    \
        EC_NU_W(window_count)(coefficient, count, offset0, offset1, value0, value1);               \
        break;
        EC_NU_COUNT(4)
        EC_NU_COUNT(6)
        EC_NU_COUNT(8)
        EC_NU_COUNT(10)
        EC_NU_COUNT(12)
        EC_NU_COUNT(14)
        EC_NU_COUNT(16)
        EC_NU_COUNT(18)
#undef EC_NU_COUNT
    default:
        EC_NU_W(window_count)(coefficient, 20, offset0, offset1, value0, value1);
    }
}

/* The same along one axis. */
static inline __attribute__((always_inline)) void
EC_NU_W(line_count)(const EC_REAL *coefficient, int32_t count, EC_REAL offset, EC_REAL *value)
{
#pragma omp simd
    for (int i = 0; i < EC_NU_WIDTH; i++) {
        EC_REAL sum = coefficient[i];
        for (int32_t power = 1; power < count; power++)
            sum = EC_NU_FMA(sum, offset, coefficient[power * EC_NU_WIDTH + i]);
        value[i] = sum;
    }
}

static inline __attribute__((always_inline)) void
EC_NU_W(line_window)(const ec_nufft_args *a, EC_REAL offset, EC_REAL *value)
{
    const EC_REAL *coefficient = (const EC_REAL *)a->window;

    switch (a->coefficients) {
#define EC_NU_COUNT(count)                                                                         \
    case count:                                                                                    \
        EC_NU_W(line_count)(coefficient, count, offset, value);                                    \
        break;
        EC_NU_COUNT(4)
        EC_NU_COUNT(6)
        EC_NU_COUNT(8)
        EC_NU_COUNT(10)
        EC_NU_COUNT(12)
        EC_NU_COUNT(14)
        EC_NU_COUNT(16)
        EC_NU_COUNT(18)
#undef EC_NU_COUNT
    default:
        EC_NU_W(line_count)(coefficient, 20, offset, value);
    }
}

static void EC_NU_W(spread)(const ec_nufft_args *a, const EC_NU(points) * p, const EC_REAL *c,
                            EC_REAL *re, EC_REAL *im)
{
    EC_REAL inner[EC_NU_WIDTH], outer[EC_NU_WIDTH], wr[EC_NU_WIDTH], wi[EC_NU_WIDTH];
    int32_t last = a->dim - 1;

    for (int32_t m = 0; m < a->points; m++) {
        int32_t index = p->order ? p->order[m] : m;
        EC_REAL cr = c[2 * index], ci = c[2 * index + 1];
        ptrdiff_t at = p->cell[last][m];
        if (a->dim == 1) {
            EC_NU_W(line_window)(a, p->offset[0][m], inner);
#pragma omp simd
            for (int i = 0; i < EC_NU_WIDTH; i++) {
                re[at + i] = EC_NU_FMA(cr, inner[i], re[at + i]);
                im[at + i] = EC_NU_FMA(ci, inner[i], im[at + i]);
            }
            continue;
        }
        EC_NU_W(window)(a, p->offset[last][m], p->offset[0][m], inner, outer);
#pragma omp simd
        for (int i = 0; i < EC_NU_WIDTH; i++) {
            wr[i] = outer[i] * cr;
            wi[i] = outer[i] * ci;
        }
        at += (ptrdiff_t)a->pitch * p->cell[0][m];
        for (int32_t row = 0; row < a->width; row++) {
            EC_REAL *to_re = re + at, *to_im = im + at;
#pragma omp simd
            for (int i = 0; i < EC_NU_WIDTH; i++) {
                to_re[i] = EC_NU_FMA(wr[row], inner[i], to_re[i]);
                to_im[i] = EC_NU_FMA(wi[row], inner[i], to_im[i]);
            }
            at += (ptrdiff_t)a->pitch;
        }
    }
}

/* Halves are added until one number is left. Loops of constant length each: one over the halves makes
 * compilers go through memory. */
static inline EC_REAL EC_NU_W(sum)(const EC_REAL *value)
{
    EC_REAL four[4];
#if EC_NU_WIDTH > 4
    EC_REAL eight[8];
#if EC_NU_WIDTH > 8
#pragma omp simd
    for (int i = 0; i < 8; i++)
        eight[i] = value[i] + value[i + 8];
#else
    for (int i = 0; i < 8; i++)
        eight[i] = value[i];
#endif
    value = eight;
#pragma omp simd
    for (int i = 0; i < 4; i++)
        four[i] = value[i] + value[i + 4];
#else
    for (int i = 0; i < 4; i++)
        four[i] = value[i];
#endif
    return (four[0] + four[2]) + (four[1] + four[3]);
}

static void EC_NU_W(interpolate)(const ec_nufft_args *a, const EC_NU(points) * p, const EC_REAL *re,
                                 const EC_REAL *im, EC_REAL *c)
{
    EC_REAL inner[EC_NU_WIDTH], outer[EC_NU_WIDTH], sr[EC_NU_WIDTH], si[EC_NU_WIDTH];
    int32_t last = a->dim - 1;

    for (int32_t m = 0; m < a->points; m++) {
        ptrdiff_t at = p->cell[last][m];
        if (a->dim == 1) {
            EC_NU_W(line_window)(a, p->offset[0][m], inner);
#pragma omp simd
            for (int i = 0; i < EC_NU_WIDTH; i++) {
                sr[i] = re[at + i] * inner[i];
                si[i] = im[at + i] * inner[i];
            }
        } else {
            EC_NU_W(window)(a, p->offset[last][m], p->offset[0][m], inner, outer);
            at += (ptrdiff_t)a->pitch * p->cell[0][m];
            for (int i = 0; i < EC_NU_WIDTH; i++)
                sr[i] = si[i] = (EC_REAL)0;
            for (int32_t row = 0; row < a->width; row++) {
                const EC_REAL *from_re = re + at, *from_im = im + at;
#pragma omp simd
                for (int i = 0; i < EC_NU_WIDTH; i++) {
                    sr[i] = EC_NU_FMA(outer[row], from_re[i], sr[i]);
                    si[i] = EC_NU_FMA(outer[row], from_im[i], si[i]);
                }
                at += (ptrdiff_t)a->pitch;
            }
#pragma omp simd
            for (int i = 0; i < EC_NU_WIDTH; i++) {
                sr[i] *= inner[i];
                si[i] *= inner[i];
            }
        }
        int32_t index = p->order ? p->order[m] : m;
        c[2 * index] = EC_NU_W(sum)(sr);
        c[2 * index + 1] = EC_NU_W(sum)(si);
    }
}

#undef EC_NU_W
#undef EC_NU_WIDTH
#undef EC_NU_SUFFIX
