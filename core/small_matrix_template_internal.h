/* small_matrix_template_internal.h: the arithmetic of small_matrix.h for one real type, C17 and CUDA.
 *
 * Included twice by small_matrix_kernels.h, with EC_REAL, EC_SM(name) and EC_SM_LANES defined, and
 * EC_SM_FMA, EC_SM_EPS (2^-24 or 2^-53), EC_SM_TINY (smallest normal number), EC_SM_SQRT (rounded
 * correctly, of any number >= 0), EC_SM_ROUGH_SQRT (of normal numbers), EC_SM_RCP, EC_SM_ROUGH_RCP,
 * EC_SM_BITS. All of them are undefined at its end.
 *
 * EC_SM_LANES matrices are worked on together (SIMD lanes on the CPU, 1 on the GPU); number e of a
 * vector or matrix of lane l lies at p[e * stride + l]. A matrix is held as X with m rows and
 * n <= m columns: H, or its transpose where H is wider than high, which changes neither singular
 * values nor capacity. Element (i, j) of X has its parts at 2 (j m + i) and the number after it.
 */

#define EC_SM_EACH(l) for (int l = 0; l < EC_SM_LANES; l++)

/* ---- one rotation ---------------------------------------------------------------------------- */

/* Of the columns x and y in a Jacobi sweep. The true columns are sqrt(dx) X and sqrt(dy) Y with
 * squared norms a and b, and g = X^H Y. With h = b - a and the true inner product g',
 * t = 2 |g'| sgn(h) / (|h| + sqrt(h^2 + 4 |g'|^2)), |t| <= 1, is the tangent, and
 *     X := X - to_x Y,  Y := Y + to_y X   (both from the old ones)
 * makes them orthogonal; the cosine goes into dx and dy. It is found from the tangent as it is, so a
 * rough one turns a little too far or not far enough, but keeps norms. */
typedef struct EC_SM(turn) {
    EC_REAL to_x_re, to_x_im, to_y_re, to_y_im;
    EC_REAL shrink; /* of dx and dy */
    EC_REAL shift;  /* of squared norm, from x to y */
    EC_REAL moved;  /* 1: by more than rounding, another sweep is needed; else 0 */
} EC_SM(turn);

EC_FN EC_SM(turn) EC_SM(find_turn)(EC_REAL a, EC_REAL b, EC_REAL dx, EC_REAL dy, EC_REAL gr,
                                   EC_REAL gi, EC_REAL live)
{
    /* columns this orthogonal stay; a sweep whose products of tangent and cosine are all below the
     * second limit leaves cosines of that order, even among equal singular values */
    const EC_REAL skip = (EC_REAL)2 * EC_SM_EPS, still = (EC_REAL)8 * EC_SM_EPS;
    EC_SM(turn) turn;
    EC_REAL g2 = dx * dy * EC_SM_FMA(gr, gr, gi * gi), ab = a * b, h = b - a;
    EC_REAL square = EC_SM_FMA(h, h, (EC_REAL)4 * g2);
    EC_REAL size =
        (h < (EC_REAL)0 ? -h : h) + EC_SM_ROUGH_SQRT(square > EC_SM_TINY ? square : EC_SM_TINY);
    EC_REAL part = (h < (EC_REAL)0 ? (EC_REAL)-2 : (EC_REAL)2) * EC_SM_ROUGH_RCP(size);

    part = g2 * live > skip * skip * ab ? part : (EC_REAL)0;
    turn.shift = g2 * part;
    turn.shrink = EC_SM_RCP(EC_SM_FMA(turn.shift, part, (EC_REAL)1));
    turn.to_x_re = gr * (dy * part);
    turn.to_x_im = -gi * (dy * part);
    turn.to_y_re = gr * (dx * part);
    turn.to_y_im = gi * (dx * part);
    turn.moved = turn.shift * turn.shift > still * still * ab ? (EC_REAL)1 : (EC_REAL)0;
    return turn;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* A batch's matrix `y` (samples times matrices of a lane) of lanes lane0 ..., scaled by a power of
 * two to a largest part in [1, 2): X = H / unit. Matrices that are not finite become zero and bad. */
EC_FN void EC_SM(load)(const ec_small_matrix_work *w, size_t lane0, size_t y, EC_REAL *x,
                       size_t stride, double *unit, bool *bad)
{
    double re[EC_SM_LANES], im[EC_SM_LANES], peak[EC_SM_LANES], scale[EC_SM_LANES];
    int32_t elements = w->rows * w->cols, wide = w->rows < w->cols;
    int32_t m = wide ? w->cols : w->rows;

    EC_SM_EACH(l) peak[l] = 0.0;
    for (int32_t e = 0; e < elements; e++) {
        ec_small_matrix_read(&w->matrix, w, lane0, y, e, EC_SM_LANES, re, im);
        EC_SM_EACH(l)
        {
            double r = fabs(re[l]), i = fabs(im[l]);
            peak[l] = ec_small_matrix_larger(ec_small_matrix_larger(peak[l], r), i);
        }
    }
    EC_SM_EACH(l)
    {
        bad[l] = !(peak[l] <= 1.7976931348623157e308);
        unit[l] = ec_small_matrix_unit(bad[l] ? 1.0 : peak[l]);
        scale[l] = bad[l] ? 0.0 : 1.0 / unit[l];
    }
    for (int32_t e = 0; e < elements; e++) {
        int32_t i = e / w->cols, j = e % w->cols;
        EC_REAL *to = x + (size_t)(2 * (wide ? i * m + j : j * m + i)) * stride;
        ec_small_matrix_read(&w->matrix, w, lane0, y, e, EC_SM_LANES, re, im);
        EC_SM_EACH(l)
        {
            to[l] = bad[l] ? (EC_REAL)0 : (EC_REAL)(re[l] * scale[l]);
            to[stride + (size_t)l] = bad[l] ? (EC_REAL)0 : (EC_REAL)(im[l] * scale[l]);
        }
    }
}

/* ---- singular values by Jacobi --------------------------------------------------------------- */

/* x^H y over m rows. */
EC_FN void EC_SM(inner)(const EC_REAL *x, const EC_REAL *y, int32_t m, size_t stride, EC_REAL *re,
                        EC_REAL *im)
{
#ifndef __CUDACC__
#pragma omp simd
#endif
    EC_SM_EACH(l)
    {
        EC_REAL rr = 0, ii = 0, ri = 0, ir = 0;
        int32_t i = 0;
        do { /* at least once: a guard about the loop would keep the lanes from becoming SIMD */
            size_t at = (size_t)(2 * i) * stride + (size_t)l;
            EC_REAL xr = x[at], xi = x[at + stride], yr = y[at], yi = y[at + stride];
            rr = EC_SM_FMA(xr, yr, rr);
            ii = EC_SM_FMA(xi, yi, ii);
            ri = EC_SM_FMA(xr, yi, ri);
            ir = EC_SM_FMA(xi, yr, ir);
        } while (++i < m);
        re[l] = rr + ii;
        im[l] = ri - ir;
    }
}

EC_FN void EC_SM(square_norm)(const EC_REAL *x, int32_t m, size_t stride, EC_REAL *to)
{
#ifndef __CUDACC__
#pragma omp simd
#endif
    EC_SM_EACH(l)
    {
        EC_REAL r = 0, s = 0;
        int32_t i = 0;
        do {
            size_t at = (size_t)(2 * i) * stride + (size_t)l;
            r = EC_SM_FMA(x[at], x[at], r);
            s = EC_SM_FMA(x[at + stride], x[at + stride], s);
        } while (++i < m);
        to[l] = r + s;
    }
}

/* Rotates the columns; more[l] where another sweep is needed. a and d are the squared norms and
 * scales of the columns, at column * stride. */
EC_FN void EC_SM(rotate)(EC_REAL *x, EC_REAL *y, int32_t m, size_t stride, EC_REAL *ax, EC_REAL *ay,
                         EC_REAL *dx, EC_REAL *dy, const EC_REAL *live, EC_REAL *more)
{
    EC_REAL gr[EC_SM_LANES], gi[EC_SM_LANES], xr[EC_SM_LANES], xi[EC_SM_LANES], yr[EC_SM_LANES],
        yi[EC_SM_LANES];

    EC_SM(inner)(x, y, m, stride, gr, gi);
#ifndef __CUDACC__
#pragma omp simd
#endif
    EC_SM_EACH(l)
    {
        EC_SM(turn) t = EC_SM(find_turn)(ax[l], ay[l], dx[l], dy[l], gr[l], gi[l], live[l]);
        EC_REAL nx = ax[l] - t.shift, ny = ay[l] + t.shift;
        xr[l] = t.to_x_re;
        xi[l] = t.to_x_im;
        yr[l] = t.to_y_re;
        yi[l] = t.to_y_im;
        dx[l] *= t.shrink;
        dy[l] *= t.shrink;
        ax[l] = nx > (EC_REAL)0 ? nx : (EC_REAL)0;
        ay[l] = ny > (EC_REAL)0 ? ny : (EC_REAL)0;
        more[l] = t.moved > more[l] ? t.moved : more[l];
    }
#ifndef __CUDACC__
#pragma omp simd
#endif
    EC_SM_EACH(l)
    {
        EC_REAL pr = xr[l], pi = xi[l], qr = yr[l], qi = yi[l];
        int32_t i = 0;
        do {
            size_t at = (size_t)(2 * i) * stride + (size_t)l;
            EC_REAL ur = x[at], ui = x[at + stride], vr = y[at], vi = y[at + stride];
            x[at] = EC_SM_FMA(-pr, vr, EC_SM_FMA(pi, vi, ur));
            x[at + stride] = EC_SM_FMA(-pr, vi, EC_SM_FMA(-pi, vr, ui));
            y[at] = EC_SM_FMA(qr, ur, EC_SM_FMA(-qi, ui, vr));
            y[at + stride] = EC_SM_FMA(qr, ui, EC_SM_FMA(qi, ur, vi));
        } while (++i < m);
    }
}

/* Brings a scale that got small back, by an exact power of two. */
EC_FN void EC_SM(rescale)(EC_REAL *x, int32_t m, size_t stride, EC_REAL *d)
{
    const EC_REAL low = (EC_REAL)(1.0 / 16777216.0), root = (EC_REAL)(1.0 / 4096.0);

    EC_SM_EACH(l)
    while (d[l] < low) {
        d[l] *= (EC_REAL)16777216.0;
        for (int32_t i = 0; i < 2 * m; i++)
            x[(size_t)i * stride + (size_t)l] *= root;
    }
}

/* Singular values of X, not in order, into s at column * stride; `work` holds 2 n numbers. */
EC_FN void EC_SM(jacobi)(EC_REAL *x, int32_t m, int32_t n, size_t stride, EC_REAL *work, EC_REAL *s,
                         bool *failed)
{
    EC_REAL *a = work, *d = work + (size_t)n * stride;
    size_t column = (size_t)(2 * m) * stride;
    int32_t players = n + (n & 1);
    EC_REAL live[EC_SM_LANES];
    bool any = true;

    EC_SM_EACH(l) live[l] = (EC_REAL)1;
    for (int32_t j = 0; j < n; j++)
        EC_SM_EACH(l) d[(size_t)j * stride + (size_t)l] = (EC_REAL)1;
    for (int sweep = 0; sweep < EC_JACOBI_SWEEPS && any; sweep++) {
        EC_REAL more[EC_SM_LANES];
        EC_SM_EACH(l) more[l] = (EC_REAL)0;
        for (int32_t j = 0; j < n; j++) {
            EC_SM(square_norm)(x + (size_t)j * column, m, stride, a + (size_t)j * stride);
            EC_SM_EACH(l) a[(size_t)j * stride + (size_t)l] *= d[(size_t)j * stride + (size_t)l];
        }
        for (int32_t round = 0; round < players - 1; round++)
            for (int32_t k = 0; k < players / 2; k++) {
                int32_t p, q;
                ec_small_matrix_pair(players, round, k, &p, &q);
                if (q >= n)
                    continue;
                EC_SM(rotate)
                (x + (size_t)p * column, x + (size_t)q * column, m, stride, a + (size_t)p * stride,
                 a + (size_t)q * stride, d + (size_t)p * stride, d + (size_t)q * stride, live,
                 more);
            }
        for (int32_t j = 0; j < n; j++)
            EC_SM(rescale)(x + (size_t)j * column, m, stride, d + (size_t)j * stride);
        any = false;
        EC_SM_EACH(l)
        {
            live[l] = more[l];
            any = any || more[l] > (EC_REAL)0;
        }
    }
    for (int32_t j = 0; j < n; j++) {
        EC_REAL *to = s + (size_t)j * stride;
        EC_SM(square_norm)(x + (size_t)j * column, m, stride, to);
        EC_SM_EACH(l)
        {
            EC_REAL square = to[l] * d[(size_t)j * stride + (size_t)l];
            to[l] = square > (EC_REAL)0 ? EC_SM_SQRT(square) : (EC_REAL)0;
        }
    }
    EC_SM_EACH(l) failed[l] = live[l] > (EC_REAL)0;
}

/* ---- singular values by bisection ------------------------------------------------------------ */

/* Reflects so that the vector v (count numbers `step` apart) becomes a multiple of its first one:
 * v is replaced by u, and *factor is 1 / (|v|^2 + |v_0| |v|), 0 where there is nothing to do. A
 * vector of which the squares lose bits below the normal numbers would turn everything beside it by
 * a matrix that is not unitary, in the end by infinity times 0: next to the largest part of X, which
 * is 1 or more, it is nothing, and is taken for 0; so is a first number with such a square. */
EC_FN void EC_SM(reflector)(EC_REAL *v, int32_t count, size_t step, size_t stride, bool conjugate,
                            EC_REAL *factor, EC_REAL *norm)
{
    const EC_REAL least = EC_SM_TINY / EC_SM_EPS; /* in float32 a norm of 4e-16 */
    EC_REAL sum[EC_SM_LANES];

    EC_SM_EACH(l) sum[l] = 0;
    for (int32_t i = 0; i < count; i++)
        EC_SM_EACH(l)
        {
            EC_REAL *at = v + (size_t)i * step + (size_t)l;
            if (conjugate)
                at[stride] = -at[stride];
            sum[l] = EC_SM_FMA(at[0], at[0], EC_SM_FMA(at[stride], at[stride], sum[l]));
        }
    EC_SM_EACH(l)
    {
        EC_REAL *at = v + (size_t)l, root = sum[l] >= least ? EC_SM_SQRT(sum[l]) : (EC_REAL)0;
        EC_REAL first = EC_SM_FMA(at[0], at[0], at[stride] * at[stride]);
        first = first >= EC_SM_TINY ? EC_SM_SQRT(first) : (EC_REAL)0;
        bool none = !(root > (EC_REAL)0);
        EC_REAL add = first > (EC_REAL)0 ? root / first : (EC_REAL)0;
        norm[l] = root;
        factor[l] = none ? (EC_REAL)0 : (EC_REAL)1 / (root * (root + first));
        at[0] = first > (EC_REAL)0 ? at[0] * ((EC_REAL)1 + add) : root;
        at[stride] = first > (EC_REAL)0 ? at[stride] * ((EC_REAL)1 + add) : (EC_REAL)0;
    }
}

/* w := w - u factor (u^H w), w's numbers w_step apart; of rows: w - factor (w u) u^H. */
EC_FN void EC_SM(reflect)(EC_REAL *w, size_t w_step, const EC_REAL *u, size_t u_step, int32_t count,
                          size_t stride, bool row, const EC_REAL *factor)
{
    EC_REAL re[EC_SM_LANES], im[EC_SM_LANES], sign = row ? (EC_REAL)1 : (EC_REAL)-1;

    EC_SM_EACH(l) re[l] = im[l] = 0;
    for (int32_t i = 0; i < count; i++)
        EC_SM_EACH(l)
        {
            const EC_REAL *a = u + (size_t)i * u_step + (size_t)l;
            const EC_REAL *b = w + (size_t)i * w_step + (size_t)l;
            EC_REAL ui = sign * a[stride];
            re[l] = EC_SM_FMA(a[0], b[0], EC_SM_FMA(-ui, b[stride], re[l]));
            im[l] = EC_SM_FMA(a[0], b[stride], EC_SM_FMA(ui, b[0], im[l]));
        }
    EC_SM_EACH(l)
    {
        re[l] *= factor[l];
        im[l] *= factor[l];
    }
    for (int32_t i = 0; i < count; i++)
        EC_SM_EACH(l)
        {
            const EC_REAL *a = u + (size_t)i * u_step + (size_t)l;
            EC_REAL *b = w + (size_t)i * w_step + (size_t)l;
            EC_REAL ui = row ? -a[stride] : a[stride];
            b[0] = EC_SM_FMA(-re[l], a[0], EC_SM_FMA(im[l], ui, b[0]));
            b[stride] = EC_SM_FMA(-re[l], ui, EC_SM_FMA(-im[l], a[0], b[stride]));
        }
}

/* Magnitudes of a bidiagonal form's diagonal and of what is above it; X is lost. */
EC_FN void EC_SM(bidiagonal)(EC_REAL *x, int32_t m, int32_t n, size_t stride, EC_REAL *diagonal,
                             EC_REAL *above)
{
    size_t down = 2 * stride, right = (size_t)(2 * m) * stride;
    EC_REAL factor[EC_SM_LANES];

    for (int32_t j = 0; j < n; j++) {
        EC_REAL *corner = x + (size_t)j * (right + down);
        EC_SM(reflector)
        (corner, m - j, down, stride, false, factor, diagonal + (size_t)j * stride);
        for (int32_t k = j + 1; k < n; k++)
            EC_SM(reflect)
        (corner + (size_t)(k - j) * right, down, corner, down, m - j, stride, false, factor);
        if (j + 1 == n)
            break;
        EC_SM(reflector)
        (corner + right, n - j - 1, right, stride, true, factor, above + (size_t)j * stride);
        for (int32_t i = j + 1; i < m; i++)
            EC_SM(reflect)
        (corner + right + (size_t)(i - j) * down, right, corner + right, right, n - j - 1, stride,
         true, factor);
    }
}

/* Singular values, largest first; `work` holds 2 n numbers. */
EC_FN void EC_SM(bisection)(EC_REAL *x, int32_t m, int32_t n, size_t stride, EC_REAL *work,
                            EC_REAL *s)
{
    EC_REAL *diagonal = work, *beside = work + (size_t)n * stride; /* of B, then of T */
    EC_REAL high[EC_SM_LANES];

    EC_SM(bidiagonal)(x, m, n, stride, diagonal, beside);
    EC_SM_EACH(l)
    {
        EC_REAL last = 0, before = 0, most = 0;
        for (int32_t j = 0; j < n; j++) {
            size_t at = (size_t)j * stride + (size_t)l;
            EC_REAL d = diagonal[at], e = j + 1 < n ? beside[at] : (EC_REAL)0, side = d * e;
            EC_REAL entry = EC_SM_FMA(d, d, last * last), reach = entry + side + before;
            diagonal[at] = entry;
            if (j + 1 < n)
                beside[at] = side * side;
            most = reach > most ? reach : most;
            last = e;
            before = side;
        }
        high[l] = most;
    }
    for (int32_t k = 0; k < n; k++) {
        EC_REAL lo[EC_SM_LANES], hi[EC_SM_LANES];
        EC_SM_EACH(l)
        {
            lo[l] = 0;
            hi[l] = k ? s[(size_t)(k - 1) * stride + (size_t)l] : high[l];
        }
        for (int step = 0; step < EC_SM_BITS; step++) {
            EC_REAL middle[EC_SM_LANES], q[EC_SM_LANES];
            int32_t below[EC_SM_LANES];
            EC_SM_EACH(l)
            {
                middle[l] = (EC_REAL)0.5 * (lo[l] + hi[l]);
                q[l] = 1;
                below[l] = 0;
            }
            for (int32_t j = 0; j < n; j++)
                EC_SM_EACH(l)
                {
                    size_t at = (size_t)j * stride + (size_t)l;
                    EC_REAL part = j ? beside[at - stride] / q[l] : (EC_REAL)0;
                    EC_REAL next = diagonal[at] - middle[l] - part;
                    next = next < EC_SM_TINY && next > -EC_SM_TINY ? -EC_SM_TINY : next;
                    q[l] = next;
                    below[l] += next < (EC_REAL)0;
                }
            /* eigenvalue k from the top is at or above the middle while fewer than n - k are below */
            EC_SM_EACH(l)
            {
                bool up = below[l] < n - k;
                lo[l] = up ? middle[l] : lo[l];
                hi[l] = up ? hi[l] : middle[l];
            }
        }
        EC_SM_EACH(l) s[(size_t)k * stride + (size_t)l] = hi[l];
    }
    for (int32_t k = 0; k < n; k++)
        EC_SM_EACH(l)
        {
            EC_REAL *at = s + (size_t)k * stride + (size_t)l;
            *at = *at > (EC_REAL)0 ? EC_SM_SQRT(*at) : (EC_REAL)0;
        }
}

/* ---- order and results ------------------------------------------------------------------------ */

/* Largest first: odd-even transposition, the same steps in every lane. */
EC_FN void EC_SM(sort)(EC_REAL *s, int32_t n, size_t stride)
{
    for (int32_t round = 0; round < n; round++)
        for (int32_t j = round & 1; j + 1 < n; j += 2)
            EC_SM_EACH(l)
            {
                EC_REAL *a = s + (size_t)j * stride + (size_t)l, *b = a + stride;
                EC_REAL large = *a > *b ? *a : *b, small = *a > *b ? *b : *a;
                *a = large;
                *b = small;
            }
}

/* Numbers that EC_SM(singular) needs for a lane. */
EC_FN size_t EC_SM(singular_numbers)(int32_t rows, int32_t cols)
{
    int32_t n = rows < cols ? rows : cols;
    return 2 * (size_t)rows * (size_t)cols + 3 * (size_t)n;
}

EC_FN void EC_SM(singular)(const ec_small_matrix_work *w, size_t lane0, size_t y, EC_REAL *x,
                           size_t stride, bool bisection)
{
    int32_t n = w->rows < w->cols ? w->rows : w->cols, m = w->rows < w->cols ? w->cols : w->rows;
    EC_REAL *work = x + (size_t)(2 * m * n) * stride, *s = work + (size_t)(2 * n) * stride;
    double unit[EC_SM_LANES], value[EC_SM_LANES];
    bool bad[EC_SM_LANES], failed[EC_SM_LANES];

    EC_SM(load)(w, lane0, y, x, stride, unit, bad);
    EC_SM_EACH(l) failed[l] = false;
    if (bisection) {
        EC_SM(bisection)(x, m, n, stride, work, s);
    } else {
        EC_SM(jacobi)(x, m, n, stride, work, s, failed);
        EC_SM(sort)(s, n, stride);
    }
    EC_SM_EACH(l) bad[l] = bad[l] || failed[l];
    for (int32_t k = 0; k < n; k++) {
        EC_SM_EACH(l)
        value[l] = bad[l] ? (double)NAN : (double)s[(size_t)k * stride + (size_t)l] * unit[l];
        ec_small_matrix_write(&w->result, w, lane0, y, n, k, EC_SM_LANES, value);
    }
    ec_small_matrix_blame(w, lane0, EC_SM_LANES, bad);
}

/* ---- capacity --------------------------------------------------------------------------------- */

/* M = alpha I + beta X^H X, its factors L D L^H in place (L below the diagonal, D on it), with
 * alpha = 1 and beta = rho, or alpha = 1 / rho and beta = 1 where rho is out of all proportion.
 * Element (i, j), j <= i, at 2 (i n + j). */
typedef struct EC_SM(gram) {
    EC_REAL alpha[EC_SM_LANES], beta[EC_SM_LANES];
    double rho[EC_SM_LANES];    /* of X */
    double per[EC_SM_LANES];    /* rho over SNR */
    double square[EC_SM_LANES]; /* ||X||_F^2 */
    double bits[EC_SM_LANES];   /* log2 det(I + rho X^H X) */
} EC_SM(gram);

EC_FN void EC_SM(factor)(const ec_small_matrix_work *w, const EC_REAL *x, int32_t m, int32_t n,
                         size_t stride, const double *unit, const double *snr, EC_REAL *f,
                         EC_SM(gram) * gram)
{
    size_t column = (size_t)(2 * m) * stride;
    double product[EC_SM_LANES];

    EC_SM_EACH(l) gram->square[l] = 0.0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            EC_REAL *to = f + (size_t)(2 * (i * n + j)) * stride;
            EC_SM(inner)
            (x + (size_t)i * column, x + (size_t)j * column, m, stride, to, to + stride);
            if (i == j)
                EC_SM_EACH(l) gram->square[l] += (double)to[l];
        }
    EC_SM_EACH(l)
    {
        double per = w->frobenius ? w->rows / gram->square[l] : unit[l] * unit[l] / w->cols;
        double rho = snr[l] * per;
        gram->per[l] = per;
        gram->rho[l] = rho;
        gram->alpha[l] = (EC_REAL)(rho > EC_SMALL_MATRIX_LARGE ? 1.0 / rho : 1.0);
        gram->beta[l] = (EC_REAL)(rho > EC_SMALL_MATRIX_LARGE ? 1.0 : rho);
        gram->bits[l] = rho > EC_SMALL_MATRIX_LARGE ? n * ec_det_log2(rho) : 0.0;
        product[l] = 1.0;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            EC_REAL *to = f + (size_t)(2 * (i * n + j)) * stride;
            EC_SM_EACH(l)
            {
                EC_REAL plus = i == j ? gram->alpha[l] : (EC_REAL)0;
                to[l] = EC_SM_FMA(gram->beta[l], to[l], plus);
                to[stride + (size_t)l] *= gram->beta[l];
            }
        }
    for (int32_t k = 0; k < n; k++) {
        EC_REAL *pivot = f + (size_t)(2 * (k * n + k)) * stride, inverse[EC_SM_LANES];
        EC_SM_EACH(l)
        {
            /* no pivot of alpha I + something is below alpha */
            EC_REAL least = gram->alpha[l] > EC_SM_TINY ? gram->alpha[l] : EC_SM_TINY;
            pivot[l] = pivot[l] > least ? pivot[l] : least;
            inverse[l] = (EC_REAL)1 / pivot[l];
            product[l] *= (double)pivot[l];
        }
        /* four pivots stay inside float64 */
        if (k % 4 == 3 || k + 1 == n)
            EC_SM_EACH(l)
            {
                gram->bits[l] += ec_det_log2(product[l]);
                product[l] = 1.0;
            }
        for (int32_t i = k + 1; i < n; i++) {
            EC_REAL *row = f + (size_t)(2 * (i * n + k)) * stride;
            for (int32_t j = k + 1; j <= i; j++) {
                /* of L D: row (i, k) is scaled below */
                const EC_REAL *other = f + (size_t)(2 * (j * n + k)) * stride;
                EC_REAL *to = f + (size_t)(2 * (i * n + j)) * stride;
                EC_SM_EACH(l)
                {
                    size_t im = stride + (size_t)l;
                    EC_REAL re = other[l] * inverse[l], mi = other[im] * inverse[l];
                    to[l] = EC_SM_FMA(-row[l], re, EC_SM_FMA(-row[im], mi, to[l]));
                    to[im] = EC_SM_FMA(-row[im], re, EC_SM_FMA(row[l], mi, to[im]));
                }
            }
        }
        for (int32_t i = k + 1; i < n; i++) {
            EC_REAL *row = f + (size_t)(2 * (i * n + k)) * stride;
            EC_SM_EACH(l)
            {
                row[l] *= inverse[l];
                row[stride + (size_t)l] *= inverse[l];
            }
        }
    }
}

EC_FN size_t EC_SM(capacity_numbers)(int32_t rows, int32_t cols)
{
    int32_t n = rows < cols ? rows : cols;
    return 2 * (size_t)rows * (size_t)cols + 2 * (size_t)n * (size_t)n;
}

EC_FN void EC_SM(capacity)(const ec_small_matrix_work *w, size_t lane0, size_t y, EC_REAL *x,
                           size_t stride)
{
    int32_t n = w->rows < w->cols ? w->rows : w->cols, m = w->rows < w->cols ? w->cols : w->rows;
    EC_REAL *f = x + (size_t)(2 * m * n) * stride;
    double unit[EC_SM_LANES], snr[EC_SM_LANES], none[EC_SM_LANES];
    bool bad[EC_SM_LANES];
    EC_SM(gram) gram;

    EC_SM(load)(w, lane0, y, x, stride, unit, bad);
    ec_small_matrix_read(&w->snr, w, lane0, y, -1, EC_SM_LANES, snr, none);
    EC_SM(factor)(w, x, m, n, stride, unit, snr, f, &gram);
    EC_SM_EACH(l)
    {
        bad[l] = bad[l] || !(snr[l] >= 0.0 && gram.rho[l] <= 1.7976931348623157e308);
        gram.bits[l] = bad[l] ? (double)NAN : gram.bits[l];
    }
    ec_small_matrix_write(&w->result, w, lane0, y, 1, 0, EC_SM_LANES, gram.bits);
    ec_small_matrix_blame(w, lane0, EC_SM_LANES, bad);
}

/* With Z = 2 / ln 2 beta X M^-1: dC/dX = Z as long as the scale of X is not its own affair, and
 * Z - X Re<Z, X> / ||X||^2 where X is scaled to a given norm; dC/dSNR = Re<Z, X> / (2 SNR). */
EC_FN void EC_SM(capacity_adjoint)(const ec_small_matrix_work *w, size_t lane0, size_t y,
                                   EC_REAL *x, size_t stride)
{
    int32_t n = w->rows < w->cols ? w->rows : w->cols, m = w->rows < w->cols ? w->cols : w->rows;
    EC_REAL *f = x + (size_t)(2 * m * n) * stride, *z = f + (size_t)(2 * n * n) * stride;
    double unit[EC_SM_LANES], snr[EC_SM_LANES], seed[EC_SM_LANES], none[EC_SM_LANES],
        radial[EC_SM_LANES];
    bool bad[EC_SM_LANES];
    EC_SM(gram) gram;

    EC_SM(load)(w, lane0, y, x, stride, unit, bad);
    ec_small_matrix_read(&w->snr, w, lane0, y, -1, EC_SM_LANES, snr, none);
    ec_small_matrix_read(&w->seed, w, lane0, y, -1, EC_SM_LANES, seed, none);
    EC_SM(factor)(w, x, m, n, stride, unit, snr, f, &gram);
    EC_SM_EACH(l)
    {
        bad[l] = bad[l] || !(snr[l] >= 0.0 && gram.rho[l] <= 1.7976931348623157e308);
        radial[l] = 0.0;
    }
    for (int32_t i = 0; i < m; i++) {
        /* a row z of X M^-1: first z L^H = row of X, then / D, then z L = that */
        for (int32_t j = 0; j < n; j++) {
            const EC_REAL *from = x + (size_t)(2 * (j * m + i)) * stride;
            EC_REAL *to = z + (size_t)(2 * (j * m + i)) * stride;
            EC_SM_EACH(l)
            {
                EC_REAL re = from[l], im = from[stride + (size_t)l];
                for (int32_t k = 0; k < j; k++) {
                    const EC_REAL *lower = f + (size_t)(2 * (j * n + k)) * stride + (size_t)l;
                    const EC_REAL *done = z + (size_t)(2 * (k * m + i)) * stride + (size_t)l;
                    re -= done[0] * lower[0] + done[stride] * lower[stride];
                    im -= done[stride] * lower[0] - done[0] * lower[stride];
                }
                to[l] = re;
                to[stride + (size_t)l] = im;
            }
        }
        for (int32_t j = n; j-- > 0;) {
            const EC_REAL *from = x + (size_t)(2 * (j * m + i)) * stride;
            const EC_REAL *pivot = f + (size_t)(2 * (j * n + j)) * stride;
            EC_REAL *to = z + (size_t)(2 * (j * m + i)) * stride;
            EC_SM_EACH(l)
            {
                EC_REAL re = to[l] / pivot[l], im = to[stride + (size_t)l] / pivot[l];
                for (int32_t k = j + 1; k < n; k++) {
                    const EC_REAL *lower = f + (size_t)(2 * (k * n + j)) * stride + (size_t)l;
                    const EC_REAL *done = z + (size_t)(2 * (k * m + i)) * stride + (size_t)l;
                    re -= done[0] * lower[0] - done[stride] * lower[stride];
                    im -= done[stride] * lower[0] + done[0] * lower[stride];
                }
                to[l] = re;
                to[stride + (size_t)l] = im;
                radial[l] += (double)(re * from[l] + im * from[stride + (size_t)l]);
            }
        }
    }
    EC_SM_EACH(l)
    {
        double by = bad[l] ? (double)NAN : seed[l] * 2.8853900817779268;
        double beta = (double)gram.beta[l];
        none[l] = by * (gram.rho[l] > EC_SMALL_MATRIX_LARGE ? 1.0 / snr[l] : gram.per[l]) * 0.5 *
                  radial[l];
        /* X = H / unit */
        seed[l] = by * beta / unit[l];
        radial[l] = w->frobenius ? radial[l] / gram.square[l] : 0.0;
    }
    if (w->snr_adjoint.data)
        ec_small_matrix_write(&w->snr_adjoint, w, lane0, y, 1, 0, EC_SM_LANES, none);
    for (int32_t e = 0; w->matrix_adjoint.data && e < w->rows * w->cols; e++) {
        int32_t i = e / w->cols, j = e % w->cols;
        size_t at = (size_t)(2 * (w->rows < w->cols ? i * m + j : j * m + i)) * stride;
        double re[EC_SM_LANES], im[EC_SM_LANES];
        EC_SM_EACH(l)
        {
            size_t r = at + (size_t)l, c = r + stride;
            re[l] = seed[l] * ((double)z[r] - radial[l] * (double)x[r]);
            im[l] = seed[l] * ((double)z[c] - radial[l] * (double)x[c]);
        }
        ec_small_matrix_write_complex(&w->matrix_adjoint, w, lane0, y, e, EC_SM_LANES, re, im);
    }
    ec_small_matrix_blame(w, lane0, EC_SM_LANES, bad);
}

/* With s_k u_k the rotated columns x_k, dH = (sum g_k / s_k^3 x_k x_k^H) H for the adjoints g_k of
 * the singular values: the right singular vectors are H^H x_k / s_k^2. Where a value is 0, or two are
 * equal, there is no derivative; what stands there is one of the subgradients. */
EC_FN void EC_SM(singular_adjoint)(const ec_small_matrix_work *w, size_t lane0, size_t y,
                                   EC_REAL *x, size_t stride)
{
    int32_t n = w->rows < w->cols ? w->rows : w->cols, m = w->rows < w->cols ? w->cols : w->rows;
    EC_REAL *h = x + (size_t)(2 * m * n) * stride, *z = h + (size_t)(2 * m * n) * stride;
    EC_REAL *work = z + (size_t)(2 * m * n) * stride, *s = work + (size_t)(2 * n) * stride;
    size_t column = (size_t)(2 * m) * stride;
    double unit[EC_SM_LANES];
    bool bad[EC_SM_LANES], failed[EC_SM_LANES];

    EC_SM(load)(w, lane0, y, x, stride, unit, bad);
    EC_SM(load)(w, lane0, y, h, stride, unit, bad);
    for (int32_t i = 0; i < 2 * m * n; i++)
        EC_SM_EACH(l) z[(size_t)i * stride + (size_t)l] = (EC_REAL)0;
    EC_SM(jacobi)(x, m, n, stride, work, s, failed);
    for (int32_t k = 0; k < n; k++) {
        const EC_REAL *u = x + (size_t)k * column, *d = work + (size_t)(n + k) * stride;
        EC_REAL factor[EC_SM_LANES], re[EC_SM_LANES], im[EC_SM_LANES];
        EC_SM_EACH(l)
        {
            /* whose adjoint is it? */
            EC_REAL own = s[(size_t)k * stride + (size_t)l];
            double seed, none;
            int32_t rank = 0;
            for (int32_t j = 0; j < n; j++) {
                EC_REAL other = s[(size_t)j * stride + (size_t)l];
                rank += other > own || (other == own && j < k);
            }
            int64_t at = ec_small_matrix_base(&w->seed, w, y, n) + rank * w->seed.ld +
                         (int64_t)(lane0 + (size_t)l) * w->seed.lane;
            none = ((const double *)w->seed.data)[at];
            seed = bad[l] || failed[l] ? (double)NAN : none;
            factor[l] = own > (EC_REAL)0 ? (EC_REAL)seed / (own * own * own) * d[l] : (EC_REAL)0;
        }
        for (int32_t j = 0; j < n; j++) {
            EC_REAL *to = z + (size_t)j * column;
            EC_SM(inner)(u, h + (size_t)j * column, m, stride, re, im);
            for (int32_t i = 0; i < m; i++)
                EC_SM_EACH(l)
                {
                    size_t at = (size_t)(2 * i) * stride + (size_t)l;
                    EC_REAL fr = factor[l] * re[l], fi = factor[l] * im[l];
                    to[at] += u[at] * fr - u[at + stride] * fi;
                    to[at + stride] += u[at] * fi + u[at + stride] * fr;
                }
        }
    }
    for (int32_t e = 0; e < w->rows * w->cols; e++) {
        int32_t i = e / w->cols, j = e % w->cols;
        size_t at = (size_t)(2 * (w->rows < w->cols ? i * m + j : j * m + i)) * stride;
        double re[EC_SM_LANES], im[EC_SM_LANES];
        EC_SM_EACH(l)
        {
            re[l] = (double)z[at + (size_t)l];
            im[l] = (double)z[at + stride + (size_t)l];
        }
        ec_small_matrix_write_complex(&w->matrix_adjoint, w, lane0, y, e, EC_SM_LANES, re, im);
    }
}

EC_FN size_t EC_SM(singular_adjoint_numbers)(int32_t rows, int32_t cols)
{
    int32_t n = rows < cols ? rows : cols;
    return 6 * (size_t)rows * (size_t)cols + 3 * (size_t)n;
}

EC_FN size_t EC_SM(adjoint_numbers)(int32_t rows, int32_t cols)
{
    int32_t n = rows < cols ? rows : cols;
    return 4 * (size_t)rows * (size_t)cols + 2 * (size_t)n * (size_t)n;
}

#undef EC_SM_EACH
#undef EC_REAL
#undef EC_SM
#undef EC_SM_FMA
#undef EC_SM_EPS
#undef EC_SM_TINY
#undef EC_SM_SQRT
#undef EC_SM_ROUGH_SQRT
#undef EC_SM_RCP
#undef EC_SM_ROUGH_RCP
#undef EC_SM_BITS
#undef EC_SM_LANES
