/* mimo_kernels.h: between the values of a graph and pairs of antennas: places out, channels in, and
 * whether antennas are where antennas can be. C17 and CUDA.
 *
 * A pair is a receiving antenna r and a transmitting one t, pair number r n_tx + t; lane
 * pair n + c - first of a batch is that pair of candidate c. */
#ifndef EC_MIMO_KERNELS_H
#define EC_MIMO_KERNELS_H

#include "../../core/array.h"
#include "../../core/complex_math.h"
#include "../../core/kernel.h"
#include "path_occlusion.h"

/* A coordinate of antennas. */
typedef struct ec_mimo_input {
    const double *data;
    size_t ld, stride; /* of elements, 0: the same for all antennas; of samples */
    bool varies;       /* with the candidate */
} ec_mimo_input;

enum { EC_MIMO_COUNTS = 3 }; /* paths, grazing ones, unresolved sequences */

/* Results; data NULL: not asked for. */
typedef struct ec_mimo_result {
    void *data; /* ec_c128 or double */
    size_t ld, stride;
    bool varies;
} ec_mimo_result;

/* Channels of lanes [first, first + lanes) of all pairs of n candidates, at `sets` samples from
 * `sample` on that differ in their frequencies only. */
typedef struct ec_mimo_batch {
    ec_mimo_input tx[3], rx[3];
    int32_t n_tx, n_rx; /* n_rx: of all receivers */
    int32_t n_frequencies;
    size_t sample, sets, n; /* n: candidates */
    size_t first, lanes;
    size_t ld;             /* of the lanes */
    double *tx_at, *rx_at; /* [3][ld] */
    /* of ends whose antennas are not alike: which one each of them is, which one each lane has; else
     * NULL */
    const int32_t *tx_which, *rx_which;
    int32_t *tx_of, *rx_of;
    const double *sum; /* [2 sets n_frequencies + EC_MIMO_COUNTS][ld] */
    ec_mimo_result h, count[EC_MIMO_COUNTS];
} ec_mimo_batch;

/* What a design is checked for that neither end can tell alone. */
typedef struct ec_mimo_check {
    ec_mimo_input tx[3], rx[3], frequency;
    size_t n_tx, n_rx, n_frequencies; /* n_frequencies 0: they are no expression */
    bool apart;                       /* whether a receiver is at a transmitter */
    double near;                      /* m */
    double range[2];                  /* of frequencies, Hz */
    size_t samples, n;
    uint8_t *status;
    uint8_t outside, bad; /* bits of the status */
    const int32_t *stop;  /* see ec_exec; may be NULL */
} ec_mimo_check;

EC_FN ec_mimo_input ec_mimo_input_of(const ec_array *a)
{
    ec_mimo_input in;
    in.data = (const double *)a->data;
    in.ld = a->elements > 1 ? a->ld : 0;
    in.stride = a->sample_stride;
    in.varies = (a->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP)) != 0;
    return in;
}

EC_FN void ec_mimo_position(const ec_mimo_input in[3], size_t antenna, size_t sample, size_t c,
                            double p[3])
{
    for (int k = 0; k < 3; k++)
        p[k] = in[k].data[sample * in[k].stride + antenna * in[k].ld + (in[k].varies ? c : 0)];
}

EC_FN void ec_mimo_gather_body(const ec_mimo_batch *b, size_t lane0, size_t y)
{
    (void)y;
    for (int l = 0; l < EC_LANES; l++) {
        size_t lane = lane0 + (size_t)l, pair = (b->first + lane) / b->n;
        size_t c = (b->first + lane) % b->n;
        double tx[3], rx[3];
        if (lane >= b->lanes)
            break;
        size_t t = pair % (size_t)b->n_tx, r = pair / (size_t)b->n_tx;
        ec_mimo_position(b->tx, t, b->sample, c, tx);
        ec_mimo_position(b->rx, r, b->sample, c, rx);
        if (b->tx_of)
            b->tx_of[lane] = b->tx_which[t];
        if (b->rx_of)
            b->rx_of[lane] = b->rx_which[r];
        for (size_t k = 0; k < 3; k++) {
            b->tx_at[k * b->ld + lane] = tx[k];
            b->rx_at[k * b->ld + lane] = rx[k];
        }
    }
}

EC_FN size_t ec_mimo_place(const ec_mimo_result *r, size_t element, size_t sample, size_t c)
{
    return sample * r->stride + element * r->ld + (r->varies ? c : 0);
}

/* y: a frequency of a sample, or behind them a count, which is that of all these samples. */
EC_FN void ec_mimo_scatter_body(const ec_mimo_batch *b, size_t lane0, size_t y)
{
    size_t each = (size_t)b->n_frequencies, frequencies = b->sets * each;
    size_t all = (size_t)b->n_rx * (size_t)b->n_tx;

    for (int l = 0; l < EC_LANES; l++) {
        size_t lane = lane0 + (size_t)l, pair = (b->first + lane) / b->n;
        size_t c = (b->first + lane) % b->n;
        if (lane >= b->lanes)
            break;
        if (y < frequencies) {
            ec_c128 *h = (ec_c128 *)b->h.data;
            if (h)
                h[ec_mimo_place(&b->h, y % each * all + pair, b->sample + y / each, c)] =
                    ec_c128_of(b->sum[2 * y * b->ld + lane], b->sum[(2 * y + 1) * b->ld + lane]);
            continue;
        }
        const ec_mimo_result *r = &b->count[y - frequencies];
        double *count = (double *)r->data;
        for (size_t s = 0; count && s < b->sets; s++)
            count[ec_mimo_place(r, pair, b->sample + s, c)] =
                b->sum[(frequencies + y) * b->ld + lane];
    }
}

/* 1 where a direction leaves what a triangle is the skin of, -1 where it enters, 0 at a sheet. */
EC_FN int32_t ec_mimo_crossing(const ec_scene *s, int32_t triangle, const double d[3])
{
    const int32_t *t = s->triangle[triangle];
    int32_t part = s->part[triangle];
    double a[3], b[3], n[3];

    if (part >= 0 ? s->facet[part].thin : s->surface[~part].thin)
        return 0;
    ec_path_sub(s->vertex[t[1]], s->vertex[t[0]], a);
    ec_path_sub(s->vertex[t[2]], s->vertex[t[0]], b);
    ec_path_cross(a, b, n);
    double along = ec_path_dot(n, d);
    return along > 0 ? 1 : along < 0 ? -1 : 0;
}

enum { EC_MIMO_HITS_MAX = 256 };

/* How many more solids a ray leaves than it enters: those that hold its begin, less the rooms that do.
 * A facet is met once, so that it need not be looked at again and those that touch it, at the same
 * place of the ray, are not passed over. */
EC_FN int32_t ec_mimo_leaves(const ec_path_view *w, const double p[3], const double d[3])
{
    int32_t skip[2] = {EC_BVH_NO_PART, EC_BVH_NO_PART}, leaves = 0;
    float begin = 0;

    for (int i = 0; i < EC_MIMO_HITS_MAX; i++) {
        ec_bvh_ray ray;
        ec_bvh_hit hit;
        if (!ec_bvh_ray_set(&w->bvh, p, d, begin, (double)INFINITY, skip[0], skip[1], &ray) ||
            !ec_bvh_closest(&w->bvh, &ray, &hit))
            break;
        int32_t part = w->scene.part[hit.triangle];
        leaves += ec_mimo_crossing(&w->scene, hit.triangle, d);
        if (part >= 0) {
            skip[1] = skip[0];
            skip[0] = part;
            begin = hit.t;
        } else {
            begin = ec_bvh_float(ec_bvh_bits(hit.t > 0 ? hit.t : 0.0f) + 1);
        }
    }
    return leaves;
}

/* Whether a point is in a solid of an exact shape but outside of its triangles, between them and the
 * true surface: from right above that, no triangle is met before the point. */
EC_FN bool ec_mimo_is_under_shape(const ec_path_view *w, const double p[3])
{
    for (int32_t i = 0; i < w->scene.n_surfaces; i++) {
        const ec_surface *s = &w->scene.surface[i];
        double n[3], d[3], from[3], above = 10 * w->tolerance;
        ec_bvh_ray ray;
        if (s->kind == EC_SURFACE_MESH || s->inward || s->thin || !ec_path_shape_holds(s, p, 0))
            continue;
        ec_path_shape_normal(s, p, n);
        ec_path_sub(p, s->point, d);
        double height = ec_path_dot(n, d) - (s->kind == EC_SURFACE_CONE ? 0 : s->radius);
        if (!(height < -w->tolerance))
            continue;
        ec_path_along(p, above - height, n, from);
        for (int k = 0; k < 3; k++)
            n[k] = -n[k];
        if (ec_bvh_ray_set(&w->bvh, from, n, 0, above - height, EC_BVH_NO_PART, EC_BVH_NO_PART,
                           &ray) &&
            !ec_bvh_any(&w->bvh, &ray))
            return true;
    }
    return false;
}

/* Whether a point is inside a solid, or in a scene with rooms in none of them: by what rays to both
 * sides leave. The larger number counts, for a ground, a solid without an end, is entered by one of
 * them. The directions are askew so that they do not run along walls; two that agree decide. */
EC_FN bool ec_mimo_is_inside(const ec_path_view *w, const double p[3])
{
    const double direction[3][3] = {
        {0.211, 0.317, 0.924}, {0.877, -0.467, 0.113}, {0.433, 0.826, -0.361}};
    int32_t most = w->scene.report.enclosing > 0 ? -1 : 0, inside = 0;

    for (int i = 0; i < 3 && (i < 2 || inside == 1); i++) {
        double back[3] = {-direction[i][0], -direction[i][1], -direction[i][2]};
        int32_t one = ec_mimo_leaves(w, p, direction[i]), other = ec_mimo_leaves(w, p, back);
        inside += (one > other ? one : other) > most ? 1 : 0;
    }
    return inside > 1 || ec_mimo_is_under_shape(w, p);
}

/* Whether a point lies on a triangle: nearer than what paths take for one point. */
EC_FN bool ec_mimo_is_on_surface(const ec_path_view *w, const double p[3])
{
    const double d[3] = {0.577, 0.211, 0.789};
    double reach = 1e-5 * (w->bvh.size > 0 ? (double)w->bvh.size : 1), from[3];
    float begin = 0;

    ec_path_along(p, -reach, d, from);
    for (int i = 0; i < 8; i++) {
        ec_bvh_ray ray;
        ec_bvh_hit hit;
        double x, y;
        if (!ec_bvh_ray_set(&w->bvh, from, d, begin, 2 * reach, EC_BVH_NO_PART, EC_BVH_NO_PART,
                            &ray) ||
            !ec_bvh_closest(&w->bvh, &ray, &hit))
            return false;
        double t = ec_path_meet(&w->scene, w->scene.triangle[hit.triangle], from, d, &x, &y);
        if (fabs(t - reach) <= 10 * w->tolerance)
            return true;
        begin = ec_bvh_float(ec_bvh_bits(hit.t > 0 ? hit.t : 0.0f) + 1);
    }
    return false;
}

EC_FN bool ec_mimo_in_box(const double box[2][3], const double p[3])
{
    for (int k = 0; k < 3; k++)
        if (!(p[k] >= box[0][k] && p[k] <= box[1][k]))
            return false;
    return true;
}

EC_FN uint8_t ec_mimo_candidate_status(const ec_mimo_check *a, size_t sample, size_t c)
{
    uint8_t status = 0;
    double tx[3], rx[3];

    for (size_t i = 0; i < a->n_frequencies; i++) {
        const ec_mimo_input *in = &a->frequency;
        double f = in->data[sample * in->stride + i * in->ld + (in->varies ? c : 0)];
        if (!(f >= a->range[0] && f <= a->range[1]))
            status |= a->outside;
    }
    for (size_t r = 0; r < a->n_rx && a->apart; r++) {
        ec_mimo_position(a->rx, r, sample, c, rx);
        for (size_t t = 0; t < a->n_tx; t++) {
            ec_mimo_position(a->tx, t, sample, c, tx);
            if (!(ec_path_distance(tx, rx) > a->near))
                status |= a->bad;
        }
    }
    return status;
}

EC_FN void ec_mimo_check_body(const ec_mimo_check *a, size_t lane0, size_t y)
{
    (void)y;
    if (a->stop && *a->stop)
        return;
    for (int l = 0; l < EC_LANES; l++) {
        size_t c = lane0 + (size_t)l;
        if (c >= a->n)
            break;
        for (size_t s = 0; s < a->samples; s++)
            a->status[c] |= ec_mimo_candidate_status(a, s, c);
    }
}

#endif
