/* fdtd_step_internal.h: one step of one plane of a domain on the CPU, for one kind of real (REAL,
 * NAME). Included by fdtd_kernels.c, once for each.
 *
 * A domain is swept once a step: plane k of H, then plane k of E, which needs the planes k and
 * k - 1 of H and leaves the plane k + 1 of E, that H wants next, as it was. So the next step may follow
 * one plane behind, and several steps are done while a few planes stay in the cache. */

#include "fdtd_pole_step_internal.h"

typedef struct NAME(fields) {
    REAL *f[2][3];                 /* E, H */
    const REAL *a[2][3], *b[2][3]; /* NULL: 1, and */
    REAL h;
    const uint16_t *block[2]; /* NULL: as they are in a and b */
    const REAL *blocks[2];
    const REAL *id[2][3], *pb[2][3], *pc[2][3];
    REAL *psi[2][3][2]; /* [E, H][axis][along axis + 1, axis + 2] */
} NAME(fields);

static void NAME(open)(const ec_fdtd_shape *s, const ec_fdtd_domain *d, NAME(fields) * p)
{
    const int64_t component = s->plane * (s->n[2] + 1);
    REAL *psi = (REAL *)d->psi;

    p->h = (REAL)d->h;
    for (int side = 0; side < 2; side++) {
        p->block[side] = d->block[side];
        p->blocks[side] = (const REAL *)d->blocks[side];
        for (int c = 0; c < 3; c++) {
            const void *a = side ? d->ha : d->a, *b = side ? d->hb : d->b;
            p->f[side][c] = (REAL *)d->field + (3 * side + c) * s->field + s->plane;
            p->a[side][c] = a ? (const REAL *)a + c * component : NULL;
            p->b[side][c] = b ? (const REAL *)b + c * component : NULL;
            p->id[side][c] = (const REAL *)(side ? d->id_h : d->id_e)[c];
            p->pb[side][c] = (const REAL *)(side ? d->bh : d->be)[c];
            p->pc[side][c] = (const REAL *)(side ? d->ch : d->ce)[c];
            for (int t = 0; t < 2; t++) {
                p->psi[side][c][t] = psi;
                psi += s->memory[c];
            }
        }
    }
}

/* Rows of a plane of E or H: f = a f + b (difference along an axis - difference along another). Differences of
 * E are to rows of H behind, those of H to rows of E ahead. */
typedef struct NAME(line) {
    REAL *f[3];
    const REAL *a[3], *b[3]; /* EC_FDTD_OWN */
    REAL h;                  /* EC_FDTD_PLAIN */
    const uint16_t *block;   /* EC_FDTD_BLOCKS */
    const REAL *blocks;
    const REAL *w[3], *wy[3], *wz[3]; /* the other side: here, at the next row, at the next plane */
    const REAL *ix;
    REAL iy, iz;
    /* Absorbing terms of the row as psi has them: of y z, x, of z x, y, of x y, z. */
    REAL *px[2], *py[2], *pz[2];
    const REAL *bx, *cx;
    REAL by, cy, bz, cz;
    int64_t at; /* of the row */
} NAME(line);

typedef REAL NAME(lanes) __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));
#define LANES    NAME(lanes)
#define WIDTH    (32 / (int)sizeof(REAL))
#define AT(p, i) (*(LANES *)((p) + (i)))
#define OF(p, i) (*(const LANES *)((p) + (i)))

/* psi = b psi + c d, f = f +- (b of the edge) psi */
#define EC_FDTD_ABSORB(F, SIGN, PSI, PB, PC, D, B)                                                 \
    do {                                                                                           \
        const LANES memory = (PB)*OF(PSI, i) + (PC) * (D);                                         \
        AT(PSI, i) = memory;                                                                       \
        F = F + (SIGN(B)) * memory;                                                                \
    } while (0)

/* Elements [from, to) of a row, the three components together, which share what they read: 9 + 3 + 1 loads, of
 * coefficients 6 (from the nearest cache where they are blocks), 3 stores and 24 flops (21 with h); for each
 * of the two absorbing terms of an axis 1 load, 1 store, 5 flops. The flags are constants where it is
 * called. */
EC_FN void NAME(part)(const NAME(line) * q, int side, int how, bool along, bool across, bool up,
                      int from, int to)
{
    const int back = side ? 0 : -1, ahead = side ? 1 : 0;

    for (int i = from; i < to; i += WIDTH) {
        const int64_t e = q->at + i;
        const LANES x = OF(q->w[0], e), y = OF(q->w[1], e), z = OF(q->w[2], e);
        const LANES ix = OF(q->ix, i);
        const LANES xy = side ? (OF(q->wy[0], e) - x) : (x - OF(q->wy[0], e));
        const LANES zy = side ? (OF(q->wy[2], e) - z) : (z - OF(q->wy[2], e));
        const LANES xz = side ? (OF(q->wz[0], e) - x) : (x - OF(q->wz[0], e));
        const LANES yz = side ? (OF(q->wz[1], e) - y) : (y - OF(q->wz[1], e));
        const LANES yx = OF(q->w[1], e + ahead) - OF(q->w[1], e + back);
        const LANES zx = OF(q->w[2], e + ahead) - OF(q->w[2], e + back);
        const LANES dxy = xy * q->iy, dzy = zy * q->iy, dxz = xz * q->iz, dyz = yz * q->iz;
        const LANES dyx = yx * ix, dzx = zx * ix;
        LANES f0 = OF(q->f[0], e), f1 = OF(q->f[1], e), f2 = OF(q->f[2], e), b0, b1, b2;
        if (how == EC_FDTD_PLAIN)
            b0 = b1 = b2 = (LANES){0} + q->h;
        else if (how == EC_FDTD_OWN) {
            b0 = OF(q->b[0], e), b1 = OF(q->b[1], e), b2 = OF(q->b[2], e);
            f0 = OF(q->a[0], e) * f0, f1 = OF(q->a[1], e) * f1, f2 = OF(q->a[2], e) * f2;
        } else {
            const REAL *c = q->blocks + EC_FDTD_BLOCK * q->block[e / EC_FDTD_LANES] +
                            (WIDTH < EC_FDTD_LANES ? i % EC_FDTD_LANES : 0);
            f0 = OF(c, 0) * f0;
            f1 = OF(c, EC_FDTD_LANES) * f1;
            f2 = OF(c, 2 * EC_FDTD_LANES) * f2;
            b0 = OF(c, 3 * EC_FDTD_LANES);
            b1 = OF(c, 4 * EC_FDTD_LANES);
            b2 = OF(c, 5 * EC_FDTD_LANES);
        }
        f0 = f0 + b0 * (dzy - dyz);
        f1 = f1 + b1 * (dxz - dzx);
        f2 = f2 + b2 * (dyx - dxy);
        if (across)
            EC_FDTD_ABSORB(f0, +, q->py[1], q->by, q->cy, dzy, b0);
        if (up) {
            EC_FDTD_ABSORB(f0, -, q->pz[0], q->bz, q->cz, dyz, b0);
            EC_FDTD_ABSORB(f1, +, q->pz[1], q->bz, q->cz, dxz, b1);
        }
        if (along) {
            const LANES bx = OF(q->bx, i), cx = OF(q->cx, i);
            EC_FDTD_ABSORB(f1, -, q->px[0], bx, cx, dzx, b1);
            EC_FDTD_ABSORB(f2, +, q->px[1], bx, cx, dyx, b2);
        }
        if (across)
            EC_FDTD_ABSORB(f2, -, q->py[0], q->by, q->cy, dxy, b2);
        AT(q->f[0], e) = f0;
        AT(q->f[1], e) = f1;
        AT(q->f[2], e) = f2;
    }
}
#undef EC_FDTD_ABSORB
#undef LANES
#undef WIDTH
#undef AT
#undef OF

/* Rows [j, end) of plane k, all or none of them in the absorbing layers of y (`across`) and z (`up`). The flags
 * are constants where it is called: addresses are made once a plane, a row moves one index. */
EC_FN void NAME(rows_of)(const ec_fdtd_shape *s, const NAME(fields) * p, int side, int how,
                         bool across, bool up, int k, int j, int end)
{
    const int64_t y = side ? s->pitch : -s->pitch, z = side ? s->plane : -s->plane;
    /* What is behind the last node stays 0 by itself. */
    const int n = (s->nodes[0] + EC_FDTD_LANES - 1) / EC_FDTD_LANES * EC_FDTD_LANES;
    const int low = s->along[0] < n ? s->along[0] : n, high = s->along[1] < n ? s->along[1] : n;
    const REAL *iy = p->id[side][1], *by = p->pb[side][1], *cy = p->pc[side][1];
    NAME(line) q;

    for (int c = 0; c < 3; c++) {
        q.f[c] = p->f[side][c];
        q.a[c] = p->a[side][c];
        q.b[c] = p->b[side][c];
        q.w[c] = p->f[!side][c];
        q.wy[c] = q.w[c] + y;
        q.wz[c] = q.w[c] + z;
    }
    q.h = p->h;
    q.block = p->block[side];
    q.blocks = p->blocks[side];
    q.ix = p->id[side][0];
    q.iz = p->id[side][2][k];
    q.bx = p->pb[side][0];
    q.cx = p->pc[side][0];
    q.bz = p->pb[side][2][k];
    q.cz = p->pc[side][2][k];
    for (int t = 0; t < 2; t++) {
        q.px[t] = p->psi[side][0][t] + ((int64_t)k * s->rows + j) * s->slab[0];
        q.py[t] = p->psi[side][1][t];
        q.pz[t] = p->psi[side][2][t];
        if (across)
            q.py[t] += ((int64_t)k * s->slab[1] + ec_fdtd_slab(s, 1, j)) * s->pitch;
        if (up)
            q.pz[t] += ((int64_t)ec_fdtd_slab(s, 2, k) * s->rows + j) * s->pitch;
    }
    for (q.at = ec_fdtd_at(s, 0, j, k); j < end; j++, q.at += s->pitch) {
        q.iy = iy[j];
        q.by = by[j];
        q.cy = cy[j];
        if (low > 0)
            NAME(part)(&q, side, how, true, across, up, 0, low);
        NAME(part)(&q, side, how, false, across, up, low, high);
        if (high < n) {
            for (int t = 0; t < 2; t++)
                q.px[t] += low - high;
            NAME(part)(&q, side, how, true, across, up, high, n);
            for (int t = 0; t < 2; t++)
                q.px[t] += high - low;
        }
        for (int t = 0; t < 2; t++) {
            q.px[t] += s->slab[0];
            q.py[t] += s->pitch;
            q.pz[t] += s->pitch;
        }
    }
}

/* A function for each kind of rows, by side, how, across, up. */
typedef void NAME(rows)(const ec_fdtd_shape *s, const NAME(fields) * p, int k, int j, int end);
#define EC_FDTD_ROWS(SIDE, HOW, ACROSS, UP)                                                        \
    static __attribute__((noinline)) void NAME(rows_##SIDE##HOW##ACROSS##UP)(                      \
        const ec_fdtd_shape *s, const NAME(fields) * p, int k, int j, int end)                     \
    {                                                                                              \
        NAME(rows_of)(s, p, SIDE, HOW, ACROSS, UP, k, j, end);                                     \
    }
#define EC_FDTD_KINDS(SIDE, HOW)                                                                   \
    EC_FDTD_ROWS(SIDE, HOW, 0, 0)                                                                  \
    EC_FDTD_ROWS(SIDE, HOW, 0, 1)                                                                  \
    EC_FDTD_ROWS(SIDE, HOW, 1, 0)                                                                  \
    EC_FDTD_ROWS(SIDE, HOW, 1, 1)
#define EC_FDTD_LISTED(SIDE, HOW)                                                                  \
    {                                                                                              \
        {NAME(rows_##SIDE##HOW##00), NAME(rows_##SIDE##HOW##01)},                                  \
            {NAME(rows_##SIDE##HOW##10), NAME(rows_##SIDE##HOW##11)},                              \
    }
EC_FDTD_KINDS(0, 1)
EC_FDTD_KINDS(0, 2)
EC_FDTD_KINDS(1, 0)
EC_FDTD_KINDS(1, 1)
EC_FDTD_KINDS(1, 2)
static NAME(rows) *const
    NAME(kinds)[2][3][2][2] = {{{{NULL}}, EC_FDTD_LISTED(0, 1), EC_FDTD_LISTED(0, 2)},
                               {EC_FDTD_LISTED(1, 0), EC_FDTD_LISTED(1, 1), EC_FDTD_LISTED(1, 2)}};
#undef EC_FDTD_LISTED
#undef EC_FDTD_KINDS
#undef EC_FDTD_ROWS

/* Plane k of a side. */
static void NAME(sweep)(const ec_fdtd_shape *s, const NAME(fields) * p, int side, int k)
{
    const int how = !p->b[side][0] ? EC_FDTD_PLAIN : p->block[side] ? EC_FDTD_BLOCKS : EC_FDTD_OWN;
    NAME(rows) *const(*kind)[2] = NAME(kinds)[side][how];
    const int n = s->nodes[1];
    const bool up = s->slab[2] > 0 && ec_fdtd_slab(s, 2, k) >= 0;
    const int low = s->slab[1] == 0 ? 0 : s->layers[1][0] < n ? s->layers[1][0] : n;
    const int last = s->layers[1][1] > 0 ? s->n[1] - s->layers[1][1] : n;
    const int high = last < low ? low : last < n ? last : n;

    if (low > 0)
        kind[1][up](s, p, k, 0, low);
    if (low < high)
        kind[0][up](s, p, k, low, high);
    if (high < n)
        kind[1][up](s, p, k, high, n);
}

/* Along periodic axes: H behind the last node of plane k from the first cell (side 1), or E of the first
 * node from the last one; see fdtd_domain_internal.h. */
static void NAME(wrap)(const ec_fdtd_shape *s, const NAME(fields) * p, int side, int k)
{
    for (int axis = 0; axis < 3; axis++)
        for (int t = 1; t < 3 && s->periodic[axis]; t++) {
            REAL *f = p->f[side][(axis + t) % 3];
            const int n = s->n[axis], to = side ? n : 0, from = side ? 0 : n;
            if (axis == 0)
                for (int j = 0; j < s->rows; j++)
                    f[ec_fdtd_at(s, to, j, k)] = f[ec_fdtd_at(s, from, j, k)];
            else if (axis == 1)
                memcpy(f + ec_fdtd_at(s, 0, to, k), f + ec_fdtd_at(s, 0, from, k),
                       (size_t)s->pitch * sizeof *f);
            else if (k == n)
                memcpy(f + to * s->plane, f + from * s->plane, (size_t)s->plane * sizeof *f);
        }
}

/* Plane k of step `step`; *h_term, *e_term and *source go on through the domain's sorted lists. */
static void NAME(plane)(const ec_fdtd_steps_args *args, const ec_fdtd_domain *d,
                        const NAME(fields) * p, int k, int64_t step, ec_fdtd_cursor *at)
{
    const ec_fdtd_shape *s = &args->shape;
    const REAL *field = (const REAL *)d->field;
    const int64_t slot = step - d->step;

    for (int side = 1; side >= 0; side--) {
        const ec_fdtd_term *term = side ? d->h_term : d->e_term;
        const int32_t n_terms = side ? d->n_h_terms : d->n_e_terms;
        int32_t *next = side ? &at->h_term : &at->e_term;
        NAME(sweep)(s, p, side, k);
        /* A part of the curl: branches, poles and copies want the field with it. */
        const ec_fdtd_incidence *w = &d->incidence;
        int32_t *entry = at->incidence + side;
        if (step < w->steps)
            for (; *entry < w->n[side] && w->entry[side][*entry].k == k; ++*entry) {
                REAL *x = (REAL *)d->field + w->entry[side][*entry].index;
                *x = *x + (REAL)ec_fdtd_incident(w, side, *entry, step, args->double_precision);
            }
        if (side == 0 && step < d->n_wave)
            for (; at->source < d->n_sources && d->source[at->source].k == k; at->source++) {
                const ec_fdtd_source *q = d->source + at->source;
                REAL *e = (REAL *)d->field + q->index;
                *e = *e + ((const REAL *)d->b)[q->edge] * (REAL)(q->scale * d->wave[step]);
            }
        for (; side == 0 && at->branch < d->n_branches && d->branch[at->branch].k == k;
             at->branch++) {
            const ec_fdtd_branch *q = d->branch + at->branch;
            REAL *e = (REAL *)d->field + q->index;
            *e = (REAL)ec_fdtd_branch_step(
                q, d->branch_state + (int64_t)at->branch * EC_FDTD_BRANCH_STATE, (double)*e,
                (double)((const REAL *)d->b)[q->edge]);
        }
        for (;
             side == 0 && at->dispersive < d->n_dispersive && d->dispersive[at->dispersive].k == k;
             at->dispersive++)
            NAME(pole_edge)(d, at->dispersive);
        NAME(wrap)(s, p, side, k);
        for (; *next < n_terms && term[*next].k == k; ++*next)
            d->series[(int64_t)term[*next].probe * args->window + slot] +=
                term[*next].weight * (double)field[term[*next].index];
    }
}

/* A domain's steps, `together` of them following one another through its planes. */
static void NAME(domain_steps)(const ec_fdtd_steps_args *args, const ec_fdtd_domain *d)
{
    const int planes = args->shape.nodes[2],
              together = ec_fdtd_together(&args->shape, sizeof(REAL));
    ec_fdtd_cursor at[EC_FDTD_TOGETHER];
    NAME(fields) p;

    NAME(open)(&args->shape, d, &p);
    const int end = ec_fdtd_end(args, d);
    for (int first = args->first; first < end; first += together) {
        const int n = end - first < together ? end - first : together;
        for (int t = 0; t < n; t++)
            at[t] = (ec_fdtd_cursor){0};
        for (int front = 0; front < planes + n - 1; front++)
            for (int t = 0; t < n; t++)
                if (front - t >= 0 && front - t < planes)
                    NAME(plane)(args, d, &p, front - t, d->step + first + t, at + t);
    }
}

/* The same by all threads, each a step: step t may have plane k when step t - 1 has done plane
 * k + 1. done[t % EC_FDTD_PIPE] counts the planes of all steps up to t that its thread did. */
static void NAME(domain_pipe)(const ec_fdtd_steps_args *args, const ec_fdtd_domain *d,
                              ec_fdtd_progress *done, int thread, int threads)
{
    const int planes = args->shape.nodes[2];
    /* Around a periodic axis the first plane waits for the last one. */
    const int ahead = args->shape.periodic[2] ? planes : 2;
    NAME(fields) p;

    NAME(open)(&args->shape, d, &p);
    const int steps = ec_fdtd_end(args, d) - args->first;
    for (int t = thread; t < steps; t += threads) {
        ec_fdtd_cursor at = {0};
        for (int k = 0; k < planes; k++) {
            if (t > 0)
                ec_fdtd_wait(done + (t - 1) % threads,
                             (int64_t)(t - 1) * planes + (k + ahead < planes ? k + ahead : planes));
            NAME(plane)(args, d, &p, k, d->step + args->first + t, &at);
            atomic_store_explicit(&done[thread].planes, (int64_t)t * planes + k + 1,
                                  memory_order_release);
        }
    }
}

/* What the elements of component c of E in row (j, k) hold of twice the energy: see fdtd_domain_internal.h;
 * `x`, `yz`: the inverse lengths along x, and the others' product. */
static double NAME(energy_e)(const NAME(fields) * p, int c, double dt, int64_t at, const REAL *x,
                             double yz, int from, int end)
{
    const REAL *e = p->f[0][c] + at, *a = p->a[0][c] + at, *b = p->b[0][c] + at;
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int i = from; i < end; i++) {
        const double bi = (double)b[i], ei = (double)e[i];
        const double part = 0.5 * dt * (1 + (double)a[i]) * ei * ei;
        sum += bi != 0 ? part / (bi * ((double)x[i] * yz)) : 0;
    }
    return sum;
}

/* The same of H: u, v and the neighbours ahead of them as in a step. */
static double NAME(energy_h)(const ec_fdtd_shape *s, const NAME(fields) * p, int c, double dt,
                             int j, int k, int64_t at, double yz, int from, int end)
{
    const int c1 = (c + 1) % 3, c2 = (c + 2) % 3, place[3] = {0, j, k};
    const int64_t stride[3] = {1, s->pitch, s->plane};
    const REAL *u = p->f[0][c2] + at, *v = p->f[0][c1] + at, *h = p->f[1][c] + at;
    const REAL *u1 = u + stride[c1], *v1 = v + stride[c2];
    const REAL *iu = p->id[1][c1] + place[c1], *iv = p->id[1][c2] + place[c2];
    const REAL *a = p->a[1][c] ? p->a[1][c] + at : NULL, *b = p->b[1][c] ? p->b[1][c] + at : NULL;
    const REAL *x = c == 0 ? p->id[0][0] : p->id[1][0];
    const int xu = c1 == 0, xv = c2 == 0; /* along the row, or one number */
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int i = from; i < end; i++) {
        const REAL curl = (u1[i] - u[i]) * iu[xu * i] - (v1[i] - v[i]) * iv[xv * i];
        const double ha = a ? (double)a[i] : 1, hb = b ? (double)b[i] : (double)p->h;
        const double old = (double)h[i];
        const double part = -0.5 * dt * (1 + ha) * old * (ha * old + hb * (double)curl);
        sum += hb != 0 ? part / (hb * ((double)x[i] * yz)) : 0;
    }
    return sum;
}

/* Row (j, k) of cells that are not absorbing. At the high end of an axis there are elements across it alone;
 * those of a periodic axis were counted at its first node. */
static double NAME(energy_row)(const ec_fdtd_shape *s, const ec_fdtd_domain *d,
                               const NAME(fields) * p, int j, int k)
{
    const int place[3] = {0, j, k}, from = s->layers[0][0], last = s->n[0] - s->layers[0][1];
    const int64_t at = ec_fdtd_at(s, 0, j, k);
    const REAL *const *edge = p->id[1], *const *node = p->id[0];
    bool inside[3] = {true};
    double sum = 0;

    for (int c = 1; c < 3; c++) {
        if (s->periodic[c] && place[c] == s->n[c])
            return 0;
        inside[c] = place[c] < s->n[c] - s->layers[c][1];
    }
    for (int c = 0; c < 3; c++) {
        const double y = c == 1 ? (double)edge[1][j] : (double)node[1][j],
                     z = c == 2 ? (double)edge[2][k] : (double)node[2][k];
        const double hy = c == 1 ? (double)node[1][j] : (double)edge[1][j],
                     hz = c == 2 ? (double)node[2][k] : (double)edge[2][k];
        const int across = last + (s->periodic[0] && last == s->n[0] ? 0 : 1);
        if (inside[c])
            sum += NAME(energy_e)(p, c, d->dt, at, c == 0 ? edge[0] : node[0], y * z, from,
                                  c == 0 ? last : across);
        if ((c == 1 || inside[1]) && (c == 2 || inside[2]))
            sum += NAME(energy_h)(s, p, c, d->dt, j, k, at, hy * hz, from, c == 0 ? across : last);
    }
    return sum;
}

static double NAME(energy)(const ec_fdtd_shape *s, const ec_fdtd_domain *d)
{
    NAME(fields) p;
    double sum = 0;

    NAME(open)(s, d, &p);
    for (int k = s->layers[2][0]; k <= s->n[2] - s->layers[2][1]; k++)
        for (int j = s->layers[1][0]; j <= s->n[1] - s->layers[1][1]; j++)
            sum += NAME(energy_row)(s, d, &p, j, k);
    for (int32_t i = 0; i < d->n_dispersive; i++)
        sum += NAME(pole_energy)(s, d, i);
    return 0.5 * sum;
}
