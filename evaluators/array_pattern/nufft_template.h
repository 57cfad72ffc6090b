/* nufft_template.h: the NUFFT of one candidate for one real type. Included twice by
 * nufft_kernels.c, with EC_REAL, EC_NU(name), EC_NU_FMA, EC_NU_SINCOS, EC_NU_LANES, EC_NU_QUAD,
 * EC_NU_LOW and EC_NU_HIGH defined.
 *
 * Cost of a 2-D type 1: points (2 coefficients + 2 width) vectors of `padded` reals to spread, and
 * one FFT a block of EC_NU_LANES columns (rows, then kept rows of columns), 5 n log2 n operations
 * a column; traffic: the fine grid is cleared, written, read and written once, and the modes are
 * written once.
 */

typedef EC_REAL EC_NU(quad) __attribute__((vector_size(16)));

/* ---- FFT over lanes: [n][EC_NU_LANES] in two planes ---- */

/* x w, w = wr + j wi */
#define EC_NU_TWIST(yr, yi, xr, xi, wr, wi)                                                        \
    EC_REAL yr = EC_NU_FMA(xr, wr, -(xi) * (wi)), yi = EC_NU_FMA(xr, wi, (xi) * (wr))

static inline void EC_NU(radix2)(EC_REAL *re, EC_REAL *im, size_t step, const EC_REAL *w)
{
    const EC_REAL w1r = w[0], w1i = w[1];

#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL ar = re[l], ai = im[l];
        EC_NU_TWIST(br, bi, re[step + l], im[step + l], w1r, w1i);
        re[l] = ar + br;
        im[l] = ai + bi;
        re[step + l] = ar - br;
        im[step + l] = ai - bi;
    }
}

static inline void EC_NU(radix3)(EC_REAL *re, EC_REAL *im, size_t step, const EC_REAL *w)
{
    const EC_REAL w1r = w[0], w1i = w[1], w2r = w[2], w2i = w[3];
    const EC_REAL half_root = (EC_REAL)0.86602540378443864676;

#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL ar = re[l], ai = im[l];
        EC_NU_TWIST(br, bi, re[step + l], im[step + l], w1r, w1i);
        EC_NU_TWIST(cr, ci, re[2 * step + l], im[2 * step + l], w2r, w2i);
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
    const EC_REAL w1r = w[0], w1i = w[1], w2r = w[2], w2i = w[3], w3r = w[4], w3i = w[5];

#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL ar = re[l], ai = im[l];
        EC_NU_TWIST(br, bi, re[step + l], im[step + l], w1r, w1i);
        EC_NU_TWIST(cr, ci, re[2 * step + l], im[2 * step + l], w2r, w2i);
        EC_NU_TWIST(dr, di, re[3 * step + l], im[3 * step + l], w3r, w3i);
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
    const EC_REAL w1r = w[0], w1i = w[1], w2r = w[2], w2i = w[3], w3r = w[4], w3i = w[5],
                  w4r = w[6], w4i = w[7];
    const EC_REAL c1 = (EC_REAL)0.30901699437494742410, c2 = (EC_REAL)-0.80901699437494742410;
    const EC_REAL s1 = (EC_REAL)0.95105651629515357212, s2 = (EC_REAL)0.58778525229247312917;

#pragma omp simd
    for (int l = 0; l < EC_NU_LANES; l++) {
        EC_REAL ar = re[l], ai = im[l];
        EC_NU_TWIST(br, bi, re[step + l], im[step + l], w1r, w1i);
        EC_NU_TWIST(cr, ci, re[2 * step + l], im[2 * step + l], w2r, w2i);
        EC_NU_TWIST(dr, di, re[3 * step + l], im[3 * step + l], w3r, w3i);
        EC_NU_TWIST(er, ei, re[4 * step + l], im[4 * step + l], w4r, w4i);
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
    const int32_t *order; /* which point each is, NULL: in the order given */
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

/* Blocks of lanes of columns that windows touch, from the blocks where they begin. */
static void EC_NU(mark)(const ec_nufft_args *a, const int32_t *cell, uint8_t *begins, uint8_t *used)
{
    int32_t grid = a->axis[1].grid, blocks = (grid + EC_NU_LANES - 1) / EC_NU_LANES;
    int32_t starts = (grid + EC_NUFFT_MARGIN) / EC_NU_LANES + 1;

    memset(begins, 0, (size_t)starts);
    memset(used, 0, (size_t)blocks);
    for (int32_t m = 0; m < a->points; m++)
        begins[(cell[m] + EC_NUFFT_MARGIN) / EC_NU_LANES] = 1;
    for (int32_t start = 0; start < starts; start++) {
        if (!begins[start])
            continue;
        int32_t first = start * EC_NU_LANES - EC_NUFFT_MARGIN;
        for (int32_t column = first; column < first + EC_NU_LANES + a->width; column++)
            used[((column + 2 * grid) % grid) / EC_NU_LANES] = 1;
    }
}

static inline int32_t EC_NU(bin)(const ec_nufft_args *a, int32_t cell0, int32_t cell1)
{
    return (cell0 + EC_NUFFT_MARGIN) / EC_NUFFT_BIN_ROWS * a->bins_across +
           (cell1 + EC_NUFFT_MARGIN) / EC_NUFFT_BIN_COLUMNS;
}

/* Sorts points by bins of the grid that stay in the first cache, in the order given within each
 * bin. The sorted copies lie behind the originals. */
static void EC_NU(sort)(const ec_nufft_args *a, char *places)
{
    size_t n = (size_t)a->points;
    int32_t *start = (int32_t *)(places + a->at_bins), *order = start + a->bins + 1;
    int32_t *from0 = (int32_t *)(places + a->at_cell), *from1 = from0 + n;
    int32_t *cell0 = from1 + n, *cell1 = cell0 + n;
    EC_REAL *all = (EC_REAL *)(places + a->at_offset);
    EC_REAL *offset0 = all + 2 * n, *offset1 = offset0 + n;

    memset(start, 0, (size_t)(a->bins + 1) * sizeof *start);
    for (size_t m = 0; m < n; m++)
        start[EC_NU(bin)(a, from0[m], from1[m]) + 1]++;
    for (int32_t b = 0; b < a->bins; b++)
        start[b + 1] += start[b];
    for (size_t m = 0; m < n; m++) {
        int32_t at = start[EC_NU(bin)(a, from0[m], from1[m])]++;
        cell0[at] = from0[m];
        cell1[at] = from1[m];
        offset0[at] = all[m];
        offset1[at] = all[n + m];
        order[at] = (int32_t)m;
    }
}

/* The points as the places hold them: sorted, where they are. */
static void EC_NU(view)(const ec_nufft_args *a, const char *places, EC_NU(points) * p)
{
    size_t n = (size_t)a->points, sorted = a->bins > 0 ? 2 * n : 0;
    const int32_t *cell = (const int32_t *)(places + a->at_cell) + sorted;
    const EC_REAL *offset = (const EC_REAL *)(places + a->at_offset) + sorted;

    p->order = a->bins > 0 ? (const int32_t *)(places + a->at_bins) + a->bins + 1 : NULL;
    for (int32_t d = 0; d < a->dim; d++) {
        p->cell[d] = cell + (size_t)d * n;
        p->offset[d] = offset + (size_t)d * n;
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

/* Transposes EC_NU_QUAD vectors of 16 bytes: perfect shuffles of the first half with the second. */
static inline void EC_NU(transpose)(EC_NU(quad) v[EC_NU_QUAD])
{
    for (int stage = 1; stage < EC_NU_QUAD; stage *= 2) {
        EC_NU(quad) t[EC_NU_QUAD];
        for (int i = 0; i < EC_NU_QUAD / 2; i++) {
            EC_NU(quad) x = v[i], y = v[i + EC_NU_QUAD / 2];
            t[2 * i] = EC_NU_LOW(x, y);
            t[2 * i + 1] = EC_NU_HIGH(x, y);
        }
        for (int i = 0; i < EC_NU_QUAD; i++)
            v[i] = t[i];
    }
}

static inline EC_NU(quad) EC_NU(load)(const EC_REAL *from)
{
    EC_NU(quad) v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void EC_NU(store)(EC_REAL *to, EC_NU(quad) v)
{
    memcpy(to, &v, sizeof v);
}

/* Where mode i of the inner axis lies among the outputs of the FFT. */
static inline int32_t EC_NU(inner_output)(const ec_nufft_args *a, int32_t i)
{
    int32_t k = i + a->axis[1].first;
    return k < 0 ? k + a->fft[1].n : k;
}

/* One mode of one lane, and EC_NU_QUAD / 2 modes of EC_NU_QUAD lanes, from the lanes (type 1). */
static inline void EC_NU(mode_out)(const EC_NU(work) * w, int32_t k, int32_t lane, EC_REAL outer,
                                   EC_REAL inner, EC_REAL *mode)
{
    mode[0] = outer * inner * w->lanes[0][k * EC_NU_LANES + lane];
    mode[1] = outer * inner * w->lanes[1][k * EC_NU_LANES + lane];
}

static inline void EC_NU(modes_out_quad)(const ec_nufft_args *a, const EC_NU(work) * w, int32_t i,
                                         int32_t lane, const EC_REAL *outer, EC_REAL *out)
{
    const EC_REAL *inner = (const EC_REAL *)a->axis[1].weight;
    EC_NU(quad) v[EC_NU_QUAD], weight = EC_NU(load)(outer + lane);

    for (int q = 0; q < EC_NU_QUAD / 2; q++) {
        int32_t at = EC_NU(inner_output)(a, i + q) * EC_NU_LANES + lane;
        v[2 * q] = weight * inner[i + q] * EC_NU(load)(w->lanes[0] + at);
        v[2 * q + 1] = weight * inner[i + q] * EC_NU(load)(w->lanes[1] + at);
    }
    EC_NU(transpose)(v);
    for (int q = 0; q < EC_NU_QUAD; q++)
        EC_NU(store)(out + 2 * ((size_t)(lane + q) * (size_t)a->axis[1].modes + (size_t)i), v[q]);
}

/* The same into the lanes (type 2). */
static inline void EC_NU(mode_in)(const EC_NU(work) * w, int32_t place, int32_t lane, EC_REAL outer,
                                  EC_REAL inner, const EC_REAL *mode)
{
    w->lanes[0][place * EC_NU_LANES + lane] = outer * inner * mode[0];
    w->lanes[1][place * EC_NU_LANES + lane] = outer * inner * mode[1];
}

static inline void EC_NU(modes_in_quad)(const ec_nufft_args *a, const EC_NU(work) * w, int32_t i,
                                        int32_t lane, const EC_REAL *outer, const EC_REAL *in)
{
    const EC_REAL *inner = (const EC_REAL *)a->axis[1].weight;
    EC_NU(quad) v[EC_NU_QUAD], weight = EC_NU(load)(outer + lane);

    for (int q = 0; q < EC_NU_QUAD; q++)
        v[q] = EC_NU(load)(in + 2 * ((size_t)(lane + q) * (size_t)a->axis[1].modes + (size_t)i));
    EC_NU(transpose)(v);
    for (int q = 0; q < EC_NU_QUAD / 2; q++) {
        int32_t at = a->fft[1].place[EC_NU(inner_output)(a, i + q)] * EC_NU_LANES + lane;
        EC_NU(store)(w->lanes[0] + at, weight * inner[i + q] * v[2 * q]);
        EC_NU(store)(w->lanes[1] + at, weight * inner[i + q] * v[2 * q + 1]);
    }
}

/* Modes of a block of rows in one dimension: lanes are neighbouring modes. */
static void EC_NU(line_modes)(const ec_nufft_args *a, const EC_NU(work) * w, int32_t row,
                              int32_t count, const EC_REAL *in, EC_REAL *out)
{
    const EC_REAL *weight = (const EC_REAL *)a->axis[0].weight;

    for (int32_t k = 0; k < a->fft[1].n; k++)
        for (int32_t l = 0; l < count; l++) {
            int32_t mode = EC_NU(line_mode)(a, row + l, k);
            if (mode < 0)
                continue;
            if (out)
                EC_NU(mode_out)(w, k, l, weight[mode], (EC_REAL)1, out + 2 * mode);
            else
                EC_NU(mode_in)
            (w, a->fft[1].place[k], l, weight[mode], (EC_REAL)1, in + 2 * mode);
        }
}

/* Modes of a block of `count` rows from row on, in two dimensions. Whole groups of lanes and modes
 * go through transposes, the rest one by one. */
static void EC_NU(block_modes)(const ec_nufft_args *a, const EC_NU(work) * w, int32_t row,
                               int32_t count, const EC_REAL *in, EC_REAL *out)
{
    const EC_REAL *outer = (const EC_REAL *)a->axis[0].weight + row;
    const EC_REAL *inner = (const EC_REAL *)a->axis[1].weight;
    int32_t modes = a->axis[1].modes, step = EC_NU_QUAD / 2;
    int32_t lanes = count / EC_NU_QUAD * EC_NU_QUAD, whole = modes / step * step;

    in = in ? in + 2 * (size_t)row * (size_t)modes : NULL;
    out = out ? out + 2 * (size_t)row * (size_t)modes : NULL;
    for (int32_t tile = 0; tile < whole; tile += EC_NUFFT_TILE) {
        int32_t end = tile + EC_NUFFT_TILE < whole ? tile + EC_NUFFT_TILE : whole;
        for (int32_t l = 0; l < lanes; l += EC_NU_QUAD)
            for (int32_t i = tile; i < end; i += step)
                if (out)
                    EC_NU(modes_out_quad)(a, w, i, l, outer, out);
                else
                    EC_NU(modes_in_quad)(a, w, i, l, outer, in);
    }
    for (int32_t i = 0; i < modes; i++)
        for (int32_t l = i < whole ? lanes : 0; l < count; l++) {
            size_t at = 2 * ((size_t)l * (size_t)modes + (size_t)i);
            int32_t k = EC_NU(inner_output)(a, i);
            if (out)
                EC_NU(mode_out)(w, k, l, outer[l], inner[i], out + at);
            else
                EC_NU(mode_in)(w, a->fft[1].place[k], l, outer[l], inner[i], in + at);
        }
}

/* Columns from `first` to `end` of EC_NU_QUAD rows of the grid, into the lanes from `lane` on. Rows
 * behind `last` are not of use: it is taken again. */
static inline void EC_NU(tile_in)(const ec_nufft_args *a, const EC_REAL *grid, int32_t last,
                                  int32_t first, int32_t end, int32_t lane, EC_REAL *to)
{
    const int32_t *place = a->fft[1].place;
    const EC_REAL *from[EC_NU_QUAD];
    int32_t whole = end - (end - first) % EC_NU_QUAD;

    for (int q = 0; q < EC_NU_QUAD; q++)
        from[q] = grid + (size_t)(lane + q < last ? lane + q : last) * a->pitch;
    to += lane;
    for (int32_t column = first; column < whole; column += EC_NU_QUAD) {
        EC_NU(quad) v[EC_NU_QUAD];
        for (int q = 0; q < EC_NU_QUAD; q++)
            v[q] = EC_NU(load)(from[q] + column);
        EC_NU(transpose)(v);
        for (int q = 0; q < EC_NU_QUAD; q++)
            EC_NU(store)(to + (size_t)place[column + q] * EC_NU_LANES, v[q]);
    }
    for (int32_t column = whole; column < end; column++)
        for (int q = 0; q < EC_NU_QUAD; q++)
            to[(size_t)place[column] * EC_NU_LANES + (size_t)q] = from[q][column];
}

/* The other way: `rows` rows from the lanes. */
static inline void EC_NU(tile_out)(const ec_nufft_args *a, EC_REAL *grid, int32_t rows,
                                   int32_t first, int32_t end, int32_t lane, const EC_REAL *from)
{
    EC_REAL *to = grid + (size_t)lane * a->pitch;
    int32_t lanes = rows - lane < EC_NU_QUAD ? rows - lane : EC_NU_QUAD;
    int32_t whole = end - (end - first) % EC_NU_QUAD;

    from += lane;
    for (int32_t column = first; column < whole; column += EC_NU_QUAD) {
        EC_NU(quad) v[EC_NU_QUAD];
        for (int q = 0; q < EC_NU_QUAD; q++)
            v[q] = EC_NU(load)(from + (size_t)(column + q) * EC_NU_LANES);
        EC_NU(transpose)(v);
        for (int q = 0; q < lanes; q++)
            EC_NU(store)(to + (size_t)q * a->pitch + column, v[q]);
    }
    for (int32_t column = whole; column < end; column++)
        for (int q = 0; q < lanes; q++)
            to[(size_t)q * a->pitch + (size_t)column] = from[column * EC_NU_LANES + q];
}

/* `rows` rows of the grid from `row` on into the lanes or, out, from them: in tiles, so that the
 * lines of either side are used whole while they are in the cache. */
static void EC_NU(turn_rows)(const ec_nufft_args *a, const EC_NU(work) * w, bool out, int32_t row,
                             int32_t rows)
{
    int32_t n = a->fft[1].n, lanes = out ? rows : EC_NU_LANES;

    for (int part = 0; part < 2; part++) {
        EC_REAL *grid = w->grid[part] + (size_t)row * a->pitch;
        for (int32_t first = 0; first < n; first += EC_NUFFT_TILE) {
            int32_t end = first + EC_NUFFT_TILE < n ? first + EC_NUFFT_TILE : n;
            for (int32_t lane = 0; lane < lanes; lane += EC_NU_QUAD)
                if (out)
                    EC_NU(tile_out)(a, grid, rows, first, end, lane, w->lanes[part]);
                else
                    EC_NU(tile_in)(a, grid, rows - 1, first, end, lane, w->lanes[part]);
        }
    }
}

static void EC_NU(columns_forward)(const ec_nufft_args *a, const EC_NU(work) * w, EC_REAL *out)
{
    int32_t kept = EC_NU(kept)(a);

    for (int32_t row = 0; row < kept; row += EC_NU_LANES) {
        int32_t count = kept - row < EC_NU_LANES ? kept - row : EC_NU_LANES;
        EC_NU(turn_rows)(a, w, false, row, count);
        EC_NU(fft)(&a->fft[1], w->lanes[a->sign > 0], w->lanes[a->sign < 0]);
        if (a->dim == 2)
            EC_NU(block_modes)(a, w, row, count, NULL, out);
        else
            EC_NU(line_modes)(a, w, row, count, NULL, out);
    }
}

static void EC_NU(columns_backward)(const ec_nufft_args *a, const EC_NU(work) * w,
                                    const EC_REAL *in)
{
    int32_t kept = EC_NU(kept)(a);

    for (int32_t row = 0; row < kept; row += EC_NU_LANES) {
        int32_t count = kept - row < EC_NU_LANES ? kept - row : EC_NU_LANES;
        for (int part = 0; part < 2; part++)
            memset(w->lanes[part], 0, (size_t)a->fft[1].n * EC_NUFFT_LANE_BYTES);
        if (a->dim == 2)
            EC_NU(block_modes)(a, w, row, count, in, NULL);
        else
            EC_NU(line_modes)(a, w, row, count, in, NULL);
        EC_NU(fft)(&a->fft[1], w->lanes[a->sign > 0], w->lanes[a->sign < 0]);
        EC_NU(turn_rows)(a, w, true, row, count);
    }
}

/* ---- the sums themselves ---- */

#include "nufft_direct.h"

/* ---- one candidate ---- */

static bool EC_NU(are_finite)(const double *x, int32_t n)
{
    int32_t bad = 0;

#pragma omp simd reduction(| : bad)
    for (int32_t m = 0; m < n; m++)
        bad |= x[m] - x[m] != 0.0;
    return !bad;
}

static size_t EC_NU(count_modes)(const ec_nufft_args *a)
{
    return (size_t)a->axis[0].modes * (size_t)(a->dim == 2 ? a->axis[1].modes : 1);
}

/* Fills the places of a transform's points; false: a point is not finite. */
static bool EC_NU(place)(const ec_nufft_args *a, const double *const *point, char *places)
{
    int32_t *cell = (int32_t *)(places + a->at_cell);
    EC_REAL *offset = (EC_REAL *)(places + a->at_offset);
    uint8_t *used = (uint8_t *)(places + a->at_used);
    size_t n = (size_t)a->points;

    for (int32_t d = 0; d < a->dim; d++)
        if (!EC_NU(locate)(a, point[d], d, cell + (size_t)d * n, offset + (size_t)d * n))
            return false;
    if (a->dim == 2)
        EC_NU(mark)(a, cell + n, used + a->used_bytes, used);
    if (a->bins > 0)
        EC_NU(sort)(a, places);
    return true;
}

/* What all vectors of a candidate share. */
static void EC_NU(prepare)(const ec_nufft_args *a, const char *places, char *memory,
                           EC_NU(points) * points, EC_NU(work) * work)
{
    EC_REAL *plane = (EC_REAL *)(memory + a->at_grid);
    EC_REAL *lanes = (EC_REAL *)(memory + a->at_lanes);
    int32_t longest = a->fft[0].n > a->fft[1].n ? a->fft[0].n : a->fft[1].n;

    *work = (EC_NU(work)){{plane + a->origin, plane + a->plane + a->origin},
                          {lanes, lanes + (size_t)longest * EC_NU_LANES},
                          a->dim == 2 ? (const uint8_t *)(places + a->at_used) : NULL};
    EC_NU(view)(a, places, points);
    if (a->type == 2) /* cells behind a window are read, with the weight 0 */
        memset(plane, 0, 2 * a->plane * sizeof(EC_REAL));
}

static void EC_NU(spread_vector)(const ec_nufft_args *a, const EC_NU(points) * points,
                                 const EC_NU(work) * work, const EC_REAL *in, EC_REAL *out)
{
    EC_REAL *plane = work->grid[0] - a->origin;

    memset(plane, 0, 2 * a->plane * sizeof(EC_REAL));
    EC_NU(spread)(a, points, in, work->grid[0], work->grid[1]);
    EC_NU(margins)(a, true, plane);
    EC_NU(margins)(a, true, plane + a->plane);
    EC_NU(rows_forward)(a, work);
    EC_NU(columns_forward)(a, work, out);
}

static void EC_NU(interpolate_vector)(const ec_nufft_args *a, const EC_NU(points) * points,
                                      const EC_NU(work) * work, const EC_REAL *in, EC_REAL *out)
{
    EC_REAL *plane = work->grid[0] - a->origin;

    EC_NU(columns_backward)(a, work, in);
    EC_NU(rows_backward)(a, work);
    EC_NU(margins)(a, false, plane);
    EC_NU(margins)(a, false, plane + a->plane);
    EC_NU(interpolate)(a, points, work->grid[0], work->grid[1], out);
}

/* Types 1 and 2 by a grid. */
static bool EC_NU(by_grid)(const ec_nufft_args *a, const ec_nufft_io *io, char *memory)
{
    size_t modes = EC_NU(count_modes)(a), n = (size_t)a->points;
    EC_NU(points) points;
    EC_NU(work) work;

    if (!EC_NU(place)(a, io->point, memory + a->at_places))
        return false;
    EC_NU(prepare)(a, memory + a->at_places, memory, &points, &work);
    for (int32_t v = 0; v < io->vectors; v++) {
        const EC_REAL *in = (const EC_REAL *)io->in + 2 * (size_t)v * (a->type == 1 ? n : modes);
        EC_REAL *out = (EC_REAL *)io->out + 2 * (size_t)v * (a->type == 1 ? modes : n);
        if (a->type == 1)
            EC_NU(spread_vector)(a, &points, &work, in, out);
        else
            EC_NU(interpolate_vector)(a, &points, &work, in, out);
    }
    return true;
}

static bool EC_NU(by_sums)(const ec_nufft_args *a, const ec_nufft_io *io, char *memory)
{
    size_t modes = EC_NU(count_modes)(a), n = (size_t)a->points;

    for (int32_t d = 0; d < a->dim; d++)
        if (!EC_NU(are_finite)(io->point[d], a->points))
            return false;
    for (int32_t v = 0; v < io->vectors; v++) {
        const EC_REAL *in = (const EC_REAL *)io->in + 2 * (size_t)v * (a->type == 1 ? n : modes);
        EC_REAL *out = (EC_REAL *)io->out + 2 * (size_t)v * (a->type == 1 ? modes : n);
        if (a->type == 1)
            EC_NU(direct_type1)(a, io, (EC_REAL *)memory, in, out);
        else
            EC_NU(direct_type2)(a, io, (EC_REAL *)memory, in, out);
    }
    return true;
}

/* ---- type 3 ---- */

/* Values less the middle of their range, or less 0 where `at_zero`; false where they are not finite
 * or wider than the span. */
static bool EC_NU(centre)(const double *x, int32_t n, double span, bool at_zero, double *centred,
                          double *middle)
{
    double lo = x[0], hi = x[0];

    if (!EC_NU(are_finite)(x, n))
        return false;
    for (int32_t m = 1; m < n; m++) {
        lo = x[m] < lo ? x[m] : lo;
        hi = x[m] > hi ? x[m] : hi;
    }
    *middle = at_zero ? 0.0 : lo + 0.5 * (hi - lo);
    double half = at_zero ? (hi > -lo ? hi : -lo) : 0.5 * (hi - lo);
    for (int32_t m = 0; m < n; m++)
        centred[m] = x[m] - *middle;
    return half <= span * (1.0 + 1e-9);
}

/* exp(2 pi j a b), the product in two words: centres may be thousands of turns. */
static inline void EC_NU(phasor)(double a, double b, double a2, double b2, EC_REAL *re, EC_REAL *im)
{
    double low, low2;
    double turns = ec_turns_reduce(ec_det_two_product(a, b, &low));
    turns += ec_turns_reduce(ec_det_two_product(a2, b2, &low2));
    EC_NU_SINCOS((EC_REAL)ec_turns_reduce(turns + (low + low2)), im, re);
}

/* 1 / transform of the window at t = turns. */
static inline double EC_NU(taper)(const ec_nufft_args *a, double t)
{
    double z = ec_fma(a->taper_scale * t, t, -1.0), sum = a->taper[0];

    for (int i = 1; i < EC_NUFFT_TAPER; i++)
        sum = ec_fma(sum, z, a->taper[i]);
    return sum;
}

typedef struct EC_NU(scattered) {
    char *points, *targets; /* the places of each */
    double *x[2], *s[2];    /* centred points and targets */
    double x_middle[2];
    double *s_middle;
    EC_REAL *turns;     /* of each point: the phase of the targets' middle */
    EC_REAL *factors;   /* of each target: the points' middle and the window */
    EC_REAL *strengths; /* of one vector, turned */
} EC_NU(scattered);

/* exp(2 pi j s x) = exp(2 pi j s' x') exp(2 pi j s_middle x') exp(2 pi j s x_middle): the last two */
static void EC_NU(make_turns)(const ec_nufft_args *a, const EC_NU(scattered) * p)
{
    const double *x = p->x[0], *y = p->x[a->dim - 1];
    double first = p->s_middle[0], second = a->dim == 2 ? p->s_middle[1] : 0.0;
    EC_REAL flip = a->sign < 0 ? (EC_REAL)-1 : (EC_REAL)1, *turns = p->turns;

#pragma omp simd
    for (int32_t m = 0; m < a->points; m++) {
        EC_REAL re, im;
        EC_NU(phasor)(first, x[m], second, y[m], &re, &im);
        turns[2 * m] = re;
        turns[2 * m + 1] = flip * im;
    }
}

static void EC_NU(make_factors)(const ec_nufft_args *a, const double *const *target,
                                const EC_NU(scattered) * p)
{
    const double *s = target[0], *t = target[a->dim - 1];
    double first = p->x_middle[0], second = a->dim == 2 ? p->x_middle[1] : 0.0;
    EC_REAL flip = a->sign < 0 ? (EC_REAL)-1 : (EC_REAL)1, *factors = p->factors;

#pragma omp simd
    for (int32_t k = 0; k < a->targets; k++) {
        EC_REAL re, im;
        EC_NU(phasor)(s[k], first, t[k], second, &re, &im);
        factors[2 * k] = re;
        factors[2 * k + 1] = flip * im;
    }
    for (int32_t d = a->regular != 0; d < a->dim && !a->direct; d++) {
        double h = 1.0 / a->cells[d], *centred = p->s[d];
#pragma omp simd
        for (int32_t k = 0; k < a->targets; k++) {
            centred[k] *= h; /* turns a cell */
            EC_REAL weight = (EC_REAL)EC_NU(taper)(a, centred[k]);
            factors[2 * k] *= weight;
            factors[2 * k + 1] *= weight;
        }
    }
}

/* to[i] = in[i] by[i], complex. */
static void EC_NU(multiply)(int32_t n, const EC_REAL *in, const EC_REAL *by, EC_REAL *to)
{
#pragma omp simd
    for (int32_t i = 0; i < n; i++) {
        EC_NU_TWIST(pr, pi, in[2 * i], in[2 * i + 1], by[2 * i], by[2 * i + 1]);
        to[2 * i] = pr;
        to[2 * i + 1] = pi;
    }
}

static void EC_NU(locate_centred)(const ec_nufft_args *a, int32_t d, const double *x, int32_t *cell,
                                  EC_REAL *offset)
{
    double shift = a->axis[d].modes / 2 - 0.5 * a->width;

#pragma omp simd
    for (int32_t m = 0; m < a->points; m++) {
        double at = x[m] * a->cells[d] + shift;
        int32_t below = (int32_t)at;
        int32_t first = below + (at > below);
        cell[m] = first;
        offset[m] = (EC_REAL)(2.0 * (first - at) - 1.0);
    }
}

/* Points -> their grid -> targets, one vector. */
static void EC_NU(through_grid)(const ec_nufft_args *a, const EC_NU(scattered) * p,
                                const EC_NU(points) * points, const EC_NU(points) * targets,
                                const EC_NU(work) * inner, char *memory, EC_REAL *out)
{
    EC_REAL *plane = (EC_REAL *)(memory + a->at_grid), *im = plane + a->plane;
    EC_REAL *modes = (EC_REAL *)(memory + a->at_modes);
    int32_t rows = a->dim == 2 ? a->axis[0].modes : 1, columns = a->axis[a->dim - 1].modes;

    memset(plane, 0, 2 * a->plane * sizeof(EC_REAL));
    EC_NU(spread)(a, points, p->strengths, plane + a->origin, im + a->origin);
    for (int32_t row = 0; row < rows; row++) {
        const EC_REAL *from = plane + a->origin + (size_t)row * a->pitch;
        EC_REAL *to = modes + 2 * (size_t)row * (size_t)columns;
#pragma omp simd
        for (int32_t column = 0; column < columns; column++) {
            to[2 * column] = from[column];
            to[2 * column + 1] = from[a->plane + (size_t)column];
        }
    }
    EC_NU(interpolate_vector)(a->inner, targets, inner, modes, out);
}

static void EC_NU(lay_out_scattered)(const ec_nufft_args *a, const ec_nufft_io *io, char *memory,
                                     EC_NU(scattered) * p)
{
    double *centred = (double *)(memory + a->at_centred);
    char *own = memory + a->at_places;

    p->targets = io->places ? (char *)io->places : own;
    p->points = io->moving ? own : p->targets;
    for (int32_t d = 0; d < a->dim; d++) {
        p->x[d] = centred + (size_t)d * (size_t)a->points;
        p->s[d] = centred + (size_t)a->dim * (size_t)a->points + (size_t)d * (size_t)a->targets;
        p->x_middle[d] = 0.0;
    }
    p->s_middle = (double *)(p->targets + a->at_middle);
    p->turns = (EC_REAL *)(p->points + a->at_turns);
    p->factors = (EC_REAL *)(p->targets + a->at_factors);
    p->strengths = (EC_REAL *)(memory + a->at_strengths);
}

/* Places of the points but for their turns; 0 or bits of EC_CANDIDATE_*. */
static uint8_t EC_NU(place_points)(const ec_nufft_args *a, const ec_nufft_io *io,
                                   EC_NU(scattered) * p)
{
    int32_t *cell = (int32_t *)(p->points + a->at_cell);
    EC_REAL *offset = (EC_REAL *)(p->points + a->at_offset);
    size_t n = (size_t)a->points;

    for (int32_t d = 0; d < a->dim; d++, cell += n, offset += n) {
        const double *x = io->point[d];
        if (a->regular && d == 0) { /* no turns of its own: targets along it begin at 0 */
            if (!EC_NU(locate)(a, x, 0, cell, offset))
                return EC_CANDIDATE_NOT_FINITE;
            memset(p->x[0], 0, n * sizeof(double));
            continue;
        }
        if (!EC_NU(centre)(x, a->points, a->span[d], io->moving, p->x[d], &p->x_middle[d]))
            return EC_NU(are_finite)(x, a->points) ? EC_CANDIDATE_OUT_OF_RANGE
                                                   : EC_CANDIDATE_NOT_FINITE;
        if (!a->direct)
            EC_NU(locate_centred)(a, d, p->x[d], cell, offset);
    }
    if (a->bins > 0)
        EC_NU(sort)(a, p->points);
    return EC_CANDIDATE_OK;
}

/* Targets of a regular plan line by line. */
static void EC_NU(by_lines)(const ec_nufft_args *a, const double *target, double *to)
{
    for (int32_t line = 0; line < a->lines; line++)
        for (int32_t t = 0; t < a->line_targets; t++)
            *to++ = target[(size_t)line * a->line_step + (size_t)t * a->target_step];
}

/* Places of the targets, for points about x_middle; 0 or bits of EC_CANDIDATE_*. */
static uint8_t EC_NU(place_targets)(const ec_nufft_args *a, const ec_nufft_io *io,
                                    EC_NU(scattered) * p)
{
    const double *target[2] = {io->target[0], io->target[1]};
    char *inner = p->targets + a->at_inner_places;

    if (a->regular) {
        EC_NU(by_lines)(a, io->target[1], p->s[0]);
        target[0] = target[1] = p->s[0];
        p->s_middle[0] = 0.0;
    }
    for (int32_t d = a->regular != 0; d < a->dim; d++)
        if (!EC_NU(centre)(target[d], a->targets, a->target_span[d], false, p->s[d],
                           &p->s_middle[d]))
            return EC_NU(are_finite)(target[d], a->targets) ? EC_CANDIDATE_OUT_OF_RANGE
                                                            : EC_CANDIDATE_NOT_FINITE;
    EC_NU(make_factors)(a, target, p);
    for (int32_t line = 0; line < a->lines; line++, inner += a->inner->place_bytes) {
        const double *s[2] = {p->s[1] + (size_t)line * (size_t)a->line_targets, NULL};
        EC_NU(place)(a->inner, s, inner);
    }
    if (!a->direct && !a->regular)
        EC_NU(place)(a->inner, (const double *const *)p->s, inner);
    return EC_CANDIDATE_OK;
}

/* `count` modes of the regular axis from `row` on, weighted for both transforms, from their rows of
 * the grid into the lanes of the lines' FFT. */
static void EC_NU(lines_in)(const ec_nufft_args *a, const EC_NU(work) * rows,
                            const EC_NU(work) * lines, int32_t row, int32_t count)
{
    const ec_nufft_args *in = a->inner;
    const EC_REAL *weight = (const EC_REAL *)in->axis[0].weight;
    const EC_REAL *mode = (const EC_REAL *)a->axis[0].weight + row;
    int32_t n = in->axis[0].modes, grid = in->fft[1].n, first = in->axis[0].first;
    EC_REAL level[EC_NU_LANES];

    for (int32_t l = 0; l < EC_NU_LANES; l++)
        level[l] = mode[l < count ? l : count - 1];
    for (int part = 0; part < 2; part++) {
        memset(lines->lanes[part], 0, (size_t)grid * EC_NUFFT_LANE_BYTES);
        for (int32_t lane = 0; lane < EC_NU_LANES; lane += EC_NU_QUAD) {
            EC_NU(quad) by = EC_NU(load)(level + lane);
            const EC_REAL *from[EC_NU_QUAD];
            EC_REAL *to = lines->lanes[part] + lane;
            for (int32_t q = 0; q < EC_NU_QUAD; q++) {
                int32_t l = lane + q < count ? lane + q : count - 1;
                from[q] = rows->grid[part] + (size_t)(row + l) * a->pitch;
            }
            /* columns behind the last one are in the pitch, and not stored */
            for (int32_t column = 0; column < n; column += EC_NU_QUAD) {
                EC_NU(quad) v[EC_NU_QUAD];
                for (int q = 0; q < EC_NU_QUAD; q++)
                    v[q] = EC_NU(load)(from[q] + column);
                EC_NU(transpose)(v);
                for (int32_t q = 0; q < EC_NU_QUAD && column + q < n; q++) {
                    int32_t k = column + q + first;
                    int32_t place = in->fft[1].place[k < 0 ? k + grid : k];
                    EC_NU(store)(to + (size_t)place * EC_NU_LANES, by * weight[column + q] * v[q]);
                }
            }
        }
    }
}

/* Interpolates at the targets of one line; their factors. */
static void EC_NU(line_out)(const ec_nufft_args *a, const EC_NU(scattered) * p,
                            const EC_NU(work) * lines, int32_t line, int32_t lane, EC_REAL *values)
{
    const ec_nufft_args *in = a->inner;
    int32_t before = in->width / 2, after = (in->width + 1) / 2;
    const char *places = p->targets + a->at_inner_places + (size_t)line * in->place_bytes;
    const EC_REAL *factor = p->factors + 2 * (size_t)line * (size_t)a->line_targets;
    EC_NU(points) targets = {.order = NULL};
    EC_REAL *row[2];

    for (int part = 0; part < 2; part++) {
        row[part] = lines->grid[part] + (size_t)lane * in->pitch;
        EC_NU(margin)(false, row[part], in->fft[1].n, before, after, 1, 1);
    }
    EC_NU(view)(in, places, &targets);
    EC_NU(interpolate)(in, &targets, row[0], row[1], values);
    EC_NU(multiply)(a->line_targets, values, factor, values);
}

/* `count` lines from `line` on to where the caller wants them: whole cache lines at a time. */
static void EC_NU(place_lines)(const ec_nufft_args *a, int32_t line, int32_t count,
                               const EC_REAL *values, EC_REAL *out)
{
    size_t n = (size_t)a->line_targets;

    out += 2 * (size_t)line * a->line_step;
    if (a->target_step == 1) {
        memcpy(out, values, 2 * (size_t)count * n * sizeof(EC_REAL));
        return;
    }
    for (size_t t = 0; t < n; t++, out += 2 * a->target_step)
        for (size_t l = 0; l < (size_t)count; l++)
            memcpy(out + 2 * l, values + 2 * (l * n + t), 2 * sizeof(EC_REAL));
}

/* Points -> their grid -> modes of the regular axis -> lines of targets, one vector. */
static void EC_NU(through_lines)(const ec_nufft_args *a, const EC_NU(scattered) * p,
                                 const EC_NU(points) * points, const EC_NU(work) * lines,
                                 char *memory, EC_REAL *out)
{
    EC_REAL *plane = (EC_REAL *)(memory + a->at_grid), *lanes = (EC_REAL *)(memory + a->at_lanes);
    EC_REAL *values = (EC_REAL *)(memory + a->at_line);
    int32_t before = a->width / 2, after = (a->width + 1) / 2;
    const EC_NU(work) rows = {{plane + a->origin, plane + a->plane + a->origin},
                              {lanes, lanes + (size_t)a->fft[0].n * EC_NU_LANES},
                              NULL};

    memset(plane, 0, 2 * a->plane * sizeof(EC_REAL));
    EC_NU(spread)(a, points, p->strengths, rows.grid[0], rows.grid[1]);
    for (int part = 0; part < 2; part++)
        EC_NU(margin)
    (true, rows.grid[part], a->axis[0].grid, before, after, a->pitch, (size_t)a->fft[1].n);
    EC_NU(rows_forward)(a, &rows);
    for (int32_t row = 0; row < a->lines; row += EC_NU_LANES) {
        int32_t count = a->lines - row < EC_NU_LANES ? a->lines - row : EC_NU_LANES;
        EC_NU(lines_in)(a, &rows, lines, row, count);
        EC_NU(fft)(&a->inner->fft[1], lines->lanes[a->sign > 0], lines->lanes[a->sign < 0]);
        EC_NU(turn_rows)(a->inner, lines, true, 0, count);
        for (int32_t l = 0; l < count; l++)
            EC_NU(line_out)
        (a, p, lines, row + l, l, values + 2 * (size_t)l * (size_t)a->line_targets);
        EC_NU(place_lines)(a, row, count, values, out);
    }
}

/* 0 or bits of EC_CANDIDATE_*. */
static uint8_t EC_NU(by_type3)(const ec_nufft_args *a, const ec_nufft_io *io, char *memory)
{
    bool fills = !io->places || io->vectors == 0;
    bool finds = !io->places || (io->vectors == 0) != (io->moving != 0);
    EC_NU(scattered) p;
    EC_NU(points) points = {.order = NULL}, targets = {.order = NULL};
    EC_NU(work) inner = {.used = NULL};
    uint8_t status = EC_CANDIDATE_OK;

    EC_NU(lay_out_scattered)(a, io, memory, &p);
    if (finds)
        status = EC_NU(place_points)(a, io, &p);
    if (fills)
        status |= EC_NU(place_targets)(a, io, &p);
    if (finds && status == EC_CANDIDATE_OK)
        EC_NU(make_turns)(a, &p);
    if (status != EC_CANDIDATE_OK || io->vectors == 0)
        return status;
    if (!a->direct) {
        EC_NU(view)(a, p.points, &points);
        EC_NU(prepare)
        (a->inner, p.targets + a->at_inner_places, memory + a->at_inner, &targets, &inner);
    }
    for (int32_t v = 0; v < io->vectors; v++) {
        const EC_REAL *in = (const EC_REAL *)io->in + 2 * (size_t)v * (size_t)a->points;
        EC_REAL *out = (EC_REAL *)io->out + 2 * (size_t)v * (size_t)a->targets;
        EC_NU(multiply)(a->points, in, p.turns, p.strengths);
        if (a->regular) {
            EC_NU(through_lines)(a, &p, &points, &inner, memory, out);
            continue;
        }
        if (a->direct)
            EC_NU(direct_type3)
        (a, (const double *const *)p.x, (const double *const *)p.s, p.strengths, out);
        else EC_NU(through_grid)(a, &p, &points, &targets, &inner, memory, out);
        EC_NU(multiply)(a->targets, out, p.factors, out);
    }
    return EC_CANDIDATE_OK;
}

/* The caller's axes as the plan has them: the regular one first. */
static ec_nufft_io EC_NU(regular_first)(const ec_nufft_args *a, const ec_nufft_io *io)
{
    ec_nufft_io turned = *io;

    if (a->regular == 2) {
        turned.point[0] = io->point[1];
        turned.point[1] = io->point[0];
        turned.target[1] = io->target[0];
    }
    return turned;
}

static uint8_t EC_NU(candidate)(const ec_nufft_args *a, const ec_nufft_io *io, void *workspace)
{
    uint8_t status = EC_CANDIDATE_OK;
    ec_nufft_args fewer;
    ec_nufft_io turned;

    if (io->points > 0 && io->points < a->points) {
        fewer = *a;
        fewer.points = io->points;
        a = &fewer;
    }
    if (a->regular) {
        turned = EC_NU(regular_first)(a, io);
        io = &turned;
    }
    if (a->type == 3)
        status = EC_NU(by_type3)(a, io, (char *)workspace);
    else if (!(a->direct ? EC_NU(by_sums)(a, io, (char *)workspace)
                         : EC_NU(by_grid)(a, io, (char *)workspace)))
        status = EC_CANDIDATE_NOT_FINITE;
    if (status != EC_CANDIDATE_OK) {
        size_t each = a->type == 1   ? EC_NU(count_modes)(a)
                      : a->type == 2 ? (size_t)a->points
                                     : (size_t)a->targets;
        for (size_t i = 0; i < 2 * each * (size_t)io->vectors; i++)
            ((EC_REAL *)io->out)[i] = (EC_REAL)NAN;
    }
    return status;
}

#undef EC_NU_TWIST
