/* nufft_direct.h: the sums themselves, for the cases that are too small for a grid. Included by
 * nufft_template.h.
 *
 * Regular modes are a tensor grid, so the sum over points (type 1) or modes (type 2) is a matrix
 * product: exp(2 pi j (r + s) x) is a factor of the row r times one of the column offset s, and a
 * column stands for +s and -s at once:
 *   F(r +- s) = (A cos(s) -+ B sin(s), B cos(s) +- A sin(s)), A + j B = sum of c times row factor,
 * four multiply-adds a point for two modes. In two dimensions rows are the modes of the outer axis
 * and offsets those of the inner one about its centre; a line is cut into rows of 2 columns modes.
 */

/* The factors of rows for `count` points from `first` on: [rows][EC_NUFFT_CHUNK], times the
 * strengths c where given. */
static void EC_NU(direct_rows)(const ec_nufft_args *a, const double *x, const double *y,
                               int32_t count, const EC_REAL *c, EC_REAL *re, EC_REAL *im)
{
    double centre = a->dim == 2 ? a->column_centre : 0.0;
    EC_REAL flip = a->sign < 0 ? (EC_REAL)-1 : (EC_REAL)1;

    for (int32_t row = 0; row < a->rows; row++) {
        double r = a->row[row];
#pragma omp simd
        for (int32_t m = 0; m < count; m++) {
            double t = r * ec_turns_reduce(x[m]) + centre * ec_turns_reduce(y[m]);
            EC_REAL s, co;
            EC_NU_SINCOS((EC_REAL)ec_turns_reduce(t), &s, &co);
            re[m] = co;
            im[m] = flip * s;
        }
        if (c) {
#pragma omp simd
            for (int32_t m = 0; m < count; m++) {
                EC_NU_TWIST(pr, pi, re[m], im[m], c[2 * m], c[2 * m + 1]);
                re[m] = pr;
                im[m] = pi;
            }
        }
        re += EC_NUFFT_CHUNK;
        im += EC_NUFFT_CHUNK;
    }
}

/* Cosines and sines of a column block for the points: [count][EC_NU_LANES]. */
static void EC_NU(direct_columns)(const ec_nufft_args *a, const double *x, int32_t count,
                                  int32_t column, EC_REAL *cosine, EC_REAL *sine)
{
    EC_REAL flip = a->sign < 0 ? (EC_REAL)-1 : (EC_REAL)1;

    for (int32_t m = 0; m < count; m++) {
        double turns = ec_turns_reduce(x[m]);
#pragma omp simd
        for (int l = 0; l < EC_NU_LANES; l++) {
            EC_REAL s, co;
            EC_NU_SINCOS((EC_REAL)ec_turns_reduce(turns * (column + l + a->column_start)), &s, &co);
            cosine[l] = co;
            sine[l] = flip * s;
        }
        cosine += EC_NU_LANES;
        sine += EC_NU_LANES;
    }
}

/* sum: [4][EC_NU_LANES] of each of two rows: A cos, A sin, B cos, B sin. */
static void EC_NU(direct_multiply)(int32_t count, const EC_REAL *re, const EC_REAL *im,
                                   const EC_REAL *cosine, const EC_REAL *sine, EC_REAL *sum)
{
    const EC_REAL *re1 = re + EC_NUFFT_CHUNK, *im1 = im + EC_NUFFT_CHUNK;

#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL ac = sum[l], as = sum[EC_NU_LANES + l], bc = sum[2 * EC_NU_LANES + l],
                bs = sum[3 * EC_NU_LANES + l];
        EC_REAL ac1 = sum[4 * EC_NU_LANES + l], as1 = sum[5 * EC_NU_LANES + l],
                bc1 = sum[6 * EC_NU_LANES + l], bs1 = sum[7 * EC_NU_LANES + l];
        for (int32_t m = 0; m < count; m++) {
            EC_REAL c = cosine[m * EC_NU_LANES + l], s = sine[m * EC_NU_LANES + l];
            ac = EC_NU_FMA(re[m], c, ac);
            as = EC_NU_FMA(re[m], s, as);
            bc = EC_NU_FMA(im[m], c, bc);
            bs = EC_NU_FMA(im[m], s, bs);
            ac1 = EC_NU_FMA(re1[m], c, ac1);
            as1 = EC_NU_FMA(re1[m], s, as1);
            bc1 = EC_NU_FMA(im1[m], c, bc1);
            bs1 = EC_NU_FMA(im1[m], s, bs1);
        }
        sum[l] = ac;
        sum[EC_NU_LANES + l] = as;
        sum[2 * EC_NU_LANES + l] = bc;
        sum[3 * EC_NU_LANES + l] = bs;
        sum[4 * EC_NU_LANES + l] = ac1;
        sum[5 * EC_NU_LANES + l] = as1;
        sum[6 * EC_NU_LANES + l] = bc1;
        sum[7 * EC_NU_LANES + l] = bs1;
    }
}

/* Indices of the modes that column `column` of a row stands for; beyond the modes: none. */
static inline void EC_NU(direct_pair)(const ec_nufft_args *a, int32_t row, int32_t column,
                                      size_t *up, size_t *down)
{
    size_t half = (size_t)a->columns, at = (size_t)column;

    if (a->dim == 1) {
        *up = (size_t)row * 2 * half + half + at;
        *down = *up - 2 * at - 1;
        return;
    }
    size_t modes = (size_t)a->axis[1].modes, start = (size_t)row * modes;
    *up = start + modes / 2 + at;
    *down = start + (modes - 1) / 2 - at;
}

static void EC_NU(direct_place)(const ec_nufft_args *a, int32_t row, int32_t column,
                                const EC_REAL *sum, EC_REAL *out)
{
    size_t modes = (size_t)a->axis[0].modes * (size_t)(a->dim == 2 ? a->axis[1].modes : 1);

    for (int32_t l = 0; l < EC_NU_LANES && column + l < a->columns; l++) {
        EC_REAL ac = sum[l], as = sum[EC_NU_LANES + l], bc = sum[2 * EC_NU_LANES + l],
                bs = sum[3 * EC_NU_LANES + l];
        size_t up, down;
        EC_NU(direct_pair)(a, row, column + l, &up, &down);
        if (up < modes) {
            out[2 * up] = ac - bs;
            out[2 * up + 1] = bc + as;
        }
        if (down < modes) {
            out[2 * down] = ac + bs;
            out[2 * down + 1] = bc - as;
        }
    }
}

/* Type 1: chunks of points add to the sums of each column block and row. */
static void EC_NU(direct_type1)(const ec_nufft_args *a, const ec_nufft_io *io, EC_REAL *memory,
                                const EC_REAL *in, EC_REAL *out)
{
    size_t factors = (size_t)(a->rows + 1) * EC_NUFFT_CHUNK;
    EC_REAL *re = memory, *im = re + factors, *cosine = im + factors;
    EC_REAL *sine = cosine + EC_NUFFT_CHUNK * EC_NU_LANES;
    EC_REAL *sums = sine + EC_NUFFT_CHUNK * EC_NU_LANES;
    int32_t blocks = (a->columns + EC_NU_LANES - 1) / EC_NU_LANES;
    size_t pitch = (size_t)(a->rows + 1) * 4 * EC_NU_LANES; /* of the sums of a block */

    memset(sums, 0, (size_t)blocks * pitch * sizeof(EC_REAL));
    for (int32_t first = 0; first < a->points; first += EC_NUFFT_CHUNK) {
        int32_t count = a->points - first < EC_NUFFT_CHUNK ? a->points - first : EC_NUFFT_CHUNK;
        EC_NU(direct_rows)
        (a, io->point[0] + first, io->point[a->dim - 1] + first, count, in + 2 * (size_t)first, re,
         im);
        memset(re + (size_t)a->rows * EC_NUFFT_CHUNK, 0, EC_NUFFT_CHUNK * sizeof(EC_REAL));
        memset(im + (size_t)a->rows * EC_NUFFT_CHUNK, 0, EC_NUFFT_CHUNK * sizeof(EC_REAL));
        for (int32_t block = 0; block < blocks; block++) {
            EC_NU(direct_columns)
            (a, io->point[a->dim - 1] + first, count, block * EC_NU_LANES, cosine, sine);
            for (int32_t row = 0; row < a->rows; row += 2)
                EC_NU(direct_multiply)
            (count, re + (size_t)row * EC_NUFFT_CHUNK, im + (size_t)row * EC_NUFFT_CHUNK, cosine,
             sine, sums + block * pitch + (size_t)row * 4 * EC_NU_LANES);
        }
    }
    for (int32_t block = 0; block < blocks; block++)
        for (int32_t row = 0; row < a->rows; row++)
            EC_NU(direct_place)
    (a, row, block * EC_NU_LANES, sums + block * pitch + (size_t)row * 4 * EC_NU_LANES, out);
}

/* Sums and differences of the two modes of a column, up + down and j (up - down):
 * [4][rows][columns]. The middle mode of an odd number stands alone. */
static void EC_NU(direct_fold)(const ec_nufft_args *a, const EC_REAL *in, EC_REAL *fold)
{
    size_t modes = (size_t)a->axis[0].modes * (size_t)(a->dim == 2 ? a->axis[1].modes : 1);
    size_t apart = (size_t)a->rows * (size_t)a->columns;

    for (int32_t row = 0; row < a->rows; row++)
        for (int32_t column = 0; column < a->columns; column++, fold++) {
            size_t up, down;
            EC_NU(direct_pair)(a, row, column, &up, &down);
            EC_REAL ur = up < modes ? in[2 * up] : (EC_REAL)0;
            EC_REAL ui = up < modes ? in[2 * up + 1] : (EC_REAL)0;
            bool other = down < modes && down != up;
            EC_REAL dr = other ? in[2 * down] : (EC_REAL)0;
            EC_REAL di = other ? in[2 * down + 1] : (EC_REAL)0;
            fold[0] = ur + dr;
            fold[apart] = ui + di;
            fold[2 * apart] = ur - dr; /* of the imaginary part */
            fold[3 * apart] = di - ui;
        }
}

/* Adds one row's sum over its columns, for a block of points, to sum [2][EC_NU_LANES]. The parts of
 * fold lie apart so that the loop over points is the one that becomes SIMD. */
static void EC_NU(direct_row)(int32_t columns, size_t apart, const EC_REAL *fold,
                              const EC_REAL *cosine, const EC_REAL *sine, EC_REAL *sum)
{
    const EC_REAL *fold1 = fold + apart, *fold2 = fold1 + apart, *fold3 = fold2 + apart;

#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL gr = sum[l], gi = sum[EC_NU_LANES + l];
        int32_t column = 0;
        do { /* no test before the first column, which would keep the loop from becoming SIMD */
            EC_REAL c = cosine[column * EC_NU_LANES + l], s = sine[column * EC_NU_LANES + l];
            gr = EC_NU_FMA(fold[column], c, gr);
            gi = EC_NU_FMA(fold1[column], c, gi);
            gr = EC_NU_FMA(fold3[column], s, gr);
            gi = EC_NU_FMA(fold2[column], s, gi);
        } while (++column < columns);
        sum[l] = gr;
        sum[EC_NU_LANES + l] = gi;
    }
}

/* Type 2: blocks of points in the lanes. */
static void EC_NU(direct_type2)(const ec_nufft_args *a, const ec_nufft_io *io, EC_REAL *memory,
                                const EC_REAL *in, EC_REAL *out)
{
    size_t factors = (size_t)a->rows * EC_NUFFT_CHUNK;
    size_t apart = (size_t)a->rows * (size_t)a->columns;
    EC_REAL *re = memory, *im = re + factors, *cosine = im + factors;
    EC_REAL *sine = cosine + (size_t)a->columns * EC_NU_LANES;
    EC_REAL *fold = sine + (size_t)a->columns * EC_NU_LANES;
    EC_REAL flip = a->sign < 0 ? (EC_REAL)-1 : (EC_REAL)1;

    EC_NU(direct_fold)(a, in, fold);
    for (int32_t first = 0; first < a->points; first += EC_NU_LANES) {
        int32_t count = a->points - first < EC_NU_LANES ? a->points - first : EC_NU_LANES;
        EC_REAL sum_re[EC_NU_LANES] = {0}, sum_im[EC_NU_LANES] = {0};
        double x[EC_NU_LANES], y[EC_NU_LANES], turns[EC_NU_LANES];
        for (int l = 0; l < EC_NU_LANES; l++) {
            x[l] = io->point[0][first + (l < count ? l : 0)];
            y[l] = io->point[a->dim - 1][first + (l < count ? l : 0)];
            turns[l] = ec_turns_reduce(y[l]);
        }
        EC_NU(direct_rows)(a, x, y, EC_NU_LANES, NULL, re, im);
        for (int32_t column = 0; column < a->columns; column++) {
            double offset = column + a->column_start;
#pragma omp simd
            for (int l = 0; l < EC_NU_LANES; l++) {
                EC_REAL s, co;
                EC_NU_SINCOS((EC_REAL)ec_turns_reduce(turns[l] * offset), &s, &co);
                cosine[column * EC_NU_LANES + l] = co;
                sine[column * EC_NU_LANES + l] = flip * s;
            }
        }
        for (int32_t row = 0; row < a->rows; row++) {
            EC_REAL sum[2 * EC_NU_LANES] = {0};
            const EC_REAL *factor = re + (size_t)row * EC_NUFFT_CHUNK;
            EC_NU(direct_row)
            (a->columns, apart, fold + (size_t)row * (size_t)a->columns, cosine, sine, sum);
#pragma omp simd
            for (int l = 0; l < EC_NU_LANES; l++) {
                EC_NU_TWIST(pr, pi, sum[l], sum[EC_NU_LANES + l], factor[l], factor[factors + l]);
                sum_re[l] += pr;
                sum_im[l] += pi;
            }
        }
        for (int32_t l = 0; l < count; l++) {
            out[2 * (first + l)] = sum_re[l];
            out[2 * (first + l) + 1] = sum_im[l];
        }
    }
}

/* Type 3: blocks of targets in the lanes, one sine and cosine a point and target. */
static void EC_NU(direct_type3)(const ec_nufft_args *a, const double *const *point,
                                const double *const *target, const EC_REAL *in, EC_REAL *out)
{
    const double *x = point[0], *y = point[a->dim - 1];
    double second = a->dim == 2 ? 1.0 : 0.0;
    EC_REAL flip = a->sign < 0 ? (EC_REAL)-1 : (EC_REAL)1;

    for (int32_t first = 0; first < a->targets; first += EC_NU_LANES) {
        int32_t count = a->targets - first < EC_NU_LANES ? a->targets - first : EC_NU_LANES;
        EC_REAL re[EC_NU_LANES] = {0}, im[EC_NU_LANES] = {0};
        double s[EC_NU_LANES], t[EC_NU_LANES];
        for (int l = 0; l < EC_NU_LANES; l++) {
            int32_t k = first + (l < count ? l : 0);
            s[l] = target[0][k];
            t[l] = target[a->dim - 1][k] * second;
        }
        for (int32_t m = 0; m < a->points; m++) {
            double xm = x[m], ym = y[m];
            EC_REAL cr = in[2 * m], ci = in[2 * m + 1];
#pragma omp simd
            for (int l = 0; l < EC_NU_LANES; l++) {
                EC_REAL sine, cosine;
                double turns = ec_fma(s[l], xm, t[l] * ym);
                EC_NU_SINCOS((EC_REAL)ec_turns_reduce(turns), &sine, &cosine);
                EC_NU_TWIST(pr, pi, cr, ci, cosine, flip * sine);
                re[l] += pr;
                im[l] += pi;
            }
        }
        for (int32_t l = 0; l < count; l++) {
            out[2 * (first + l)] = re[l];
            out[2 * (first + l) + 1] = im[l];
        }
    }
}
