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
    const REAL *id[2][3], *pb[2][3], *pc[2][3];
    REAL *psi[2][3][2]; /* [E, H][axis][along axis + 1, axis + 2] */
} NAME(fields);

static void NAME(open)(const ec_fdtd_shape *s, const ec_fdtd_domain *d, NAME(fields) * p)
{
    const int64_t component = s->plane * (s->n[2] + 1);
    REAL *psi = (REAL *)d->psi;

    p->h = (REAL)d->h;
    for (int side = 0; side < 2; side++)
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

/* Rows f = a f + b ((u1 - u0) iu - (v1 - v0) iv): the inverse spacings are one number for the row, or
 * iu or iv lies along it. `plain`: a = 1 and b = h. */
#define EC_FDTD_ROW(row, FIRST, B, IU, IV)                                                         \
    static void NAME(row)(REAL *restrict f, const REAL *a, const REAL *b, REAL h, const REAL *u1,  \
                          const REAL *u0, const REAL *iu, const REAL *v1, const REAL *v0,          \
                          const REAL *iv, int n)                                                   \
    {                                                                                              \
        const REAL ju = *iu, jv = *iv;                                                             \
        (void)a, (void)b, (void)h, (void)ju, (void)jv;                                             \
        for (int i = 0; i < n; i++)                                                                \
            f[i] = FIRST + (B) * ((u1[i] - u0[i]) * (IU) - (v1[i] - v0[i]) * (IV));                \
    }
EC_FDTD_ROW(row_x, a[i] * f[i], b[i], ju, jv)
EC_FDTD_ROW(row_y, a[i] * f[i], b[i], ju, iv[i])
EC_FDTD_ROW(row_z, a[i] * f[i], b[i], iu[i], jv)
EC_FDTD_ROW(plain_x, f[i], h, ju, jv)
EC_FDTD_ROW(plain_y, f[i], h, ju, iv[i])
EC_FDTD_ROW(plain_z, f[i], h, iu[i], jv)
#undef EC_FDTD_ROW

/* A row's absorbing term along an axis: psi = pb psi + pc ((u1 - u0) id), f = f + (sign b) psi; the row
 * lies across the axis (`step` 0: pb, pc and id are one number) or along it (1). */
static void NAME(absorb)(REAL *restrict f, const REAL *b, REAL h, REAL sign, REAL *restrict psi,
                         const REAL *pb, const REAL *pc, const REAL *id, int step, const REAL *u1,
                         const REAL *u0, int n)
{
    if (step) {
        for (int i = 0; i < n; i++) {
            psi[i] = pb[i] * psi[i] + pc[i] * ((u1[i] - u0[i]) * id[i]);
            f[i] = f[i] + (sign * (b ? b[i] : h)) * psi[i];
        }
        return;
    }
    const REAL b0 = *pb, c0 = *pc, d0 = *id;
    if (b)
        for (int i = 0; i < n; i++) {
            psi[i] = b0 * psi[i] + c0 * ((u1[i] - u0[i]) * d0);
            f[i] = f[i] + (sign * b[i]) * psi[i];
        }
    else
        for (int i = 0; i < n; i++) {
            psi[i] = b0 * psi[i] + c0 * ((u1[i] - u0[i]) * d0);
            f[i] = f[i] + (sign * h) * psi[i];
        }
}

/* Row (j, k) of component c of E (side 0) or H (side 1). */
EC_FN void NAME(row)(const ec_fdtd_shape *s, const NAME(fields) * p, int side, int c, int j, int k)
{
    const int c1 = (c + 1) % 3, c2 = (c + 2) % 3, n = s->nodes[0];
    const int64_t stride[3] = {1, s->pitch, s->plane}, at = ec_fdtd_at(s, 0, j, k);
    const int place[3] = {0, j, k};
    REAL *f = p->f[side][c] + at;
    const REAL *a = p->a[side][c], *b = p->b[side][c];
    const REAL *u = p->f[!side][c2] + at, *v = p->f[!side][c1] + at;
    /* E reads the neighbour behind, H the one ahead. */
    const REAL *u1 = side ? u + stride[c1] : u, *u0 = side ? u : u - stride[c1];
    const REAL *v1 = side ? v + stride[c2] : v, *v0 = side ? v : v - stride[c2];
    const REAL *iu = p->id[side][c1] + place[c1], *iv = p->id[side][c2] + place[c2];

    a = a ? a + at : NULL;
    b = b ? b + at : NULL;
    if (b)
        (c == 0   ? NAME(row_x)
         : c == 1 ? NAME(row_y)
                  : NAME(row_z))(f, a, b, 0, u1, u0, iu, v1, v0, iv, n);
    else
        (c == 0   ? NAME(plain_x)
         : c == 1 ? NAME(plain_y)
                  : NAME(plain_z))(f, NULL, NULL, p->h, u1, u0, iu, v1, v0, iv, n);
    for (int t = 0; t < 2; t++) {
        const int axis = t ? c2 : c1;
        const REAL sign = t ? -1 : 1, *w1 = t ? v1 : u1, *w0 = t ? v0 : u0;
        REAL *psi = p->psi[side][axis][t ? 0 : 1]; /* c is axis + 2 for c1, axis + 1 for c2 */
        const REAL *pb = p->pb[side][axis], *pc = p->pc[side][axis], *id = p->id[side][axis];
        if (s->slab[axis] == 0)
            continue;
        if (axis == 0) {
            const int low = s->along[0] < n ? s->along[0] : n;
            const int high = s->along[1] < n ? s->along[1] : n;
            psi += ((int64_t)k * s->rows + j) * s->slab[0];
            NAME(absorb)(f, b, p->h, sign, psi, pb, pc, id, 1, w1, w0, low);
            NAME(absorb)
            (f + high, b ? b + high : NULL, p->h, sign, psi + low, pb + high, pc + high, id + high,
             1, w1 + high, w0 + high, n - high);
            continue;
        }
        const int slab = ec_fdtd_slab(s, axis, place[axis]);
        if (slab < 0)
            continue;
        psi += axis == 1 ? ((int64_t)k * s->slab[1] + slab) * s->pitch
                         : ((int64_t)slab * s->rows + j) * s->pitch;
        NAME(absorb)
        (f, b, p->h, sign, psi, pb + place[axis], pc + place[axis], id + place[axis], 0, w1, w0, n);
    }
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
        for (int j = 0; j < s->nodes[1]; j++) { /* while its neighbours are in the nearest cache */
            NAME(row)(s, p, side, 0, j, k);
            NAME(row)(s, p, side, 1, j, k);
            NAME(row)(s, p, side, 2, j, k);
        }
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

/* What the cells behind node (i, j, k) add to twice the energy: see fdtd_domain_internal.h. */
static double NAME(cell_energy)(const ec_fdtd_shape *s, const ec_fdtd_domain *d,
                                const NAME(fields) * p, int i, int j, int k)
{
    const int place[3] = {i, j, k};
    const int64_t stride[3] = {1, s->pitch, s->plane}, at = ec_fdtd_at(s, i, j, k);
    bool inside[3]; /* the cell behind the node along each axis is no absorbing one */
    double sum = 0;

    for (int c = 0; c < 3; c++)
        if (s->periodic[c] && place[c] == s->n[c])
            return 0; /* counted at the first node */
    for (int c = 0; c < 3; c++)
        inside[c] = place[c] < s->n[c] - s->layers[c][1];
    for (int c = 0; c < 3; c++) {
        const int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        const double e = (double)p->f[0][c][at], b = (double)p->b[0][c][at];
        if (inside[c] && b != 0) {
            double eps = d->dt * (1 + (double)p->a[0][c][at]) / (2 * b);
            sum += eps * e * e /
                   ((double)p->id[1][c][place[c]] * (double)p->id[0][c1][place[c1]] *
                    (double)p->id[0][c2][place[c2]]);
        }
        if (!inside[c1] || !inside[c2])
            continue;
        const REAL *u = p->f[0][c2] + at, *v = p->f[0][c1] + at;
        const REAL curl = (u[stride[c1]] - u[0]) * p->id[1][c1][place[c1]] -
                          (v[stride[c2]] - v[0]) * p->id[1][c2][place[c2]];
        const double ha = p->a[1][c] ? (double)p->a[1][c][at] : 1;
        const double hb = p->b[1][c] ? (double)p->b[1][c][at] : (double)p->h;
        const double old = (double)p->f[1][c][at];
        if (hb != 0)
            sum += -d->dt * (1 + ha) / (2 * hb) * old * (ha * old + hb * (double)curl) /
                   ((double)p->id[0][c][place[c]] * (double)p->id[1][c1][place[c1]] *
                    (double)p->id[1][c2][place[c2]]);
    }
    return sum;
}

static double NAME(energy)(const ec_fdtd_shape *s, const ec_fdtd_domain *d)
{
    NAME(fields) p;
    double sum = 0;

    NAME(open)(s, d, &p);
    for (int k = s->layers[2][0]; k <= s->n[2] - s->layers[2][1]; k++)
        for (int j = s->layers[1][0]; j <= s->n[1] - s->layers[1][1]; j++) {
            double row = 0;
            for (int i = s->layers[0][0]; i <= s->n[0] - s->layers[0][1]; i++)
                row += NAME(cell_energy)(s, d, &p, i, j, k);
            sum += row;
        }
    for (int32_t i = 0; i < d->n_dispersive; i++)
        sum += NAME(pole_energy)(s, d, i);
    return 0.5 * sum;
}
