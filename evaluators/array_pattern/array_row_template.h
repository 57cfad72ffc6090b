/* array_row_template.h: |F|^2 over a grid for one candidate on the CPU, for one real type.
 *
 * Included twice by array_rows.h, with EC_REAL, EC_ROW(name) and EC_ROW_SINCOS defined.
 *
 * direct: one sine and cosine a point and element, EC_ROW_BLOCK points in SIMD lanes.
 *
 * product: on a tensor grid exp(2 pi j (U + s) x) = exp(2 pi j U x) exp(2 pi j s x), so a row of
 * points about U is a matrix product of complex row weights W with cosines and sines of the
 * columns:
 *   F(U +- s) = (W.cos -+ Wi.sin terms): with rc = Re W . cos, rs = Re W . sin, ic, is alike,
 *   |F(U + s)|^2 = (rc - is)^2 + (ic + rs)^2,  |F(U - s)|^2 = (rc + is)^2 + (ic - rs)^2:
 * four multiply-adds an element give two points. The grid of a uniform cut of a line is a tensor
 * grid as well: blocks of 2 C points about their centres. With real weights |F(-d)| = |F(d)| and
 * only half of the rows is computed. Operations: 4 rows columns elements multiply-adds and
 * (rows + columns) elements sines and cosines; traffic: the row is written once.
 *
 * own: as direct, a vector sum of elements with fields of their own (array_own.h).
 *
 * nufft: elements as points and directions as modes of a non-uniform FFT (nufft.h), one for each
 * part and term of the expansion in z (ec_pattern_nufft).
 */

/* The point's |F|^2 with the element's gain, where it belongs in the row. */
static inline void EC_ROW(store)(const ec_pattern_grid *grid, float *row, int32_t i, EC_REAL power)
{
    if (!grid->gain)
        row[i] = (float)power;
    else
        row[i] = grid->gain[i] < 0.0f ? -1.0f : (float)(power * (EC_REAL)grid->gain[i]);
}

static inline void EC_ROW(direct)(const ec_pattern_args *args, const ec_pattern_elements *el,
                                  float *row)
{
    const ec_pattern_grid *grid = &args->grid;
    double done = 0.0;

    for (int32_t first = 0; first < grid->points; first += EC_ROW_BLOCK) {
        EC_REAL re[EC_ROW_BLOCK], im[EC_ROW_BLOCK];
        if (ec_pattern_over_after(args, (double)el->n * EC_ROW_BLOCK, &done))
            return;
        const double *u = grid->u + first, *v = grid->v + first, *w = grid->w + first;
        int32_t count = grid->points - first;
        count = count < EC_ROW_BLOCK ? count : EC_ROW_BLOCK;
        for (int l = 0; l < EC_ROW_BLOCK; l++)
            re[l] = im[l] = (EC_REAL)0;
        for (int32_t m = 0; m < el->n; m++) {
            double x = el->x[m], y = el->y[m], z = el->z[m], turn = el->turn[m];
            EC_REAL amplitude = (EC_REAL)el->amplitude[m];
#pragma omp simd
            for (int l = 0; l < EC_ROW_BLOCK; l++) {
                double t = ec_fma(x, u[l], ec_fma(y, v[l], ec_fma(z, w[l], turn)));
                EC_REAL s, c;
                EC_ROW_SINCOS((EC_REAL)ec_turns_reduce(t), &s, &c);
                re[l] += amplitude * c;
                im[l] += amplitude * s;
            }
        }
        for (int32_t l = 0; l < count; l++)
            EC_ROW(store)(grid, row, first + l, re[l] * re[l] + im[l] * im[l]);
    }
}

/* Fields of element m towards the block of points from `first`. */
static inline void EC_ROW(own_fields)(const ec_pattern_args *args, int32_t m, int32_t first,
                                      int32_t count, EC_REAL re[3][EC_ROW_BLOCK],
                                      EC_REAL im[3][EC_ROW_BLOCK])
{
    const ec_pattern_grid *grid = &args->grid;
    int32_t parts = args->own.parts;
    size_t stride = ec_round_up((size_t)grid->points, 64);

    for (int32_t p = 0; p < parts && args->own.field; p++) {
        const float *from =
            args->own.field + 2 * ((size_t)m * (size_t)parts + (size_t)p) * stride + first;
        for (int l = 0; l < EC_ROW_BLOCK; l++) {
            re[p][l] = (EC_REAL)from[l];
            im[p][l] = (EC_REAL)from[stride + (size_t)l];
        }
    }
    for (int32_t l = 0; l < EC_ROW_BLOCK && !args->own.field; l++) {
        int32_t i = first + (l < count ? l : count - 1);
        ec_direction d = {grid->u[i], grid->v[i], grid->w[i]};
        double unit[3];
        ec_c128 e[3];
        ec_gain_unit(&args->gain, d, unit);
        ec_own_field(&args->own, m, d, parts == 1 ? unit : NULL, e);
        for (int32_t p = 0; p < parts; p++) {
            re[p][l] = (EC_REAL)e[p].re;
            im[p][l] = (EC_REAL)e[p].im;
        }
    }
}

/* The direct sum of elements of their own. */
static inline void EC_ROW(own)(const ec_pattern_args *args, const ec_pattern_elements *el,
                               float *row)
{
    const ec_pattern_grid *grid = &args->grid;
    int32_t parts = args->own.parts;
    double done = 0.0;

    for (int32_t first = 0; first < grid->points; first += EC_ROW_BLOCK) {
        if (ec_pattern_over_after(args, 4.0 * el->n * EC_ROW_BLOCK, &done))
            return;
        EC_REAL re[3][EC_ROW_BLOCK] = {{0}}, im[3][EC_ROW_BLOCK] = {{0}};
        EC_REAL er[3][EC_ROW_BLOCK], ei[3][EC_ROW_BLOCK], s[EC_ROW_BLOCK], c[EC_ROW_BLOCK];
        const double *u = grid->u + first, *v = grid->v + first, *w = grid->w + first;
        int32_t count = grid->points - first;
        count = count < EC_ROW_BLOCK ? count : EC_ROW_BLOCK;
        for (int32_t m = 0; m < el->n; m++) {
            double x = el->x[m], y = el->y[m], z = el->z[m], turn = el->turn[m];
            EC_REAL amplitude = (EC_REAL)el->amplitude[m];
            EC_ROW(own_fields)(args, m, first, count, er, ei);
#pragma omp simd
            for (int l = 0; l < EC_ROW_BLOCK; l++) {
                double t = ec_fma(x, u[l], ec_fma(y, v[l], ec_fma(z, w[l], turn)));
                EC_ROW_SINCOS((EC_REAL)ec_turns_reduce(t), &s[l], &c[l]);
            }
            for (int32_t p = 0; p < parts; p++) {
#pragma omp simd
                for (int l = 0; l < EC_ROW_BLOCK; l++) {
                    re[p][l] += amplitude * (c[l] * er[p][l] - s[l] * ei[p][l]);
                    im[p][l] += amplitude * (c[l] * ei[p][l] + s[l] * er[p][l]);
                }
            }
        }
        for (int32_t l = 0; l < count; l++) {
            EC_REAL power = (EC_REAL)0;
            for (int32_t p = 0; p < parts; p++)
                power += re[p][l] * re[p][l] + im[p][l] * im[p][l];
            EC_ROW(store)(grid, row, first + l, power);
        }
    }
}

/* Row weights [rows][elements] and column cosines and sines [elements][padded]. */
static inline void EC_ROW(tables)(const ec_pattern_args *args, const ec_pattern_elements *el,
                                  int32_t stride, EC_REAL *wr, EC_REAL *wi, EC_REAL *cosines,
                                  EC_REAL *sines)
{
    const ec_pattern_product *product = &args->product;
    bool line = args->grid.topology == EC_PATTERN_CUT;
    const double *along = line ? el->x : el->y;

    for (int32_t r = 0; r < product->rows; r++) {
        double u = product->row_u[r], v = product->centre_v;
        EC_REAL *re = wr + (size_t)r * stride, *im = wi + (size_t)r * stride;
#pragma omp simd
        for (int32_t m = 0; m < el->n; m++) {
            double t = ec_fma(el->x[m], u, ec_fma(el->y[m], v, el->turn[m]));
            EC_REAL s, c, amplitude = (EC_REAL)el->amplitude[m];
            EC_ROW_SINCOS((EC_REAL)ec_turns_reduce(t), &s, &c);
            re[m] = amplitude * c;
            im[m] = amplitude * s;
        }
        for (int32_t m = el->n; m < stride; m++)
            re[m] = im[m] = (EC_REAL)0;
    }
    for (int32_t m = 0; m < stride; m++) {
        double x = m < el->n ? along[m] : 0.0;
        EC_REAL *c = cosines + (size_t)m * product->padded;
        EC_REAL *s = sines + (size_t)m * product->padded;
#pragma omp simd
        for (int32_t b = 0; b < product->padded; b++)
            EC_ROW_SINCOS((EC_REAL)ec_turns_reduce(x * product->column_s[b]), &s[b], &c[b]);
    }
}

/* acc += W[0..stride) times the block's cosines and sines; four elements a pass keep the
 * accumulators' loads and stores below the multiply-adds. */
static inline void EC_ROW(multiply)(int32_t stride, int32_t padded, const EC_REAL *wr,
                                    const EC_REAL *wi, const EC_REAL *cosines, const EC_REAL *sines,
                                    EC_REAL acc[4][EC_ROW_BLOCK])
{
    EC_REAL *rc = acc[0], *rs = acc[1], *ic = acc[2], *is = acc[3];

    for (int32_t m = 0; m < stride; m += 4) {
        const EC_REAL *c0 = cosines + (size_t)m * padded, *c1 = c0 + padded, *c2 = c1 + padded,
                      *c3 = c2 + padded;
        const EC_REAL *s0 = sines + (size_t)m * padded, *s1 = s0 + padded, *s2 = s1 + padded,
                      *s3 = s2 + padded;
        EC_REAL r0 = wr[m], r1 = wr[m + 1], r2 = wr[m + 2], r3 = wr[m + 3];
        EC_REAL i0 = wi[m], i1 = wi[m + 1], i2 = wi[m + 2], i3 = wi[m + 3];
#pragma omp simd
        for (int l = 0; l < EC_ROW_BLOCK; l++) {
            rc[l] = EC_ROW_FMA(
                r3, c3[l],
                EC_ROW_FMA(r2, c2[l], EC_ROW_FMA(r1, c1[l], EC_ROW_FMA(r0, c0[l], rc[l]))));
            rs[l] = EC_ROW_FMA(
                r3, s3[l],
                EC_ROW_FMA(r2, s2[l], EC_ROW_FMA(r1, s1[l], EC_ROW_FMA(r0, s0[l], rs[l]))));
            ic[l] = EC_ROW_FMA(
                i3, c3[l],
                EC_ROW_FMA(i2, c2[l], EC_ROW_FMA(i1, c1[l], EC_ROW_FMA(i0, c0[l], ic[l]))));
            is[l] = EC_ROW_FMA(
                i3, s3[l],
                EC_ROW_FMA(i2, s2[l], EC_ROW_FMA(i1, s1[l], EC_ROW_FMA(i0, s0[l], is[l]))));
        }
    }
}

/* Places the two points of (row, column block) and, mirrored, their opposites. */
static inline void EC_ROW(place)(const ec_pattern_args *args, int32_t r, int32_t column,
                                 EC_REAL acc[4][EC_ROW_BLOCK], float *row)
{
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_product *product = &args->product;
    EC_REAL plus[EC_ROW_BLOCK], minus[EC_ROW_BLOCK];
    int32_t columns = product->columns, count = columns - column;

    count = count < EC_ROW_BLOCK ? count : EC_ROW_BLOCK;
#pragma omp simd
    for (int l = 0; l < EC_ROW_BLOCK; l++) {
        EC_REAL pr = acc[0][l] - acc[3][l], pi = acc[2][l] + acc[1][l];
        EC_REAL mr = acc[0][l] + acc[3][l], mi = acc[2][l] - acc[1][l];
        plus[l] = pr * pr + pi * pi;
        minus[l] = mr * mr + mi * mi;
    }
    int32_t up, down; /* grid index of the first column's two points; they part from there */
    if (grid->topology == EC_PATTERN_CUT) {
        up = product->first + r * 2 * columns + columns + column;
        down = up - 2 * column - 1;
    } else {
        int32_t start = (product->first + r) * grid->nb;
        up = start + (product->paired ? grid->nb - columns : 0) + column;
        down = start + columns - 1 - column;
    }
    int32_t last = grid->points - 1;
    for (int32_t l = 0; l < count; l++) {
        if (up + l <= last) {
            EC_ROW(store)(grid, row, up + l, plus[l]);
            if (product->mirrored)
                EC_ROW(store)(grid, row, last - up - l, plus[l]);
        }
        if (product->paired && down - l <= last) {
            EC_ROW(store)(grid, row, down - l, minus[l]);
            if (product->mirrored)
                EC_ROW(store)(grid, row, last - down + l, minus[l]);
        }
    }
}

static inline void EC_ROW(product)(const ec_pattern_args *args, const ec_pattern_elements *el,
                                   void *memory, float *row)
{
    const ec_pattern_product *product = &args->product;
    int32_t stride = (int32_t)ec_round_up((size_t)el->n, 8);
    EC_REAL *wr = (EC_REAL *)memory;
    EC_REAL *wi = wr + (size_t)product->rows * stride;
    EC_REAL *cosines = wi + (size_t)product->rows * stride;
    EC_REAL *sines = cosines + (size_t)stride * product->padded;

    double done = 0.0;

    EC_ROW(tables)(args, el, stride, wr, wi, cosines, sines);
    for (int32_t column = 0; column < product->columns; column += EC_ROW_BLOCK)
        for (int32_t r = 0; r < product->rows; r++) {
            EC_REAL acc[4][EC_ROW_BLOCK];
            if (ec_pattern_over_after(args, 0.25 * stride * EC_ROW_BLOCK, &done))
                return;
            memset(acc, 0, sizeof acc);
            EC_ROW(multiply)
            (stride, product->padded, wr + (size_t)r * stride, wi + (size_t)r * stride,
             cosines + column, sines + column, acc);
            EC_ROW(place)(args, r, column, acc, row);
        }
}

/* Points and strengths of a part's elements, [terms][part->count]; points: they are wanted. */
static inline void EC_ROW(strengths)(const ec_pattern_args *args, const ec_pattern_elements *el,
                                     const ec_pattern_part *part, bool points, char *memory)
{
    const ec_pattern_nufft *nufft = &args->nufft;
    const int32_t *order = nufft->order ? nufft->order + part->first : NULL;
    size_t n = (size_t)part->count;
    double *x = (double *)(memory + nufft->at_point), *y = x + nufft->longest;
    EC_REAL *zeta = (EC_REAL *)(memory + nufft->at_zeta);
    EC_REAL *strength = (EC_REAL *)(memory + nufft->at_strength);
    double per_half = nufft->terms > 1 ? 1.0 / part->depth : 0.0;
    double turn_u = nufft->turn[0], turn_v = nufft->turn[1];

    for (size_t first = 0; first < n; first += EC_ROW_BLOCK) {
        size_t count = n - first < EC_ROW_BLOCK ? n - first : EC_ROW_BLOCK, m[EC_ROW_BLOCK];
        EC_REAL re[EC_ROW_BLOCK], im[EC_ROW_BLOCK], share[EC_ROW_BLOCK];
        for (size_t l = 0; l < EC_ROW_BLOCK; l++) {
            size_t k = first + (l < count ? l : count - 1);
            m[l] = order ? (size_t)order[k] : k;
        }
#pragma omp simd
        for (size_t l = 0; l < EC_ROW_BLOCK; l++) {
            double dx = el->x[m[l]] - part->x, dy = el->y[m[l]] - part->y;
            double dz = el->z[m[l]] - part->z - part->slope_x * dx - part->slope_y * dy;
            double t =
                ec_fma(dx, turn_u, ec_fma(dy, turn_v, ec_fma(dz, nufft->w_c, el->turn[m[l]])));
            EC_REAL s, c, amplitude = (EC_REAL)el->amplitude[m[l]];
            EC_ROW_SINCOS((EC_REAL)ec_turns_reduce(t), &s, &c);
            re[l] = amplitude * c;
            im[l] = amplitude * s;
            /* a flat part has no depth but rounding errors, which the powers would blow up */
            double depth = dz * per_half;
            depth = depth > 1.0 ? 1.0 : depth;
            share[l] = (EC_REAL)(depth < -1.0 ? -1.0 : depth);
        }
        for (size_t l = 0; l < count; l++) {
            strength[2 * (first + l)] = re[l];
            strength[2 * (first + l) + 1] = im[l];
            zeta[first + l] = share[l];
        }
    }
    for (size_t k = 0; points && k < n; k++) {
        size_t m = order ? (size_t)order[k] : k;
        x[k] = (el->x[m] - part->x) * nufft->scale[0];
        y[k] = (el->y[m] - part->y) * nufft->scale[1];
    }
    for (int32_t p = 1; p < nufft->terms; p++) { /* b_p: zeta^p, or T_p by its recurrence */
        const EC_REAL *before = strength + 2 * (size_t)(p - 1) * n;
        const EC_REAL *older = p > 1 && !nufft->taylor ? before - 2 * n : NULL;
        EC_REAL *to = strength + 2 * (size_t)p * n;
#pragma omp simd
        for (size_t k = 0; k < n; k++)
            for (size_t i = 2 * k; i < 2 * k + 2; i++) {
                EC_REAL next = zeta[k] * before[i];
                to[i] = older ? (EC_REAL)2 * next - older[i] : next;
            }
    }
}

/* c_p of the directions from .. from + count for a part: from the planned table, by powers, or by
 * cubic interpolation of the curve (even or odd as p). */
static inline void EC_ROW(factors)(const ec_pattern_args *args, const ec_pattern_part *part,
                                   int32_t p, size_t from, size_t count,
                                   EC_REAL factor[EC_ROW_BLOCK])
{
    const ec_pattern_nufft *nufft = &args->nufft;
    const double *w = args->grid.w + from;
    double scale = EC_TURN * part->depth;

    if (nufft->factor) {
        const EC_REAL *list = (const EC_REAL *)nufft->factor;
        for (size_t l = 0; l < count; l++)
            factor[l] = list[(size_t)p * (size_t)args->grid.points + from + l];
    } else if (nufft->taylor || nufft->terms == 1) {
        double per = 1.0;
        for (int32_t k = 2; k <= p; k++)
            per /= k;
        for (size_t l = 0; l < count; l++) {
            double y = scale * (w[l] - nufft->w_c), power = per;
            for (int32_t k = 0; k < p; k++)
                power *= y;
            factor[l] = (EC_REAL)power;
        }
    } else {
        const double *curve = nufft->curve + 2 * (size_t)p * (size_t)nufft->knots;
        for (size_t l = 0; l < count; l++) {
            double y = scale * (w[l] - nufft->w_c), at = fabs(y) * nufft->per_knot;
            int32_t k = (int32_t)at, last = nufft->knots - 2;
            k = k > last ? last : k;
            double t = at - k, r = 1.0 - t;
            const double *knot = curve + 2 * (size_t)k;
            double value = r * r * ((1.0 + 2.0 * t) * knot[0] + t * knot[1]) +
                           t * t * ((3.0 - 2.0 * t) * knot[2] - r * knot[3]);
            factor[l] = (EC_REAL)(p % 2 && y < 0.0 ? -value : value);
        }
    }
}

/* The part's terms, added up and turned to its place, onto the field; `turned`: the place matters
 * (a pattern's phase, or other parts). */
static inline void EC_ROW(accumulate)(const ec_pattern_args *args, const ec_pattern_part *part,
                                      bool first, bool turned, char *memory)
{
    const ec_pattern_nufft *nufft = &args->nufft;
    const ec_pattern_grid *grid = &args->grid;
    size_t points = (size_t)grid->points;
    const EC_REAL *term = (const EC_REAL *)(memory + nufft->at_term);
    EC_REAL *field = (EC_REAL *)(memory + nufft->at_field);

    for (size_t from = 0; from < points; from += EC_ROW_BLOCK) {
        EC_REAL re[EC_ROW_BLOCK], im[EC_ROW_BLOCK];
        size_t count = points - from < EC_ROW_BLOCK ? points - from : EC_ROW_BLOCK;
        EC_REAL factor[EC_ROW_BLOCK];
        EC_ROW(factors)(args, part, 0, from, count, factor);
        for (size_t l = 0; l < count; l++) {
            re[l] = factor[l] * term[2 * (from + l)];
            im[l] = factor[l] * term[2 * (from + l) + 1];
        }
        for (int32_t p = 1; p < nufft->terms; p++) { /* j^p */
            const EC_REAL *more = term + 2 * ((size_t)p * points + from);
            EC_ROW(factors)(args, part, p, from, count, factor);
            EC_REAL sign = (EC_REAL)(p & 2 ? -1 : 1);
            EC_REAL even = p & 1 ? (EC_REAL)0 : sign, odd = p & 1 ? sign : (EC_REAL)0;
            for (size_t l = 0; l < count; l++) {
                EC_REAL r = factor[l] * more[2 * l], i = factor[l] * more[2 * l + 1];
                re[l] += even * r - odd * i;
                im[l] += even * i + odd * r;
            }
        }
        for (size_t l = 0; turned && l < count; l++) {
            size_t i = from + l;
            double t = part->x * grid->u[i] + part->y * grid->v[i] + part->z * grid->w[i];
            EC_REAL s, c, r = re[l];
            EC_ROW_SINCOS((EC_REAL)ec_turns_reduce(t), &s, &c);
            re[l] = r * c - im[l] * s;
            im[l] = r * s + im[l] * c;
        }
        for (size_t l = 0; l < count; l++) {
            size_t at = 2 * (from + l);
            field[at] = first ? re[l] : field[at] + re[l];
            field[at + 1] = first ? im[l] : field[at + 1] + im[l];
        }
    }
}

/* The pattern without the element factor, [points] complex, in memory + at_field. */
static inline void EC_ROW(field)(const ec_pattern_args *args, const ec_pattern_elements *el,
                                 bool phase, char *memory)
{
    const ec_pattern_nufft *nufft = &args->nufft;
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_part whole = {0, el->n, 0.0, 0.0, nufft->z_c, 0.0, 0.0, nufft->z_half};
    size_t points = (size_t)grid->points;
    double *x = (double *)(memory + nufft->at_point), *y = x + nufft->longest;
    double *u = (double *)(memory + nufft->at_target), *v = u + points;

    for (int32_t k = 0; k < nufft->parts || k == 0; k++) {
        const ec_pattern_part *part = nufft->parts ? &nufft->part[k] : &whole;
        if (k > 0 && ec_pattern_over(args))
            return;
        EC_ROW(strengths)(args, el, part, !nufft->places || nufft->moving, memory);
        for (size_t i = 0; nufft->tilt && !nufft->places && i < points; i++) {
            u[i] = ec_fma(part->slope_x, grid->w[i], grid->u[i]);
            v[i] = ec_fma(part->slope_y, grid->w[i], grid->v[i]);
        }
        ec_nufft_io io = {.point = {x, y},
                          .target = {u, v},
                          .in = memory + nufft->at_strength,
                          .out = memory + nufft->at_term,
                          .vectors = nufft->terms,
                          .points = part->count};
        io.moving = nufft->places && nufft->moving;
        if (nufft->places)
            io.places = nufft->places + (size_t)k * nufft->plan->place_bytes;
        nufft->plan->function(nufft->plan, &io, memory + nufft->at_work);
        EC_ROW(accumulate)(args, part, k == 0, phase || nufft->parts > 1, memory);
    }
}

static inline void EC_ROW(nufft)(const ec_pattern_args *args, const ec_pattern_elements *el,
                                 char *memory, float *row)
{
    const EC_REAL *field = (const EC_REAL *)(memory + args->nufft.at_field);

    EC_ROW(field)(args, el, false, memory);
    for (size_t i = 0; i < (size_t)args->grid.points; i++) {
        EC_REAL re = field[2 * i], im = field[2 * i + 1];
        EC_ROW(store)(&args->grid, row, (int32_t)i, re * re + im * im);
    }
}
