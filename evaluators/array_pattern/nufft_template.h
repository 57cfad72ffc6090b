/* nufft_template.h: the NUFFT of one candidate for one real type. Included twice by
 * nufft_kernels.c, with EC_REAL, EC_NU(name), EC_NU_FMA and EC_NU_LANES defined.
 *
 * Cost of a 2-D type 1: points (2 coefficients + 2 width) vectors of `padded` reals to spread, and
 * one FFT a block of EC_NU_LANES columns (rows, then kept rows of columns), 5 n log2 n operations
 * a column; traffic: the fine grid is cleared, written, read and written once, and the modes are
 * written once.
 */

/* ---- FFT over lanes: [n][EC_NU_LANES] in two planes ---- */

/* x w, w = wr + j wi */
#define EC_NU_TWIST(yr, yi, xr, xi, wr, wi)                                                        \
    EC_REAL yr = EC_NU_FMA(xr, wr, -(xi) * (wi)), yi = EC_NU_FMA(xr, wi, (xi) * (wr))

static inline void EC_NU(radix2)(EC_REAL *re, EC_REAL *im, size_t step, const EC_REAL *w)
{
#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL ar = re[l], ai = im[l];
        EC_NU_TWIST(br, bi, re[step + l], im[step + l], w[0], w[1]);
        re[l] = ar + br;
        im[l] = ai + bi;
        re[step + l] = ar - br;
        im[step + l] = ai - bi;
    }
}

static inline void EC_NU(radix3)(EC_REAL *re, EC_REAL *im, size_t step, const EC_REAL *w)
{
    const EC_REAL half_root = (EC_REAL)0.86602540378443864676;

#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL ar = re[l], ai = im[l];
        EC_NU_TWIST(br, bi, re[step + l], im[step + l], w[0], w[1]);
        EC_NU_TWIST(cr, ci, re[2 * step + l], im[2 * step + l], w[2], w[3]);
        EC_REAL sr = br + cr, si = bi + ci, dr = half_root * (br - cr), di = half_root * (bi - ci);
        EC_REAL mr = EC_NU_FMA((EC_REAL)-0.5, sr, ar), mi = EC_NU_FMA((EC_REAL)-0.5, si, ai);
        re[l] = ar + sr;
        im[l] = ai + si;
        re[step + l] = mr + di;
        im[step + l] = mi - dr;
        re[2 * step + l] = mr - di;
        im[2 * step + l] = mi + dr;
    }
}

static inline void EC_NU(radix4)(EC_REAL *re, EC_REAL *im, size_t step, const EC_REAL *w)
{
#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL ar = re[l], ai = im[l];
        EC_NU_TWIST(br, bi, re[step + l], im[step + l], w[0], w[1]);
        EC_NU_TWIST(cr, ci, re[2 * step + l], im[2 * step + l], w[2], w[3]);
        EC_NU_TWIST(dr, di, re[3 * step + l], im[3 * step + l], w[4], w[5]);
        EC_REAL pr = ar + cr, pi = ai + ci, mr = ar - cr, mi = ai - ci;
        EC_REAL qr = br + dr, qi = bi + di, nr = br - dr, ni = bi - di;
        re[l] = pr + qr;
        im[l] = pi + qi;
        re[step + l] = mr + ni;
        im[step + l] = mi - nr;
        re[2 * step + l] = pr - qr;
        im[2 * step + l] = pi - qi;
        re[3 * step + l] = mr - ni;
        im[3 * step + l] = mi + nr;
    }
}

static inline void EC_NU(radix5)(EC_REAL *re, EC_REAL *im, size_t step, const EC_REAL *w)
{
    const EC_REAL c1 = (EC_REAL)0.30901699437494742410, c2 = (EC_REAL)-0.80901699437494742410;
    const EC_REAL s1 = (EC_REAL)0.95105651629515357212, s2 = (EC_REAL)0.58778525229247312917;

#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL ar = re[l], ai = im[l];
        EC_NU_TWIST(br, bi, re[step + l], im[step + l], w[0], w[1]);
        EC_NU_TWIST(cr, ci, re[2 * step + l], im[2 * step + l], w[2], w[3]);
        EC_NU_TWIST(dr, di, re[3 * step + l], im[3 * step + l], w[4], w[5]);
        EC_NU_TWIST(er, ei, re[4 * step + l], im[4 * step + l], w[6], w[7]);
        EC_REAL pr = br + er, pi = bi + ei, mr = br - er, mi = bi - ei;
        EC_REAL qr = cr + dr, qi = ci + di, nr = cr - dr, ni = ci - di;
        EC_REAL fr = EC_NU_FMA(c1, pr, EC_NU_FMA(c2, qr, ar));
        EC_REAL fi = EC_NU_FMA(c1, pi, EC_NU_FMA(c2, qi, ai));
        EC_REAL gr = EC_NU_FMA(c2, pr, EC_NU_FMA(c1, qr, ar));
        EC_REAL gi = EC_NU_FMA(c2, pi, EC_NU_FMA(c1, qi, ai));
        EC_REAL ur = EC_NU_FMA(s1, mr, s2 * nr), ui = EC_NU_FMA(s1, mi, s2 * ni);
        EC_REAL vr = EC_NU_FMA(s2, mr, -s1 * nr), vi = EC_NU_FMA(s2, mi, -s1 * ni);
        re[l] = ar + pr + qr;
        im[l] = ai + pi + qi;
        re[step + l] = fr + ui;
        im[step + l] = fi - ur;
        re[4 * step + l] = fr - ui;
        im[4 * step + l] = fi + ur;
        re[2 * step + l] = gr + vi;
        im[2 * step + l] = gi - vr;
        re[3 * step + l] = gr - vi;
        im[3 * step + l] = gi + vr;
    }
}

/* In place; input l lies at place[l], output k at k. */
static void EC_NU(fft)(const ec_nufft_fft *fft, EC_REAL *re, EC_REAL *im)
{
    static const EC_REAL one[8] = {1, 0, 1, 0, 1, 0, 1, 0};
    const EC_REAL *twiddle = (const EC_REAL *)fft->twiddle;
    size_t n = (size_t)fft->n, done = 1;

    for (int32_t stage = 0; stage < fft->stages; stage++) {
        size_t radix = (size_t)fft->radix[stage], step = done * EC_NU_LANES;
        for (size_t base = 0; base < n; base += done * radix)
            for (size_t j = 0; j < done; j++) {
                EC_REAL *r = re + (base + j) * EC_NU_LANES, *i = im + (base + j) * EC_NU_LANES;
                const EC_REAL *w = stage == 0 ? one : twiddle + 2 * j * (radix - 1);
                if (radix == 4)
                    EC_NU(radix4)(r, i, step, w);
                else if (radix == 2)
                    EC_NU(radix2)(r, i, step, w);
                else if (radix == 3)
                    EC_NU(radix3)(r, i, step, w);
                else
                    EC_NU(radix5)(r, i, step, w);
            }
        if (stage > 0)
            twiddle += 2 * done * (radix - 1);
        done *= radix;
    }
}

/* ---- points ---- */

typedef struct EC_NU(points) {
    const int32_t *cell[2];
    const EC_REAL *offset[2];
} EC_NU(points);

/* Cell and offset of each point along axis d: the first of its `width` cells relative to cell 0
 * (>= -EC_NUFFT_MARGIN) and 2 s - 1. False: a point is not finite. */
static bool EC_NU(locate)(const ec_nufft_args *a, const double *x, int32_t d, int32_t *cell,
                          EC_REAL *offset)
{
    double grid = a->axis[d].grid;
    double shift = EC_NUFFT_MARGIN - 0.5 * a->width;
    int32_t bad = 0;

#pragma omp simd reduction(| : bad)
    for (int32_t m = 0; m < a->points; m++) {
        double t = x[m] - ec_det_rint(x[m]);
        double wrong = t - t; /* 0, or NaN */
        bad |= wrong != 0.0;
        t = wrong != 0.0 ? 0.0 : t;
        double wrapped = t + 1.0;
        t = t < 0.0 ? wrapped : t;
        double at = t * grid + shift;
        int32_t below = (int32_t)at;
        int32_t first = below + (at > below);
        cell[m] = first - EC_NUFFT_MARGIN;
        offset[m] = (EC_REAL)(2.0 * (first - at) - 1.0);
    }
    return !bad;
}

/* Blocks of lanes of columns that points touch. */
static void EC_NU(mark)(const ec_nufft_args *a, const int32_t *cell, uint8_t *used)
{
    int32_t grid = a->axis[1].grid, blocks = (grid + EC_NU_LANES - 1) / EC_NU_LANES;

    memset(used, 0, (size_t)blocks);
    for (int32_t m = 0; m < a->points; m++) {
        int32_t first = cell[m], last = first + a->width - 1;
        if (first < 0) {
            used[(first + grid) / EC_NU_LANES] = 1;
            used[blocks - 1] = 1;
            first = 0;
        }
        if (last >= grid) {
            used[0] = 1;
            used[(last - grid) / EC_NU_LANES] = 1;
            last = grid - 1;
        }
        for (int32_t block = first / EC_NU_LANES; block <= last / EC_NU_LANES; block++)
            used[block] = 1;
    }
}

/* ---- window, spreading and interpolation, for 4, 8 and 16 padded cells ---- */

#define EC_NU_WIDTH  4
#define EC_NU_SUFFIX _w4
#include "nufft_spread.h"
#define EC_NU_WIDTH  8
#define EC_NU_SUFFIX _w8
#include "nufft_spread.h"
#define EC_NU_WIDTH  16
#define EC_NU_SUFFIX _w16
#include "nufft_spread.h"

static void EC_NU(spread)(const ec_nufft_args *a, const EC_NU(points) * p, const EC_REAL *c,
                          EC_REAL *re, EC_REAL *im)
{
    if (a->padded == 4)
        EC_CONCAT(EC_NU(spread), _w4)(a, p, c, re, im);
    else if (a->padded == 8)
        EC_CONCAT(EC_NU(spread), _w8)(a, p, c, re, im);
    else
        EC_CONCAT(EC_NU(spread), _w16)(a, p, c, re, im);
}

static void EC_NU(interpolate)(const ec_nufft_args *a, const EC_NU(points) * p, const EC_REAL *re,
                               const EC_REAL *im, EC_REAL *c)
{
    if (a->padded == 4)
        EC_CONCAT(EC_NU(interpolate), _w4)(a, p, re, im, c);
    else if (a->padded == 8)
        EC_CONCAT(EC_NU(interpolate), _w8)(a, p, re, im, c);
    else
        EC_CONCAT(EC_NU(interpolate), _w16)(a, p, re, im, c);
}

/* ---- the periodic margin: cells from -before on and to grid + after - 1 ---- */

static inline void EC_NU(add_run)(EC_REAL *to, const EC_REAL *from, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

/* fold: the margin is added to the cells that it stands for; else it is filled from them. `line`
 * points at cell 0, cells are `step` reals apart and `run` reals each. */
static void EC_NU(margin)(bool fold, EC_REAL *line, int32_t grid, int32_t before, int32_t after,
                          size_t step, size_t run)
{
    for (int32_t i = -before; i < grid + after; i = i == -1 ? grid : i + 1) {
        int32_t inside = i < 0 ? i + grid : i - grid;
        EC_REAL *outer = line + (ptrdiff_t)step * i, *inner = line + (ptrdiff_t)step * inside;
        if (fold)
            EC_NU(add_run)(inner, outer, run);
        else
            memcpy(outer, inner, run * sizeof(EC_REAL));
    }
}

static void EC_NU(margins)(const ec_nufft_args *a, bool fold, EC_REAL *plane)
{
    EC_REAL *cell = plane + a->origin;
    int32_t before = a->width / 2, after = (a->width + 1) / 2;

    if (a->dim == 1) {
        EC_NU(margin)(fold, cell, a->axis[0].grid, before, after, 1, 1);
        return;
    }
    int32_t rows = a->axis[0].grid;
    if (fold)
        EC_NU(margin)(true, cell - EC_NUFFT_MARGIN, rows, before, after, a->pitch, a->pitch);
    for (int32_t row = 0; row < rows; row++)
        EC_NU(margin)(fold, cell + (size_t)row * a->pitch, a->axis[1].grid, before, after, 1, 1);
    if (!fold)
        EC_NU(margin)(false, cell - EC_NUFFT_MARGIN, rows, before, after, a->pitch, a->pitch);
}

/* ---- FFT over rows, a block of columns at a time ---- */

typedef struct EC_NU(work) {
    EC_REAL *grid[2];  /* cell 0 of the planes re and im */
    EC_REAL *lanes[2]; /* swapped where the sign is +1: that inverts the sign of the FFT */
    const uint8_t *used;
} EC_NU(work);

/* Rows that are kept between the two FFTs: modes in two dimensions, all in one. Row i of them is
 * output i of the FFT over rows, counted from the first mode on. */
static inline int32_t EC_NU(kept)(const ec_nufft_args *a)
{
    return a->dim == 2 ? a->axis[0].modes : a->fft[0].n;
}

static inline int32_t EC_NU(kept_row)(const ec_nufft_args *a, int32_t i)
{
    int32_t k = a->dim == 2 ? i + a->axis[0].first : i;
    return k < 0 ? k + a->fft[0].n : k;
}

static inline int32_t EC_NU(block_columns)(const ec_nufft_args *a, int32_t column)
{
    int32_t left = a->fft[1].n - column;
    return left < EC_NU_LANES ? left : EC_NU_LANES;
}

static inline void EC_NU(copy_lanes)(EC_REAL *to, const EC_REAL *from, int32_t count)
{
    if (count == EC_NU_LANES)
        memcpy(to, from, EC_NU_LANES * sizeof(EC_REAL));
    else
        memcpy(to, from, (size_t)count * sizeof(EC_REAL));
}

/* (re, im) of the lanes times the twist of (row, column); conj: its conjugate is meant, because
 * the lanes are swapped: (im, re) times w has the parts of (re, im) times conj(w), swapped. */
static inline void EC_NU(twist_lanes)(const ec_nufft_args *a, int32_t row, int32_t column,
                                      EC_REAL *re, EC_REAL *im)
{
    const EC_REAL *wr = (const EC_REAL *)a->twist + (size_t)row * a->twist_pitch + column;
    const EC_REAL *wi = wr + (size_t)a->fft[0].n * a->twist_pitch;

#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_NU_TWIST(yr, yi, re[l], im[l], wr[l], wi[l]);
        re[l] = yr;
        im[l] = yi;
    }
}

/* type 1: cells -> kept rows, in place. */
static void EC_NU(rows_forward)(const ec_nufft_args *a, const EC_NU(work) * w)
{
    const ec_nufft_fft *fft = &a->fft[0];
    int32_t kept = EC_NU(kept)(a);

    for (int32_t column = 0; column < a->fft[1].n; column += EC_NU_LANES) {
        int32_t count = EC_NU(block_columns)(a, column);
        if (w->used && !w->used[column / EC_NU_LANES]) {
            for (int32_t i = 0; i < kept; i++)
                for (int part = 0; part < 2; part++)
                    memset(w->grid[part] + (size_t)i * a->pitch + column, 0,
                           (size_t)count * sizeof(EC_REAL));
            continue;
        }
        for (int32_t row = 0; row < fft->n; row++)
            for (int part = 0; part < 2; part++)
                memcpy(w->lanes[part] + (size_t)fft->place[row] * EC_NU_LANES,
                       w->grid[part] + (size_t)row * a->pitch + column,
                       EC_NU_LANES * sizeof(EC_REAL));
        EC_NU(fft)(fft, w->lanes[a->sign > 0], w->lanes[a->sign < 0]);
        for (int32_t i = 0; i < kept; i++) {
            size_t at = (size_t)EC_NU(kept_row)(a, i) * EC_NU_LANES;
            if (a->dim == 1)
                EC_NU(twist_lanes)
            (a, i, column, w->lanes[a->sign > 0] + at, w->lanes[a->sign < 0] + at);
            for (int part = 0; part < 2; part++)
                EC_NU(copy_lanes)
            (w->grid[part] + (size_t)i * a->pitch + column, w->lanes[part] + at, count);
        }
    }
}

/* type 2: kept rows -> cells, in place. */
static void EC_NU(rows_backward)(const ec_nufft_args *a, const EC_NU(work) * w)
{
    const ec_nufft_fft *fft = &a->fft[0];
    size_t bytes = (size_t)fft->n * EC_NUFFT_LANE_BYTES;
    int32_t kept = EC_NU(kept)(a);

    for (int32_t column = 0; column < a->fft[1].n; column += EC_NU_LANES) {
        int32_t count = EC_NU(block_columns)(a, column);
        if (w->used && !w->used[column / EC_NU_LANES])
            continue;
        for (int part = 0; part < 2 && kept < fft->n; part++)
            memset(w->lanes[part], 0, bytes);
        for (int32_t i = 0; i < kept; i++) {
            size_t at = (size_t)fft->place[EC_NU(kept_row)(a, i)] * EC_NU_LANES;
            for (int part = 0; part < 2; part++)
                memcpy(w->lanes[part] + at, w->grid[part] + (size_t)i * a->pitch + column,
                       EC_NU_LANES * sizeof(EC_REAL));
            if (a->dim == 1)
                EC_NU(twist_lanes)
            (a, i, column, w->lanes[a->sign > 0] + at, w->lanes[a->sign < 0] + at);
        }
        EC_NU(fft)(fft, w->lanes[a->sign > 0], w->lanes[a->sign < 0]);
        for (int32_t row = 0; row < fft->n; row++)
            for (int part = 0; part < 2; part++)
                EC_NU(copy_lanes)
        (w->grid[part] + (size_t)row * a->pitch + column,
         w->lanes[part] + (size_t)row * EC_NU_LANES, count);
    }
}

/* ---- FFT over columns, a block of kept rows at a time ---- */

/* In one dimension output k2 of row k1 is mode k1 + rows k2: its index among the modes, or -1. */
static inline int32_t EC_NU(line_mode)(const ec_nufft_args *a, int32_t row, int32_t output)
{
    const ec_nufft_axis *axis = &a->axis[0];
    int32_t k = row + a->fft[0].n * output;
    int32_t index = k - axis->first, wrapped = index - axis->grid;

    if (index < axis->modes)
        return index;
    return wrapped >= 0 ? wrapped : -1;
}

/* Modes of a block of rows from the lanes (type 1) or into their places (type 2). */
static void EC_NU(modes_out)(const ec_nufft_args *a, const EC_NU(work) * w, int32_t row,
                             int32_t count, EC_REAL *out)
{
    const EC_REAL *re = w->lanes[0], *im = w->lanes[1];
    const EC_REAL *outer = (const EC_REAL *)a->axis[0].weight;
    const EC_REAL *inner = (const EC_REAL *)a->axis[1].weight;

    if (a->dim == 1) {
        for (int32_t k = 0; k < a->fft[1].n; k++)
            for (int32_t l = 0; l < count; l++) {
                int32_t mode = EC_NU(line_mode)(a, row + l, k);
                if (mode < 0)
                    continue;
                out[2 * mode] = outer[mode] * re[k * EC_NU_LANES + l];
                out[2 * mode + 1] = outer[mode] * im[k * EC_NU_LANES + l];
            }
        return;
    }
    int32_t modes = a->axis[1].modes, first = a->axis[1].first, n = a->fft[1].n;
    for (int32_t i = 0; i < modes; i++) {
        int32_t k = i + first < 0 ? i + first + n : i + first;
        for (int32_t l = 0; l < count; l++) {
            EC_REAL weight = outer[row + l] * inner[i];
            EC_REAL *mode = out + 2 * ((size_t)(row + l) * (size_t)modes + (size_t)i);
            mode[0] = weight * re[k * EC_NU_LANES + l];
            mode[1] = weight * im[k * EC_NU_LANES + l];
        }
    }
}

static void EC_NU(modes_in)(const ec_nufft_args *a, const EC_NU(work) * w, int32_t row,
                            int32_t count, const EC_REAL *in)
{
    EC_REAL *re = w->lanes[0], *im = w->lanes[1];
    const EC_REAL *outer = (const EC_REAL *)a->axis[0].weight;
    const EC_REAL *inner = (const EC_REAL *)a->axis[1].weight;
    const int32_t *place = a->fft[1].place;

    if (a->dim == 1) {
        for (int32_t k = 0; k < a->fft[1].n; k++)
            for (int32_t l = 0; l < count; l++) {
                int32_t mode = EC_NU(line_mode)(a, row + l, k);
                if (mode < 0)
                    continue;
                re[place[k] * EC_NU_LANES + l] = outer[mode] * in[2 * mode];
                im[place[k] * EC_NU_LANES + l] = outer[mode] * in[2 * mode + 1];
            }
        return;
    }
    int32_t modes = a->axis[1].modes, first = a->axis[1].first, n = a->fft[1].n;
    for (int32_t i = 0; i < modes; i++) {
        int32_t k = place[i + first < 0 ? i + first + n : i + first];
        for (int32_t l = 0; l < count; l++) {
            EC_REAL weight = outer[row + l] * inner[i];
            const EC_REAL *mode = in + 2 * ((size_t)(row + l) * (size_t)modes + (size_t)i);
            re[k * EC_NU_LANES + l] = weight * mode[0];
            im[k * EC_NU_LANES + l] = weight * mode[1];
        }
    }
}

static void EC_NU(columns_forward)(const ec_nufft_args *a, const EC_NU(work) * w, EC_REAL *out)
{
    const ec_nufft_fft *fft = &a->fft[1];
    int32_t kept = EC_NU(kept)(a);

    for (int32_t row = 0; row < kept; row += EC_NU_LANES) {
        int32_t count = kept - row < EC_NU_LANES ? kept - row : EC_NU_LANES;
        for (int part = 0; part < 2; part++)
            for (int32_t column = 0; column < fft->n; column++) {
                const EC_REAL *from = w->grid[part] + (size_t)row * a->pitch + column;
                EC_REAL *to = w->lanes[part] + (size_t)fft->place[column] * EC_NU_LANES;
                for (int32_t l = 0; l < EC_NU_LANES; l++)
                    to[l] = l < count ? from[(size_t)l * a->pitch] : (EC_REAL)0;
            }
        EC_NU(fft)(fft, w->lanes[a->sign > 0], w->lanes[a->sign < 0]);
        EC_NU(modes_out)(a, w, row, count, out);
    }
}

static void EC_NU(columns_backward)(const ec_nufft_args *a, const EC_NU(work) * w,
                                    const EC_REAL *in)
{
    const ec_nufft_fft *fft = &a->fft[1];
    int32_t kept = EC_NU(kept)(a);

    for (int32_t row = 0; row < kept; row += EC_NU_LANES) {
        int32_t count = kept - row < EC_NU_LANES ? kept - row : EC_NU_LANES;
        for (int part = 0; part < 2; part++)
            memset(w->lanes[part], 0, (size_t)fft->n * EC_NUFFT_LANE_BYTES);
        EC_NU(modes_in)(a, w, row, count, in);
        EC_NU(fft)(fft, w->lanes[a->sign > 0], w->lanes[a->sign < 0]);
        for (int part = 0; part < 2; part++)
            for (int32_t column = 0; column < fft->n; column++) {
                EC_REAL *to = w->grid[part] + (size_t)row * a->pitch + column;
                const EC_REAL *from = w->lanes[part] + (size_t)column * EC_NU_LANES;
                for (int32_t l = 0; l < count; l++)
                    to[(size_t)l * a->pitch] = from[l];
            }
    }
}

/* ---- one candidate ---- */

static void EC_NU(fill_nan)(EC_REAL *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (EC_REAL)NAN;
}

static uint8_t EC_NU(candidate)(const ec_nufft_args *a, const ec_nufft_io *io, void *workspace)
{
    char *memory = (char *)workspace;
    EC_REAL *plane = (EC_REAL *)(memory + a->at_grid);
    EC_REAL *lanes = (EC_REAL *)(memory + a->at_lanes);
    uint8_t *used = (uint8_t *)(memory + a->at_used);
    int32_t longest = a->fft[0].n > a->fft[1].n ? a->fft[0].n : a->fft[1].n;
    size_t modes = (size_t)a->axis[0].modes * (size_t)(a->dim == 2 ? a->axis[1].modes : 1);
    size_t n_in = a->type == 1 ? (size_t)a->points : modes;
    size_t n_out = a->type == 1 ? modes : (size_t)a->points;
    EC_NU(points) points;
    EC_NU(work)
    work = {{plane + a->origin, plane + a->plane + a->origin},
            {lanes, lanes + (size_t)longest * EC_NU_LANES},
            a->dim == 2 ? used : NULL};
    bool finite = true;

    for (int32_t d = 0; d < a->dim; d++) {
        int32_t *cell = (int32_t *)(memory + a->at_cell) + (size_t)d * (size_t)a->points;
        EC_REAL *offset = (EC_REAL *)(memory + a->at_offset) + (size_t)d * (size_t)a->points;
        finite = EC_NU(locate)(a, io->point[d], d, cell, offset) && finite;
        points.cell[d] = cell;
        points.offset[d] = offset;
    }
    if (!finite) {
        EC_NU(fill_nan)((EC_REAL *)io->out, 2 * n_out * (size_t)io->vectors);
        return EC_CANDIDATE_NOT_FINITE;
    }
    if (a->dim == 2)
        EC_NU(mark)(a, points.cell[1], used);
    if (a->type == 2) /* cells behind a window are read, with the weight 0 */
        memset(plane, 0, 2 * a->plane * sizeof(EC_REAL));
    for (int32_t v = 0; v < io->vectors; v++) {
        const EC_REAL *in = (const EC_REAL *)io->in + 2 * (size_t)v * n_in;
        EC_REAL *out = (EC_REAL *)io->out + 2 * (size_t)v * n_out;
        if (a->type == 1) {
            memset(plane, 0, 2 * a->plane * sizeof(EC_REAL));
            EC_NU(spread)(a, &points, in, work.grid[0], work.grid[1]);
            EC_NU(margins)(a, true, plane);
            EC_NU(margins)(a, true, plane + a->plane);
            EC_NU(rows_forward)(a, &work);
            EC_NU(columns_forward)(a, &work, out);
        } else {
            EC_NU(columns_backward)(a, &work, in);
            EC_NU(rows_backward)(a, &work);
            EC_NU(margins)(a, false, plane);
            EC_NU(margins)(a, false, plane + a->plane);
            EC_NU(interpolate)(a, &points, work.grid[0], work.grid[1], out);
        }
    }
    return EC_CANDIDATE_OK;
}

#undef EC_NU_TWIST
