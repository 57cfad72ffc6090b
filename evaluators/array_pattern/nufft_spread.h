/* nufft_spread.h: spreading and interpolation with windows of up to EC_NU_WIDTH padded cells.
 * Included by nufft_template.h for each padded width, with EC_NU_WIDTH and EC_NU_SUFFIX defined: a row of the window is one or two registers,
 * and no loop over cells has a remainder. Cells behind the width have the value 0.
 */
#define EC_NU_W(name) EC_CONCAT(EC_NU(name), EC_NU_SUFFIX)

/* The window's values at the cells of a point. */
static inline void EC_NU_W(window)(const ec_nufft_args *a, EC_REAL offset, EC_REAL *value)
{
    const EC_REAL *coefficient = (const EC_REAL *)a->window;
    EC_REAL sum[EC_NU_WIDTH];

#pragma omp simd
    for (int i = 0; i < EC_NU_WIDTH; i++)
        sum[i] = coefficient[i];
    for (int32_t power = 1; power < a->coefficients; power++) {
        coefficient += EC_NU_WIDTH;
#pragma omp simd
        for (int i = 0; i < EC_NU_WIDTH; i++)
            sum[i] = EC_NU_FMA(sum[i], offset, coefficient[i]);
    }
#pragma omp simd
    for (int i = 0; i < EC_NU_WIDTH; i++)
        value[i] = sum[i];
}

static void EC_NU_W(spread)(const ec_nufft_args *a, const EC_NU(points) * p, const EC_REAL *c,
                            EC_REAL *re, EC_REAL *im)
{
    EC_REAL inner[EC_NU_WIDTH], outer[EC_NU_WIDTH];

    for (int32_t m = 0; m < a->points; m++) {
        EC_REAL cr = c[2 * m], ci = c[2 * m + 1];
        int32_t last = a->dim - 1;
        ptrdiff_t at = p->cell[last][m];
        EC_NU_W(window)(a, p->offset[last][m], inner);
        if (a->dim == 1) {
#pragma omp simd
            for (int i = 0; i < EC_NU_WIDTH; i++) {
                re[at + i] = EC_NU_FMA(cr, inner[i], re[at + i]);
                im[at + i] = EC_NU_FMA(ci, inner[i], im[at + i]);
            }
            continue;
        }
        EC_NU_W(window)(a, p->offset[0][m], outer);
        at += (ptrdiff_t)a->pitch * p->cell[0][m];
        for (int32_t row = 0; row < a->width; row++) {
            EC_REAL wr = outer[row] * cr, wi = outer[row] * ci;
            EC_REAL *to_re = re + at, *to_im = im + at;
#pragma omp simd
            for (int i = 0; i < EC_NU_WIDTH; i++) {
                to_re[i] = EC_NU_FMA(wr, inner[i], to_re[i]);
                to_im[i] = EC_NU_FMA(wi, inner[i], to_im[i]);
            }
            at += (ptrdiff_t)a->pitch;
        }
    }
}

static void EC_NU_W(interpolate)(const ec_nufft_args *a, const EC_NU(points) * p, const EC_REAL *re,
                                 const EC_REAL *im, EC_REAL *c)
{
    EC_REAL inner[EC_NU_WIDTH], outer[EC_NU_WIDTH], sr[EC_NU_WIDTH], si[EC_NU_WIDTH];

    for (int32_t m = 0; m < a->points; m++) {
        int32_t last = a->dim - 1, rows = a->dim == 2 ? a->width : 1;
        ptrdiff_t at = p->cell[last][m];
        EC_NU_W(window)(a, p->offset[last][m], inner);
        if (a->dim == 2) {
            EC_NU_W(window)(a, p->offset[0][m], outer);
            at += (ptrdiff_t)a->pitch * p->cell[0][m];
        } else {
            outer[0] = (EC_REAL)1;
        }
        for (int i = 0; i < EC_NU_WIDTH; i++)
            sr[i] = si[i] = (EC_REAL)0;
        for (int32_t row = 0; row < rows; row++) {
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
        for (int half = EC_NU_WIDTH / 2; half > 0; half /= 2)
            for (int i = 0; i < half; i++) {
                sr[i] += sr[i + half];
                si[i] += si[i + half];
            }
        c[2 * m] = sr[0];
        c[2 * m + 1] = si[0];
    }
}

#undef EC_NU_W
#undef EC_NU_WIDTH
#undef EC_NU_SUFFIX
