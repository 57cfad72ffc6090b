/* array_surface.h: metrics of a pattern over two coordinates (u-v, theta-phi) or over a list.
 *
 * Point i = ia * nb + ib of a row of |F|^2; -1 marks an invisible point, so that it is never a
 * peak. In the search a peak is interpolated by the quadratic through its 3 x 3 samples; with
 * args->exact local maxima are refined by Newton's method on the true function in float64, and the
 * rims of the region (the visible circle, the edge of an excluded or masked region) are searched as
 * curves. A list has no neighbours: its samples are what counts.
 */
#ifndef EC_ARRAY_SURFACE_H
#define EC_ARRAY_SURFACE_H

#include "array_cut.h"

/* ---- geometry ---- */

/* Direction at (a, b) and its derivatives: d, d/da, d/db, d2/da2, d2/dadb, d2/db2. */
EC_PATTERN_FN void ec_surface_direction(const ec_pattern_grid *grid, double a, double b,
                                        ec_direction d[6])
{
    if (grid->kind == EC_ARRAY_GRID_THETA_PHI) {
        double st, ct, sp, cp;
        ec_det_sincos(a, &st, &ct);
        ec_det_sincos(b, &sp, &cp);
        st = fabs(st) < grid->pole ? grid->pole : st;
        d[0].u = st * cp, d[0].v = st * sp, d[0].w = ct;
        d[1].u = ct * cp, d[1].v = ct * sp, d[1].w = -st;
        d[2].u = -st * sp, d[2].v = st * cp, d[2].w = 0.0;
        d[3].u = -st * cp, d[3].v = -st * sp, d[3].w = -ct;
        d[4].u = -ct * sp, d[4].v = ct * cp, d[4].w = 0.0;
        d[5].u = -st * cp, d[5].v = -st * sp, d[5].w = 0.0;
        return;
    }
    double square = 1.0 - a * a - b * b;
    double w = sqrt(square > 0.0 ? square : 0.0);
    double f = 1.0 / (w > 1e-7 ? w : 1e-7), cube = f * f * f;
    d[0].u = a, d[0].v = b, d[0].w = w;
    d[1].u = 1.0, d[1].v = 0.0, d[1].w = -a * f;
    d[2].u = 0.0, d[2].v = 1.0, d[2].w = -b * f;
    d[3].u = d[3].v = 0.0, d[3].w = -(1.0 - b * b) * cube;
    d[4].u = d[4].v = 0.0, d[4].w = -a * b * cube;
    d[5].u = d[5].v = 0.0, d[5].w = -(1.0 - a * a) * cube;
}

/* ln |F|^2 g^2 in a direction. */
EC_PATTERN_FN double ec_surface_log(const ec_pattern_args *args, const ec_pattern_elements *el,
                                    ec_direction d)
{
    double p = ec_pattern_square(args, el, d);

    return ec_gain_log(&args->gain, d, ec_det_log(p > EC_POWER_MIN ? p : EC_POWER_MIN));
}

/* s: ln |F|^2 g^2 in direction d[0], its gradient and Hessian over the two parameters that d's
 * derivatives (in the order of ec_surface_direction) belong to. */
EC_PATTERN_FN void ec_surface_exact(const ec_pattern_args *args, const ec_pattern_elements *el,
                                    const ec_direction d[6], double s[6])
{
    if (args->own.parts) {
        ec_own_exact(args, el, d, s);
        double power = s[0] > EC_POWER_MIN ? s[0] : EC_POWER_MIN;
        s[0] = ec_det_log(power);
        for (int k = 1; k < 6; k++)
            s[k] /= power;
        s[3] -= s[1] * s[1];
        s[4] -= s[1] * s[2];
        s[5] -= s[2] * s[2];
        return;
    }
    double r0 = 0.0, r1 = 0.0, r2 = 0.0, r3 = 0.0, r4 = 0.0, r5 = 0.0;
    double i0 = 0.0, i1 = 0.0, i2 = 0.0, i3 = 0.0, i4 = 0.0, i5 = 0.0;
    EC_PATTERN_SIMD_SUM(r0, r1, r2, r3, r4, r5, i0, i1, i2, i3, i4, i5)
    for (int32_t m = 0; m < el->n; m++) {
        double x = EC_TURN * el->x[m], y = EC_TURN * el->y[m], z = EC_TURN * el->z[m], sine, cosine;
        double a = x * d[1].u + y * d[1].v + z * d[1].w, b = x * d[2].u + y * d[2].v + z * d[2].w;
        double aa = x * d[3].u + y * d[3].v + z * d[3].w, ab = x * d[4].u + y * d[4].v + z * d[4].w;
        double bb = x * d[5].u + y * d[5].v + z * d[5].w;
        ec_sincos_turns_f64(ec_pattern_phase(el, d[0], m), &sine, &cosine);
        sine *= el->amplitude[m];
        cosine *= el->amplitude[m];
        r0 += cosine;
        i0 += sine;
        r1 -= a * sine;
        i1 += a * cosine;
        r2 -= b * sine;
        i2 += b * cosine;
        r3 -= aa * sine + a * a * cosine;
        i3 += aa * cosine - a * a * sine;
        r4 -= ab * sine + a * b * cosine;
        i4 += ab * cosine - a * b * sine;
        r5 -= bb * sine + b * b * cosine;
        i5 += bb * cosine - b * b * sine;
    }
    double re[6] = {r0, r1, r2, r3, r4, r5}, im[6] = {i0, i1, i2, i3, i4, i5};
    double p = re[0] * re[0] + im[0] * im[0];
    p = p > EC_POWER_MIN ? p : EC_POWER_MIN;
    s[0] = ec_det_log(p);
    for (int k = 1; k < 6; k++)
        s[k] = 2.0 * (re[0] * re[k] + im[0] * im[k]) / p;
    s[3] += 2.0 * (re[1] * re[1] + im[1] * im[1]) / p - s[1] * s[1];
    s[4] += 2.0 * (re[1] * re[2] + im[1] * im[2]) / p - s[1] * s[2];
    s[5] += 2.0 * (re[2] * re[2] + im[2] * im[2]) / p - s[2] * s[2];
    ec_gain_add_log(&args->gain, d, s);
}

/* ---- the main beam ---- */

typedef struct ec_surface_beam {
    double a, b; /* look direction */
    ec_direction look;
    double peak_a, peak_b; /* the beam's peak (of a list: peak_a is its index, -1: look itself) */
    double peak_log;
    double half_a, half_b; /* of the excluded ellipse; of a cone half_b is NAN */
    int32_t excluded, sample;
    const uint8_t *flooded; /* without exclusion: points of the main beam */
    const float *row;
} ec_surface_beam;

EC_FN void ec_surface_coordinates(const ec_pattern_grid *grid, int32_t i, double *a, double *b)
{
    if (grid->topology == EC_PATTERN_LIST) {
        *a = grid->u[i];
        *b = grid->v[i];
        return;
    }
    *a = grid->a[i / grid->nb];
    *b = grid->b[i % grid->nb];
}

EC_FN double ec_surface_wrap(const ec_pattern_grid *grid, double difference)
{
    return grid->circular ? difference - grid->period * ec_det_rint(difference / grid->period)
                          : difference;
}

/* Below or equal to 1 inside the exclusion region. A theta-phi grid with one half width has a
 * cone of that angle. */
EC_PATTERN_FN double ec_surface_measure(const ec_pattern_grid *grid, const ec_surface_beam *beam,
                                        double a, double b, ec_direction d)
{
    if (beam->half_b == beam->half_b) {
        double x = (a - beam->a) / beam->half_a;
        double y = ec_surface_wrap(grid, b - beam->b) / beam->half_b;
        return x * x + y * y;
    }
    double du = d.u - beam->look.u, dv = d.v - beam->look.v, dw = d.w - beam->look.w;
    double half = ec_det_sin(0.5 * beam->half_a);
    return (du * du + dv * dv + dw * dw) / (4.0 * half * half);
}

EC_FN ec_direction ec_surface_point(const ec_pattern_grid *grid, int32_t i)
{
    ec_direction d = {grid->u[i], grid->v[i], grid->w[i]};
    return d;
}

/* Tolerance of the edge of a region: a sample on the edge of an exclusion belongs inside. */
#define EC_EDGE_SLACK 1e-9

EC_PATTERN_FN bool ec_surface_in_beam(const ec_pattern_grid *grid, const ec_surface_beam *beam,
                                      int32_t i)
{
    double a, b;

    if (!beam->excluded)
        return beam->flooded && beam->flooded[i];
    ec_surface_coordinates(grid, i, &a, &b);
    return ec_surface_measure(grid, beam, a, b, ec_surface_point(grid, i)) <= 1.0 + EC_EDGE_SLACK;
}

/* Neighbour k (0..7) of point i; -1: there is none. */
EC_FN int32_t ec_surface_neighbour(const ec_pattern_grid *grid, int32_t i, int32_t k)
{
    int32_t ia = i / grid->nb, ib = i % grid->nb;
    int32_t step = k < 4 ? k : k + 1; /* 3 x 3 without the middle */
    int32_t ja = ia + step / 3 - 1, jb = ib + step % 3 - 1;

    if (grid->circular)
        jb = jb < 0 ? jb + grid->nb : jb >= grid->nb ? jb - grid->nb : jb;
    if (ja < 0 || ja >= grid->na || jb < 0 || jb >= grid->nb)
        return -1;
    return ja * grid->nb + jb;
}

/* A row of theta = 0 or pi is one direction; its neighbours are the whole next row. Returns that
 * row, -1 for a row that is no pole. */
EC_FN int32_t ec_surface_pole(const ec_pattern_grid *grid, int32_t ia)
{
    if (grid->kind != EC_ARRAY_GRID_THETA_PHI || (ia > 0 && ia < grid->na - 1))
        return -1;
    if (grid->a[ia] > 1e-9 && grid->a[ia] < EC_PI - 1e-9)
        return -1;
    return ia == 0 ? 1 : ia - 1;
}

EC_PATTERN_FN bool ec_surface_is_peak(const ec_pattern_grid *grid, const float *row, int32_t i)
{
    int32_t next = ec_surface_pole(grid, i / grid->nb);

    for (int32_t k = 0; next >= 0 && k < grid->nb; k++)
        if (row[next * grid->nb + k] > row[i])
            return false;
    for (int32_t k = 0; k < 8; k++) {
        int32_t j = ec_surface_neighbour(grid, i, k);
        if (j >= 0 && row[j] > row[i])
            return false;
    }
    return true;
}

/* Box of the cells around point i, inside the grid; b may leave a circle's period. */
EC_PATTERN_FN void ec_surface_box(const ec_pattern_grid *grid, int32_t i, double lo[2],
                                  double hi[2])
{
    int32_t ia = i / grid->nb, ib = i % grid->nb;

    lo[0] = grid->a[ia > 0 ? ia - 1 : 0];
    hi[0] = grid->a[ia < grid->na - 1 ? ia + 1 : grid->na - 1];
    lo[1] = ib > 0           ? grid->b[ib - 1]
            : grid->circular ? grid->b[grid->nb - 1] - grid->period
                             : grid->b[0];
    hi[1] = ib < grid->nb - 1 ? grid->b[ib + 1]
            : grid->circular  ? grid->b[0] + grid->period
                              : grid->b[grid->nb - 1];
}

/* Gain of the peak of the quadratic through 3 x 3 samples over the middle one, p0, and its offset.
 * p: the neighbours in the order of ec_surface_neighbour, below 0 where there is none or it is
 * invisible (then one-dimensional); am, ap, bm, bp: distances to them along a and b. */
EC_PATTERN_FN double ec_surface_quadratic(const double p[8], double p0, double am, double ap,
                                          double bm, double bp, double *da, double *db)
{
    double ga = 0.0, gb = 0.0, haa = 0.0, hbb = 0.0, hab = 0.0;
    bool all = true;

    for (int k = 0; k < 8; k++)
        all = all && p[k] >= 0.0;
    if (p[1] >= 0.0 && p[6] >= 0.0) { /* neighbours along a */
        double left = (p0 - p[1]) / am, right = (p[6] - p0) / ap;
        ga = (left * ap + right * am) / (am + ap);
        haa = 2.0 * (right - left) / (am + ap);
    }
    if (p[3] >= 0.0 && p[4] >= 0.0) {
        double left = (p0 - p[3]) / bm, right = (p[4] - p0) / bp;
        gb = (left * bp + right * bm) / (bm + bp);
        hbb = 2.0 * (right - left) / (bm + bp);
    }
    if (all)
        hab = (p[7] - p[5] - p[2] + p[0]) / ((am + ap) * (bm + bp));
    double determinant = haa * hbb - hab * hab;
    if (all && haa < 0.0 && determinant > 0.1 * haa * hbb) {
        *da = -(hbb * ga - hab * gb) / determinant;
        *db = -(haa * gb - hab * ga) / determinant;
    } else {
        hab = 0.0;
        *da = haa < 0.0 ? -ga / haa : 0.0;
        *db = hbb < 0.0 ? -gb / hbb : 0.0;
    }
    *da = *da < -am ? -am : *da > ap ? ap : *da;
    *db = *db < -bm ? -bm : *db > bp ? bp : *db;
    double gain = ga * *da + gb * *db + 0.5 * (haa * *da * *da + hbb * *db * *db) + hab * *da * *db;
    if (gain > 0.0)
        return gain;
    *da = *db = 0.0;
    return 0.0;
}

/* Peak near sample i. */
EC_PATTERN_FN double ec_surface_interpolate(const ec_pattern_grid *grid, const float *row,
                                            int32_t i, double *a, double *b)
{
    double lo[2], hi[2], p[8], da, db;

    *a = grid->a[i / grid->nb];
    *b = grid->b[i % grid->nb];
    ec_surface_box(grid, i, lo, hi);
    for (int32_t k = 0; k < 8; k++) {
        int32_t j = ec_surface_neighbour(grid, i, k);
        p[k] = j >= 0 ? (double)row[j] : -1.0;
    }
    double gain =
        ec_surface_quadratic(p, row[i], *a - lo[0], hi[0] - *a, *b - lo[1], hi[1] - *b, &da, &db);
    *a += da;
    *b += db;
    return row[i] + gain;
}

/* True when the quadratic through a sample's neighbourhood has its peak nearby, though a neighbour is
 * higher: a weak maximum on the ridge between two lobes has no sample that is higher than all its
 * neighbours. */
EC_PATTERN_FN bool ec_surface_is_crest(const ec_pattern_grid *grid, const float *row, int32_t i)
{
    const double near = 0.75; /* of a step */
    int32_t ia = i / grid->nb, ib = i % grid->nb;
    double lo[2], hi[2], p[8], p0 = row[i];

    if (ec_surface_pole(grid, ia) >= 0)
        return false;
    ec_surface_box(grid, i, lo, hi);
    for (int32_t k = 0; k < 8; k++) {
        int32_t j = ec_surface_neighbour(grid, i, k);
        if (j < 0 || row[j] < 0.0f)
            return false;
        p[k] = row[j];
    }
    double am = grid->a[ia] - lo[0], ap = hi[0] - grid->a[ia];
    double bm = grid->b[ib] - lo[1], bp = hi[1] - grid->b[ib];
    double al = (p0 - p[1]) / am, ar = (p[6] - p0) / ap;
    double bl = (p0 - p[3]) / bm, br = (p[4] - p0) / bp;
    double ga = (al * ap + ar * am) / (am + ap), haa = 2.0 * (ar - al) / (am + ap);
    double gb = (bl * bp + br * bm) / (bm + bp), hbb = 2.0 * (br - bl) / (bm + bp);
    double hab = (p[7] - p[5] - p[2] + p[0]) / ((am + ap) * (bm + bp));
    double determinant = haa * hbb - hab * hab;
    double da = hab * gb - hbb * ga, db = hab * ga - haa * gb;
    return haa < 0.0 && determinant > 0.0 && fabs(da) <= near * determinant * fmax(am, ap) &&
           fabs(db) <= near * determinant * fmax(bm, bp);
}

/* Mask line's coordinate: distance from the look direction in the u-v plane. */
EC_FN double ec_surface_distance(const ec_surface_beam *beam, ec_direction d)
{
    double du = d.u - beam->look.u, dv = d.v - beam->look.v;
    return sqrt(du * du + dv * dv);
}

/* Score of ln power against a line in direction d[0], with derivatives. */
EC_PATTERN_FN void ec_surface_score(const ec_pattern_args *args, const ec_pattern_elements *el,
                                    const ec_surface_beam *beam, const ec_pattern_line *line,
                                    const ec_direction d[6], double s[6])
{
    ec_surface_exact(args, el, d, s);
    double rate, limit = ec_line_limit(line, line->from, &rate);
    if (rate != 0.0) {
        double e[6];
        double du = d[0].u - beam->look.u, dv = d[0].v - beam->look.v;
        double r = sqrt(du * du + dv * dv), f = r > 1e-9 ? 1.0 / r : 1e9;
        limit = ec_line_limit(line, r, &rate);
        for (int k = 1; k < 6; k++)
            e[k] = (du * d[k].u + dv * d[k].v) * f;
        e[3] += (d[1].u * d[1].u + d[1].v * d[1].v - e[1] * e[1]) * f;
        e[4] += (d[1].u * d[2].u + d[1].v * d[2].v - e[1] * e[2]) * f;
        e[5] += (d[2].u * d[2].u + d[2].v * d[2].v - e[2] * e[2]) * f;
        for (int k = 1; k < 6; k++)
            s[k] -= rate * e[k];
    }
    s[0] -= limit;
    for (int k = 0; k < 6; k++)
        s[k] *= line->sign;
}

/* Step of Newton's method on a concave score, of the gradient elsewhere; no longer than `longest`
 * in units of the scales. */
EC_FN void ec_surface_step(const double s[6], double scale_a, double scale_b, double longest,
                           double *da, double *db)
{
    double determinant = s[3] * s[5] - s[4] * s[4];

    if (s[3] < 0.0 && determinant > 0.0) {
        *da = -(s[5] * s[1] - s[4] * s[2]) / determinant;
        *db = -(s[3] * s[2] - s[4] * s[1]) / determinant;
    } else {
        *da = s[3] < 0.0 ? -s[1] / s[3] : copysign(0.5 * scale_a, s[1]);
        *db = s[5] < 0.0 ? -s[2] / s[5] : copysign(0.5 * scale_b, s[2]);
    }
    double size = fmax(fabs(*da) / scale_a, fabs(*db) / scale_b);
    if (size > longest) {
        *da *= longest / size;
        *db *= longest / size;
    }
}

/* Two orthonormal tangents at direction d[0] and the curvature of great circles. */
EC_FN void ec_surface_tangents(ec_direction d[6])
{
    double r = sqrt(d[0].u * d[0].u + d[0].v * d[0].v);
    double c = r > 0.0 ? d[0].u / r : 1.0, s = r > 0.0 ? d[0].v / r : 0.0;

    d[1].u = d[0].w * c, d[1].v = d[0].w * s, d[1].w = -r;
    d[2].u = -s, d[2].v = c, d[2].w = 0.0;
    d[3].u = -d[0].u, d[3].v = -d[0].v, d[3].w = -d[0].w;
    d[4].u = d[4].v = d[4].w = 0.0;
    d[5] = d[3];
}

/* Gain of a step, of ln |F|^2, below which values only round. */
#define EC_LEAST_GAIN 1e-13

/* Climbs to the maximum near (a, b) on the sphere, where the pattern is smooth up to the rim;
 * false when the climb leaves the box or the visible half. */
EC_PATTERN_FN bool ec_surface_climb_sphere(const ec_pattern_args *args,
                                           const ec_pattern_elements *el,
                                           const ec_surface_beam *beam, const ec_pattern_line *line,
                                           const double lo[2], const double hi[2], double *a,
                                           double *b, double *score)
{
    bool angles = args->grid.kind == EC_ARRAY_GRID_THETA_PHI;
    double scale = fmax(hi[0] - lo[0], hi[1] - lo[1]), s[6], t[6];
    ec_direction d[6], e[6];

    ec_surface_direction(&args->grid, *a, *b, d);
    ec_direction start = d[0];
    ec_surface_tangents(d);
    ec_surface_score(args, el, beam, line, d, s);
    for (int round = 0; round < 40; round++) {
        double da, db;
        bool moved = false;
        ec_surface_step(s, scale, scale, 0.5, &da, &db);
        double size = sqrt(da * da + db * db);
        /* a gain below rounding cannot be seen: the step ends the climb, if it is no loss: along a
         * ring a step that gains nothing can be long */
        bool last = 0.5 * (s[1] * da + s[2] * db) < EC_LEAST_GAIN;
        for (int half = 0; half < 30 && !moved && size > 0.0; half++) {
            double sine, cosine;
            ec_det_sincos(size, &sine, &cosine);
            double fa = sine * da / size, fb = sine * db / size;
            e[0].u = cosine * d[0].u + fa * d[1].u + fb * d[2].u;
            e[0].v = cosine * d[0].v + fa * d[1].v + fb * d[2].v;
            e[0].w = cosine * d[0].w + fa * d[1].w + fb * d[2].w;
            if (angles || e[0].w >= 0.0) {
                ec_surface_tangents(e);
                ec_surface_score(args, el, beam, line, e, t);
                moved = t[0] >= s[0] - (last ? EC_LEAST_GAIN : 0.0);
            }
            if (!moved) {
                da *= 0.5;
                db *= 0.5;
                size *= 0.5;
            }
        }
        if (!moved)
            break;
        for (int k = 0; k < 6; k++) {
            d[k] = e[k];
            s[k] = t[k];
        }
        if (last)
            break;
    }
    *score = s[0];
    if (angles) {
        double middle = 0.5 * (lo[1] + hi[1]);
        *a = ec_det_atan2(sqrt(d[0].u * d[0].u + d[0].v * d[0].v), d[0].w);
        *b = middle + ec_surface_wrap(&args->grid, ec_det_atan2(d[0].v, d[0].u) - middle);
    } else {
        *a = d[0].u;
        *b = d[0].v;
    }
    if (angles) {
        /* cells about a pole are slivers: what counts is how far the climb went on the sphere */
        double across = (hi[1] - lo[1]) * sqrt(start.u * start.u + start.v * start.v);
        double far = 0.75 * fmax(hi[0] - lo[0], across);
        double du = d[0].u - start.u, dv = d[0].v - start.v, dw = d[0].w - start.w;
        const ec_pattern_grid *grid = &args->grid;
        bool inside = (grid->a[0] < 1e-9 || *a > grid->a[0]) &&
                      (grid->a[grid->na - 1] > EC_PI - 1e-9 || *a < grid->a[grid->na - 1]) &&
                      (grid->circular || (*b > grid->b[0] && *b < grid->b[grid->nb - 1]));
        return inside && du * du + dv * dv + dw * dw <= far * far;
    }
    return *a > lo[0] && *a < hi[0] && *b > lo[1] && *b < hi[1] && d[0].w > 1e-6;
}

/* True when a side of the box is a side of the grid. */
EC_PATTERN_FN bool ec_surface_at_side(const ec_pattern_grid *grid, const double lo[2],
                                      const double hi[2])
{
    bool a = lo[0] <= grid->a[0] || hi[0] >= grid->a[grid->na - 1];
    bool b = !grid->circular && (lo[1] <= grid->b[0] || hi[1] >= grid->b[grid->nb - 1]);

    return a || b;
}

/* The highest score in the box, from the sample at (a, b): on the sphere; along a side or the rim
 * of the grid when the climb leads to one; the sample itself when it leads elsewhere, for then the
 * maximum belongs to another sample. */
EC_PATTERN_FN double ec_surface_refine(const ec_pattern_args *args, const ec_pattern_elements *el,
                                       const ec_surface_beam *beam, const ec_pattern_line *line,
                                       const double lo[2], const double hi[2], double *a, double *b)
{
    double s[6], t[6], wa = hi[0] - lo[0], wb = hi[1] - lo[1], sa = *a, sb = *b, score;
    ec_direction d[6];

    if (ec_surface_climb_sphere(args, el, beam, line, lo, hi, &sa, &sb, &score)) {
        *a = sa;
        *b = sb;
        return score;
    }
    ec_surface_direction(&args->grid, *a, *b, d);
    ec_surface_score(args, el, beam, line, d, s);
    double start = s[0], start_a = *a, start_b = *b;
    bool rim = args->grid.kind == EC_ARRAY_GRID_UV && sa * sa + sb * sb > 1.0 - 1e-9;
    if (!rim && !ec_surface_at_side(&args->grid, lo, hi))
        return start;
    for (int round = 0; round < 40; round++) {
        double da, db, na = *a, nb = *b;
        bool moved = false;
        /* on an edge of the box the outward derivative counts as zero */
        bool fix_a = (*a <= lo[0] && s[1] < 0.0) || (*a >= hi[0] && s[1] > 0.0);
        bool fix_b = (*b <= lo[1] && s[2] < 0.0) || (*b >= hi[1] && s[2] > 0.0);
        if (fix_a && fix_b)
            break;
        if (fix_a)
            s[1] = s[4] = 0.0;
        if (fix_b)
            s[2] = s[4] = 0.0;
        ec_surface_step(s, wa, wb, 0.5, &da, &db);
        da = fix_a ? 0.0 : da;
        db = fix_b ? 0.0 : db;
        bool last = 0.5 * (s[1] * da + s[2] * db) < EC_LEAST_GAIN;
        for (int half = 0; half < 24 && !moved; half++, da *= 0.5, db *= 0.5) {
            na = *a + da;
            nb = *b + db;
            na = na < lo[0] ? lo[0] : na > hi[0] ? hi[0] : na;
            nb = nb < lo[1] ? lo[1] : nb > hi[1] ? hi[1] : nb;
            if (args->grid.kind == EC_ARRAY_GRID_UV && na * na + nb * nb > 1.0)
                continue;
            ec_surface_direction(&args->grid, na, nb, d);
            ec_surface_score(args, el, beam, line, d, t);
            moved = t[0] >= s[0] - (last ? EC_LEAST_GAIN : 0.0);
        }
        if (!moved)
            break;
        double change = fabs(na - *a) / wa + fabs(nb - *b) / wb;
        *a = na;
        *b = nb;
        for (int k = 0; k < 6; k++)
            s[k] = t[k];
        if (last || change < 1e-12)
            break;
    }
    /* ended on an inner side of the box? */
    const ec_pattern_grid *grid = &args->grid;
    bool inner = (*a == lo[0] && *a > grid->a[0]) || (*a == hi[0] && *a < grid->a[grid->na - 1]) ||
                 ((*b == lo[1] || *b == hi[1]) &&
                  (grid->circular || (*b > grid->b[0] && *b < grid->b[grid->nb - 1])));
    if (!inner)
        return s[0];
    *a = start_a;
    *b = start_b;
    return start;
}

/* What |F| of two neighbours may differ by in a row of non-uniform FFTs though it is the same: their
 * error is `tolerance` of the rms over the row, up to four times as large at a point. Sums have none,
 * so that equal values come out equal. */
EC_PATTERN_FN double ec_surface_noise(const ec_team *team, const ec_pattern_args *args,
                                      const ec_pattern_elements *el, const float *row)
{
    double sum = 0.0, weights = 0.0;

    if (args->row != EC_ROW_NUFFT && args->row != EC_ROW_GIVEN)
        return 0.0;
    for (int32_t i = team->rank; i < args->grid.points; i += team->size)
        sum += row[i] > 0.0f ? (double)row[i] : 0.0;
    sum = ec_team_sum(team, sum) / args->grid.points;
    for (int32_t m = 0; m < el->n; m++)
        weights += el->amplitude[m] * el->amplitude[m];
    /* a float's own error comes on top */
    return 8.0 * (ec_det_exp(0.5 * args->nufft.noise_log) + 1e-7) *
           sqrt(sum > weights ? sum : weights);
}

/* Is j, beside i, not higher? */
EC_FN bool ec_surface_descends(const float *row, double noise, int32_t i, int32_t j)
{
    if (row[j] <= row[i] || noise == 0.0)
        return row[j] <= row[i];
    double most = sqrt((double)row[i]) + noise;
    return (double)row[j] <= most * most;
}

/* Marks what a descending flood reaches from the peak: each point that has a marked neighbour that
 * is not lower, up to the row's noise. The set does not depend on the order. */
EC_PATTERN_FN void ec_surface_flood(const ec_team *team, const ec_pattern_grid *grid,
                                    const float *row, double noise, int32_t peak, uint8_t *flooded,
                                    int32_t *queue)
{
    for (int32_t i = team->rank; i < grid->points; i += team->size)
        flooded[i] = i == peak;
    ec_team_sync(team);
#ifdef __CUDA_ARCH__
    (void)queue;
    bool changed = true;
    while (ec_team_any(team, changed)) {
        changed = false;
        for (int32_t i = team->rank; i < grid->points; i += team->size) {
            if (((volatile uint8_t *)flooded)[i] || row[i] < 0.0f)
                continue;
            bool reached = false;
            for (int32_t k = 0; k < 8 && !reached; k++) {
                int32_t j = ec_surface_neighbour(grid, i, k);
                reached = j >= 0 && ((volatile uint8_t *)flooded)[j] &&
                          ec_surface_descends(row, noise, j, i);
            }
            if (reached) {
                ((volatile uint8_t *)flooded)[i] = 1;
                changed = true;
            }
        }
    }
#else
    int32_t count = 1;
    queue[0] = peak;
    for (int32_t next = 0; next < count; next++) {
        int32_t i = queue[next];
        for (int32_t k = 0; k < 8; k++) {
            int32_t j = ec_surface_neighbour(grid, i, k);
            if (j >= 0 && !flooded[j] && row[j] >= 0.0f && ec_surface_descends(row, noise, i, j)) {
                flooded[j] = 1;
                queue[count++] = j;
            }
        }
    }
#endif
}

/* Sample uphill from the one nearest to the look direction. */
EC_PATTERN_FN int32_t ec_surface_climb(const ec_pattern_grid *grid, const float *row,
                                       const ec_surface_beam *beam)
{
    int32_t best_a = 0, best_b = 0;

    for (int32_t k = 1; k < grid->na; k++)
        if (fabs(grid->a[k] - beam->a) < fabs(grid->a[best_a] - beam->a))
            best_a = k;
    for (int32_t k = 1; k < grid->nb; k++)
        if (fabs(ec_surface_wrap(grid, grid->b[k] - beam->b)) <
            fabs(ec_surface_wrap(grid, grid->b[best_b] - beam->b)))
            best_b = k;
    int32_t i = best_a * grid->nb + best_b;
    for (int32_t count = 0; count < grid->points; count++) {
        int32_t next = i;
        for (int32_t k = 0; k < 8; k++) {
            int32_t j = ec_surface_neighbour(grid, i, k);
            if (j >= 0 && row[j] > row[next])
                next = j;
        }
        int32_t pole = ec_surface_pole(grid, i / grid->nb);
        for (int32_t k = 0; pole >= 0 && k < grid->nb; k++)
            if (row[pole * grid->nb + k] > row[next])
                next = pole * grid->nb + k;
        if (next == i)
            break;
        i = next;
    }
    return i;
}

EC_PATTERN_FN void ec_surface_look(const ec_pattern_args *args, const ec_pattern_elements *el,
                                   const ec_pattern_metric *metric, ec_surface_beam *beam)
{
    const ec_pattern_grid *grid = &args->grid;
    ec_direction d[6];

    beam->a = metric->look_a;
    beam->b = metric->look_b;
    if (grid->kind == EC_ARRAY_GRID_THETA_PHI) {
        double flat = sqrt(el->u0 * el->u0 + el->v0 * el->v0);
        double square = 1.0 - flat * flat, up = sqrt(square > 0.0 ? square : 0.0);
        if (beam->a != beam->a)
            beam->a = ec_det_atan2(flat, el->w0 < 0.0 ? -up : up);
        if (beam->b != beam->b)
            beam->b = ec_det_atan2(el->v0, el->u0);
    } else {
        beam->a = beam->a == beam->a ? beam->a : el->u0;
        beam->b = beam->b == beam->b ? beam->b : el->v0;
    }
    ec_surface_direction(grid, beam->a, beam->b, d);
    beam->look = d[0];
    /* a list has no coordinates of its own: the direction that the array is steered to */
    if (grid->topology == EC_PATTERN_LIST && metric->look_a != metric->look_a && el->w0 < 0.0)
        beam->look.w = -beam->look.w;
}

/* Finds the main beam; candidate status. flooded and queue may be NULL with an exclusion. */
EC_PATTERN_FN int ec_surface_find_beam(const ec_team *team, const ec_pattern_args *args,
                                       const ec_pattern_elements *el, const float *row,
                                       const ec_pattern_metric *metric, bool edges,
                                       uint8_t *flooded, int32_t *queue, ec_surface_beam *beam)
{
    const ec_pattern_grid *grid = &args->grid;
    ec_pattern_line none = {0.0, 0.0, {0.0, 0.0}, 1};
    double lo[2], hi[2];

    ec_surface_look(args, el, metric, beam);
    beam->half_a = metric->exclude_a;
    beam->half_b = metric->exclude_b;
    beam->excluded = beam->half_a == beam->half_a;
    beam->flooded = NULL;
    beam->row = row;
    if (beam->half_b != beam->half_b && grid->kind != EC_ARRAY_GRID_THETA_PHI)
        beam->half_b = beam->half_a;
    beam->sample = -1;
    if (beam->excluded) {
        ec_pattern_best best = {EC_NO_SCORE, 0.0, 0.0, -1, 0};
        for (int32_t i = team->rank; i < grid->points; i += team->size)
            if ((double)row[i] > best.score && row[i] >= 0.0f &&
                ec_surface_in_beam(grid, beam, i)) {
                best.score = row[i];
                best.a = i;
            }
        ec_team_best(team, &best);
        if (best.score > EC_NO_SCORE)
            beam->sample = (int32_t)best.a;
    } else if (grid->topology == EC_PATTERN_SURFACE) {
        beam->sample = ec_surface_climb(grid, row, beam);
    }
    if (beam->sample < 0 || grid->topology == EC_PATTERN_LIST) {
        beam->peak_a = beam->sample;
        beam->peak_log = beam->sample < 0 ? ec_surface_log(args, el, beam->look)
                                          : ec_det_log((double)row[beam->sample] > EC_POWER_MIN
                                                           ? (double)row[beam->sample]
                                                           : EC_POWER_MIN);
        if (grid->topology == EC_PATTERN_SURFACE) {
            beam->peak_a = beam->a;
            beam->peak_b = beam->b;
        }
    } else if (row[beam->sample] < 0.0f) {
        return EC_CANDIDATE_EVALUATOR; /* nothing visible about the look direction */
    } else if (args->exact) {
        ec_surface_box(grid, beam->sample, lo, hi);
        ec_surface_coordinates(grid, beam->sample, &beam->peak_a, &beam->peak_b);
        beam->peak_log =
            ec_surface_refine(args, el, beam, &none, lo, hi, &beam->peak_a, &beam->peak_b);
    } else {
        double p = ec_surface_interpolate(grid, row, beam->sample, &beam->peak_a, &beam->peak_b);
        beam->peak_log = ec_det_log(p > EC_POWER_MIN ? p : EC_POWER_MIN);
    }
    if (edges && !beam->excluded && grid->topology == EC_PATTERN_SURFACE) {
        ec_surface_flood(team, grid, row, ec_surface_noise(team, args, el, row), beam->sample,
                         flooded, queue);
        beam->flooded = flooded;
    }
    return beam->peak_log > args->zero_log ? 0 : EC_CANDIDATE_EVALUATOR;
}

/* Along the gradient from *d to a maximum or a ridge, which it reaches at right angles; steps are no
 * longer than `longest`. Returns ln of the power there. */
EC_PATTERN_FN double ec_surface_ascend(const ec_pattern_args *args, const ec_pattern_elements *el,
                                       double longest, ec_direction *d)
{
    ec_direction at[6], next[6];
    double s[6], t[6];

    at[0] = *d;
    ec_surface_tangents(at);
    ec_surface_exact(args, el, at, s);
    for (int round = 0; round < 200; round++) {
        double slope = sqrt(s[1] * s[1] + s[2] * s[2]);
        if (!(slope > 1e-12))
            break;
        double fa = s[1] / slope, fb = s[2] / slope, sine, cosine;
        double bend = s[3] * fa * fa + 2.0 * s[4] * fa * fb + s[5] * fb * fb;
        double size = bend < 0.0 ? -slope / bend : longest;
        bool moved = false;
        size = size < longest ? size : longest;
        for (int half = 0; half < 30 && !moved; half++, size *= 0.5) {
            ec_det_sincos(size, &sine, &cosine);
            next[0].u = cosine * at[0].u + sine * (fa * at[1].u + fb * at[2].u);
            next[0].v = cosine * at[0].v + sine * (fa * at[1].v + fb * at[2].v);
            next[0].w = cosine * at[0].w + sine * (fa * at[1].w + fb * at[2].w);
            ec_surface_tangents(next);
            ec_surface_exact(args, el, next, t);
            moved = t[0] > s[0];
        }
        if (!moved)
            break;
        for (int k = 0; k < 6; k++) {
            at[k] = next[k];
            s[k] = t[k];
        }
    }
    *d = at[0];
    return s[0];
}

/* True when the direction lies within the grid. */
EC_PATTERN_FN bool ec_surface_holds(const ec_pattern_grid *grid, ec_direction d)
{
    double a = d.u, b = d.v;

    if (grid->kind == EC_ARRAY_GRID_THETA_PHI) {
        a = ec_det_atan2(sqrt(d.u * d.u + d.v * d.v), d.w);
        b = ec_det_atan2(d.v, d.u);
        b -= EC_TURN * ec_det_floor((b - grid->b[0]) / EC_TURN);
    } else if (d.w < 0.0) {
        return false;
    }
    return a >= grid->a[0] && a <= grid->a[grid->na - 1] &&
           (grid->circular || (b >= grid->b[0] && b <= grid->b[grid->nb - 1]));
}

/* Degrees from the look direction to the pattern's peak, of equal ones to the nearest; NAN: none. */
EC_PATTERN_FN double ec_surface_pointing(const ec_team *team, const ec_pattern_args *args,
                                         const ec_pattern_elements *el, const float *row,
                                         const ec_surface_beam *beam)
{
    const ec_pattern_grid *grid = &args->grid;
    bool surface = grid->topology == EC_PATTERN_SURFACE;
    ec_pattern_best most = {EC_NO_SCORE, 0.0, 0.0, 0, EC_CURVE_NONE}, found = most;
    ec_pattern_line none = {0.0, 0.0, {0.0, 0.0}, 1};
    ec_direction d[6];
    double lo[2], hi[2], a, b, level;

    for (int32_t i = team->rank; i < grid->points; i += team->size)
        most.score = (double)row[i] > most.score ? (double)row[i] : most.score;
    ec_team_best(team, &most);
    double least = 0.5 * most.score;
    most.score = EC_NO_SCORE;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = team->rank; i < grid->points; i += team->size) {
            if (!(row[i] >= 0.0f && row[i] >= least) ||
                (surface && !ec_surface_is_peak(grid, row, i)))
                continue;
            level = ec_det_log((double)row[i] > EC_POWER_MIN ? (double)row[i] : EC_POWER_MIN);
            d[0] = ec_surface_point(grid, i);
            if (surface && args->exact) {
                ec_surface_box(grid, i, lo, hi);
                ec_surface_coordinates(grid, i, &a, &b);
                level = ec_surface_refine(args, el, beam, &none, lo, hi, &a, &b);
                ec_surface_direction(grid, a, b, d);
            } else if (surface) {
                double p = ec_surface_interpolate(grid, row, i, &a, &b);
                level = ec_det_log(p > EC_POWER_MIN ? p : EC_POWER_MIN);
                ec_surface_direction(grid, a, b, d);
            }
            if (pass == 0) {
                most.score = level > most.score ? level : most.score;
            } else if (level >= most.score - EC_EQUAL_PEAKS) {
                double score = -ec_direction_angle(d[0], beam->look);
                found.score = score > found.score ? score : found.score;
            }
        }
        ec_team_best(team, pass ? &found : &most);
    }
    if (surface && args->exact) {
        /* the beam of a line is a ridge, whose nearest point may lie between the samples' peaks */
        double step = (grid->a[grid->na - 1] - grid->a[0]) / (grid->na - 1);
        d[0] = beam->look;
        level = ec_surface_ascend(args, el, step, &d[0]);
        if (level >= most.score - EC_EQUAL_PEAKS && ec_surface_holds(grid, d[0])) {
            double score = -ec_direction_angle(d[0], beam->look);
            found.score = score > found.score ? score : found.score;
        }
    }
    return most.score > args->zero_log ? -found.score : (double)NAN;
}

/* ---- side lobes and masks ---- */

/* True where the region of a line or of the side lobes (line->to < 0) holds the point. */
EC_PATTERN_FN bool ec_surface_in_region(const ec_pattern_grid *grid, const ec_surface_beam *beam,
                                        const ec_pattern_line *line, int32_t i)
{
    if (line->to < 0.0)
        return !ec_surface_in_beam(grid, beam, i);
    double r = ec_surface_distance(beam, ec_surface_point(grid, i));
    return r >= line->from - EC_EDGE_SLACK && r <= line->to + EC_EDGE_SLACK;
}

EC_PATTERN_FN bool ec_surface_point_in_region(const ec_pattern_grid *grid,
                                              const ec_surface_beam *beam,
                                              const ec_pattern_line *line, double a, double b)
{
    ec_direction d[6];

    ec_surface_direction(grid, a, b, d);
    if (line->to < 0.0)
        return !beam->excluded || ec_surface_measure(grid, beam, a, b, d[0]) >= 1.0;
    double r = ec_surface_distance(beam, d[0]);
    return r >= line->from && r <= line->to;
}

EC_PATTERN_FN double ec_surface_sample_score(const ec_pattern_grid *grid, const float *row,
                                             const ec_surface_beam *beam,
                                             const ec_pattern_line *line, int32_t i)
{
    double rate, p = row[i] > EC_POWER_MIN ? row[i] : EC_POWER_MIN;
    double limit = ec_line_limit(line, ec_surface_distance(beam, ec_surface_point(grid, i)), &rate);

    return line->sign * (ec_det_log(p) - limit);
}

/* True when no visible neighbour has a higher score against a sloped or lower limit. */
EC_PATTERN_FN bool ec_surface_tops(const ec_pattern_grid *grid, const float *row,
                                   const ec_surface_beam *beam, const ec_pattern_line *line,
                                   int32_t i)
{
    double score = ec_surface_sample_score(grid, row, beam, line, i);

    for (int32_t k = 0; k < 8; k++) {
        int32_t j = ec_surface_neighbour(grid, i, k);
        if (j >= 0 && row[j] >= 0.0f && ec_surface_sample_score(grid, row, beam, line, j) > score)
            return false;
    }
    return true;
}

/* The highest sample in a line's region. */
EC_PATTERN_FN double ec_surface_highest(const ec_team *team, const ec_pattern_grid *grid,
                                        const float *row, const ec_surface_beam *beam,
                                        const ec_pattern_line *line)
{
    ec_pattern_best best = {0.0, 0.0, 0.0, 0, EC_CURVE_NONE};

    for (int32_t i = team->rank; i < grid->points; i += team->size)
        if ((double)row[i] > best.score && ec_surface_in_region(grid, beam, line, i))
            best.score = row[i];
    ec_team_best(team, &best);
    return best.score;
}

/* True when the lobe of sample i, a peak, can be as high as `bar`. */
EC_PATTERN_FN bool ec_surface_reaches(const ec_pattern_grid *grid, const float *row, int32_t i,
                                      double bar)
{
    double a, b;

    if (ec_surface_pole(grid, i / grid->nb) >= 0)
        return true;
    for (int32_t k = 0; k < 8; k++) {
        int32_t j = ec_surface_neighbour(grid, i, k);
        if (j < 0 || row[j] < 0.0f)
            return true; /* no whole neighbourhood to interpolate in */
    }
    return !(ec_surface_interpolate(grid, row, i, &a, &b) * grid->reach < bar);
}

/* Highest score of the samples (and interpolated or refined peaks) in a line's region. */
EC_PATTERN_FN void ec_surface_scan(const ec_team *team, const ec_pattern_args *args,
                                   const ec_pattern_elements *el, const float *row,
                                   const ec_surface_beam *beam, const ec_pattern_line *line,
                                   int32_t number, double offset, ec_pattern_best *best)
{
    const ec_pattern_grid *grid = &args->grid;
    bool flat = line->limit[0] == line->limit[1] && line->sign > 0;
    bool surface = grid->topology == EC_PATTERN_SURFACE;
    double bar = 0.0, rate, lo[2], hi[2];
    ec_pattern_best found;

    found.line = number;
    found.curve = EC_CURVE_NONE;
    if (flat && args->exact)
        bar = ec_surface_highest(team, grid, row, beam, line);
    for (int32_t i = team->rank; i < grid->points; i += team->size) {
        double p = row[i];
        /* a peak is at most 1.5 dB above its sample on any usable grid */
        if (p < 0.0 || (flat && !(1.4 * p > bar)))
            continue;
        bool peak = surface && (flat ? ec_surface_is_peak(grid, row, i) ||
                                           (args->exact && ec_surface_is_crest(grid, row, i))
                                     : ec_surface_tops(grid, row, beam, line, i));
        if (flat && !peak && !(p > bar || (args->exact && p == bar)))
            continue;
        if (!ec_surface_in_region(grid, beam, line, i))
            continue;
        ec_surface_coordinates(grid, i, &found.a, &found.b);
        if (!surface) {
            found.a = i;
            found.b = 0.0;
        }
        double limit =
            ec_line_limit(line, ec_surface_distance(beam, ec_surface_point(grid, i)), &rate);
        double level = ec_det_log(p > EC_POWER_MIN ? p : EC_POWER_MIN);
        found.score = line->sign * (level + offset - limit);
        bar = flat && p > bar ? p : bar;
        if (ec_pattern_better(&found, best))
            *best = found;
        if (!peak || (flat && args->exact && !ec_surface_reaches(grid, row, i, bar)))
            continue;
        double top = p;
        if (args->exact) {
            if (ec_pattern_over(args))
                return;
            ec_surface_box(grid, i, lo, hi);
            double score = ec_surface_refine(args, el, beam, line, lo, hi, &found.a, &found.b);
            found.score = score + line->sign * offset;
            top = flat ? ec_det_exp(score + limit) : p;
            /* a climb that ends at the rim is no maximum: the rim is searched as a curve */
            if (grid->kind == EC_ARRAY_GRID_UV &&
                found.a * found.a + found.b * found.b > 1.0 - 1e-11)
                continue;
        } else {
            top = flat ? ec_surface_interpolate(grid, row, i, &found.a, &found.b) : p;
            top = top > EC_POWER_MIN ? top : EC_POWER_MIN;
            found.score = line->sign * (ec_det_log(top) + offset - limit);
        }
        if (!ec_surface_point_in_region(grid, beam, line, found.a, found.b))
            continue;
        bar = flat && top > bar ? top : bar;
        if (ec_pattern_better(&found, best))
            *best = found;
    }
}

/* Point of a curve at angle tau: its coordinates and direction; false outside the grid. */
EC_PATTERN_FN bool ec_surface_curve(const ec_pattern_grid *grid, const ec_surface_beam *beam,
                                    int32_t curve, double radius, double tau, double *a, double *b,
                                    ec_direction *d)
{
    double s, c;
    ec_direction all[6];

    ec_det_sincos(tau, &s, &c);
    if (curve == EC_CURVE_RIM) {
        *a = c;
        *b = s;
    } else if (radius > 0.0) { /* circle in the u-v plane about the look direction */
        *a = beam->look.u + radius * c;
        *b = beam->look.v + radius * s;
        if (*a * *a + *b * *b > 1.0)
            return false;
        if (grid->kind == EC_ARRAY_GRID_THETA_PHI) {
            double flat = sqrt(*a * *a + *b * *b);
            double phi = ec_det_atan2(*b, *a);
            *a = ec_det_asin(flat > 1.0 ? 1.0 : flat);
            *b = phi;
        }
    } else if (beam->half_b == beam->half_b) {
        *a = beam->a + beam->half_a * c;
        *b = beam->b + beam->half_b * s;
    } else { /* a cone about the look direction */
        double sa, ca, sl, cl, sp, cp;
        ec_det_sincos(beam->half_a, &sa, &ca);
        ec_det_sincos(beam->a, &sl, &cl);
        ec_det_sincos(beam->b, &sp, &cp);
        double x = sa * c, y = sa * s;
        double u = ca * sl * cp + x * cl * cp - y * sp;
        double v = ca * sl * sp + x * cl * sp + y * cp;
        double w = ca * cl - x * sl;
        *a = ec_det_acos(w > 1.0 ? 1.0 : w < -1.0 ? -1.0 : w);
        *b = ec_det_atan2(v, u);
    }
    if (grid->kind == EC_ARRAY_GRID_UV && *a * *a + *b * *b > 1.0 + 1e-12)
        return false;
    if (grid->circular)
        *b -= grid->period * ec_det_floor((*b - grid->b[0]) / grid->period);
    if (*a < grid->a[0] || *a > grid->a[grid->na - 1] || *b < grid->b[0] ||
        (!grid->circular && *b > grid->b[grid->nb - 1]))
        return false;
    ec_surface_direction(grid, *a, *b, all);
    *d = all[0];
    if (curve == EC_CURVE_RIM)
        d->w = 0.0; /* not the square root of a rounding error */
    return true;
}

/* True when a visible sample at a corner of the point's cell belongs to the flooded beam. */
EC_PATTERN_FN bool ec_surface_near_flood(const ec_pattern_grid *grid, const uint8_t *flooded,
                                         double a, double b)
{
    int32_t ia = 0, ib = 0;

    while (ia < grid->na - 2 && grid->a[ia + 1] <= a)
        ia++;
    while (ib < grid->nb - 2 && grid->b[ib + 1] <= b)
        ib++;
    for (int32_t k = 0; k < 4; k++)
        if (flooded[(ia + k / 2) * grid->nb + ib + k % 2])
            return true;
    return false;
}

/* A stretch of a curve that bounds a region, and the line that scores it. */
typedef struct ec_surface_edge {
    int32_t curve;
    double radius;
    const ec_pattern_line *line;
    double offset;
    double low; /* powers of the row below it are too low to matter; 0: none is */
} ec_surface_edge;

/* Samples on a whole curve: 3/4 as dense as the grid's, of which a 1/aperture has 8 at final
 * fidelity. */
EC_PATTERN_FN int32_t ec_surface_curve_count(const ec_pattern_grid *grid,
                                             const ec_surface_beam *beam, int32_t curve,
                                             double radius)
{
    /* a full turn of phi can be one point */
    double density_a = grid->na > 1 ? (grid->na - 1) / (grid->a[grid->na - 1] - grid->a[0]) : 0.0;
    double density_b = grid->nb > 1 ? (grid->nb - 1) / (grid->b[grid->nb - 1] - grid->b[0]) : 0.0;
    double most = density_a > density_b ? density_a : density_b, length;

    if (curve == EC_CURVE_RIM || radius > 0.0)
        length = curve == EC_CURVE_RIM ? most : radius * most;
    else if (beam->half_b == beam->half_b)
        length = fmax(beam->half_a * density_a, beam->half_b * density_b);
    else
        length = beam->half_a * most;
    double count = 0.75 * EC_TURN * length;
    return count < 64.0 ? 64 : count < 1e6 ? (int32_t)count : 1000000;
}

/* True when samples of the row about (a, b) say that the curve is too low there: a u-v grid of a
 * planar array that samples it well has none 6 dB below a point within two cells. */
EC_PATTERN_FN bool ec_surface_is_low(const ec_pattern_grid *grid, const float *row, double low,
                                     double a, double b)
{
    int32_t ia =
        (int32_t)((a - grid->a[0]) / (grid->a[grid->na - 1] - grid->a[0]) * (grid->na - 1));
    int32_t ib =
        (int32_t)((b - grid->b[0]) / (grid->b[grid->nb - 1] - grid->b[0]) * (grid->nb - 1));
    int32_t seen = 0;

    for (int32_t k = 0; k < 16; k++) {
        int32_t ja = ia + k / 4 - 1, jb = ib + k % 4 - 1;
        if (ja < 0 || ja >= grid->na || jb < 0 || jb >= grid->nb || row[ja * grid->nb + jb] < 0.0f)
            continue;
        if ((double)row[ja * grid->nb + jb] >= low)
            return false;
        seen++;
    }
    return seen > 2;
}

/* Score of the curve at tau; EC_NO_SCORE where it is outside the grid, or low. */
EC_PATTERN_FN double ec_surface_edge_score(const ec_pattern_args *args,
                                           const ec_pattern_elements *el,
                                           const ec_surface_beam *beam, const ec_surface_edge *edge,
                                           double tau, double *a, double *b, ec_direction *d)
{
    double rate;

    if (!ec_surface_curve(&args->grid, beam, edge->curve, edge->radius, tau, a, b, d))
        return EC_NO_SCORE;
    if (edge->low > 0.0 && ec_surface_is_low(&args->grid, beam->row, edge->low, *a, *b))
        return EC_NO_SCORE;
    double limit = ec_line_limit(edge->line, ec_surface_distance(beam, *d), &rate);
    return edge->line->sign * (ec_surface_log(args, el, *d) + edge->offset - limit);
}

/* The curve's score at tau, which replaces *best where it is better and counts. */
EC_PATTERN_FN double ec_surface_try_curve(const ec_pattern_args *args,
                                          const ec_pattern_elements *el,
                                          const ec_surface_beam *beam, const ec_surface_edge *edge,
                                          double tau, int32_t number, ec_pattern_best *best)
{
    const ec_pattern_grid *grid = &args->grid;
    ec_pattern_best found;
    ec_direction d;

    found.line = number;
    found.curve = edge->curve;
    found.score = ec_surface_edge_score(args, el, beam, edge, tau, &found.a, &found.b, &d);
    if (found.score == EC_NO_SCORE || !ec_pattern_better(&found, best))
        return found.score;
    bool outside = edge->line->to >= 0.0 || edge->curve == EC_CURVE_EDGE;
    if (!outside)
        outside = beam->excluded ? ec_surface_measure(grid, beam, found.a, found.b, d) >= 1.0
                                 : !ec_surface_near_flood(grid, beam->flooded, found.a, found.b);
    if (outside)
        *best = found;
    return found.score;
}

/* Golden sections of the curve between lo and hi. */
EC_PATTERN_FN void ec_surface_climb_curve(const ec_pattern_args *args,
                                          const ec_pattern_elements *el,
                                          const ec_surface_beam *beam, const ec_surface_edge *edge,
                                          double lo, double hi, int32_t number,
                                          ec_pattern_best *best)
{
    enum { ROUNDS = 36 }; /* to 3e-8 of the stretch */
    const double golden = 0.3819660112501051;
    double t0 = lo + golden * (hi - lo), t1 = hi - golden * (hi - lo);
    double f0 = ec_surface_try_curve(args, el, beam, edge, t0, number, best);
    double f1 = ec_surface_try_curve(args, el, beam, edge, t1, number, best);

    for (int round = 0; round < ROUNDS; round++) {
        if (f0 > f1) {
            hi = t1;
            t1 = t0;
            f1 = f0;
            t0 = lo + golden * (hi - lo);
            f0 = ec_surface_try_curve(args, el, beam, edge, t0, number, best);
        } else {
            lo = t0;
            t0 = t1;
            f0 = f1;
            t1 = hi - golden * (hi - lo);
            f1 = ec_surface_try_curve(args, el, beam, edge, t1, number, best);
        }
    }
}

/* What a maximum among three samples of a smooth curve can have over the middle one. */
EC_PATTERN_FN double ec_surface_curve_rise(const double score[3])
{
    const double most = 0.7; /* natural units: 3 dB */
    double bend = 2.0 * score[1] - score[0] - score[2], turn = score[2] - score[0];

    if (score[0] == EC_NO_SCORE || score[2] == EC_NO_SCORE || !(bend > 0.0))
        return most;
    double rise = 0.03 + 2.0 * turn * turn / (8.0 * bend);
    return rise < most ? rise : most;
}

/* Highest score on a curve that bounds the region, by samples and golden sections. Members of the
 * team take stretches of it. */
EC_PATTERN_FN void ec_surface_scan_curve(const ec_team *team, const ec_pattern_args *args,
                                         const ec_pattern_elements *el, const ec_surface_beam *beam,
                                         int32_t curve, double radius, const ec_pattern_line *line,
                                         int32_t number, double offset, ec_pattern_best *best)
{
    const ec_pattern_grid *grid = &args->grid;
    int32_t count = ec_surface_curve_count(grid, beam, curve, radius);
    int32_t first = (int32_t)((int64_t)count * team->rank / team->size);
    int32_t end = (int32_t)((int64_t)count * (team->rank + 1) / team->size);
    bool flat = line->limit[0] == line->limit[1] && line->sign > 0;
    bool dense = grid->kind == EC_ARRAY_GRID_UV && args->planar && !args->own.parts &&
                 grid->uniform && grid->reach < 1.2;
    double step = EC_TURN / count, score[3] = {EC_NO_SCORE, EC_NO_SCORE, EC_NO_SCORE}, a, b;
    ec_surface_edge edge = {curve, radius, line, offset, 0.0};
    ec_direction d;

    for (int32_t k = first - 1; k <= end; k++) {
        if (ec_pattern_over(args))
            return;
        edge.low = flat && dense && best->score > EC_NO_SCORE
                       ? 0.25 * ec_det_exp(best->score - offset + line->limit[0] * EC_PER_DB)
                       : 0.0;
        score[0] = score[1];
        score[1] = score[2];
        score[2] = ec_surface_edge_score(args, el, beam, &edge, k * step, &a, &b, &d);
        if (k <= first || score[1] == EC_NO_SCORE || score[1] < score[0] || score[1] < score[2] ||
            /* on a pattern without lobes every sample is as high as the best */
            score[1] + ec_surface_curve_rise(score) < best->score + EC_LEAST_GAIN)
            continue;
        edge.low = 0.0;
        ec_surface_climb_curve(args, el, beam, &edge, (k - 2) * step, k * step, number, best);
    }
}

/* The highest side lobe: score relative to the beam's peak. */
EC_PATTERN_FN ec_pattern_best ec_surface_side_lobe(const ec_team *team, const ec_pattern_args *args,
                                                   const ec_pattern_elements *el, const float *row,
                                                   const ec_surface_beam *beam)
{
    ec_pattern_best best = {EC_NO_SCORE, 0.0, 0.0, 0, EC_CURVE_NONE};
    ec_pattern_line side = {0.0, -1.0, {0.0, 0.0}, 1};

    ec_surface_scan(team, args, el, row, beam, &side, 0, -beam->peak_log, &best);
    if (args->exact && args->grid.topology == EC_PATTERN_SURFACE) {
        if (args->grid.kind == EC_ARRAY_GRID_UV)
            ec_surface_scan_curve(team, args, el, beam, EC_CURVE_RIM, 0.0, &side, 0,
                                  -beam->peak_log, &best);
        if (beam->excluded)
            ec_surface_scan_curve(team, args, el, beam, EC_CURVE_EDGE, 0.0, &side, 0,
                                  -beam->peak_log, &best);
    }
    ec_team_best(team, &best);
    return best;
}

EC_PATTERN_FN ec_pattern_best ec_surface_mask(const ec_team *team, const ec_pattern_args *args,
                                              const ec_pattern_elements *el, const float *row,
                                              const ec_surface_beam *beam,
                                              const ec_pattern_metric *metric, double offset)
{
    ec_pattern_best best = {EC_NO_SCORE, 0.0, 0.0, 0, EC_CURVE_NONE};

    for (int32_t k = 0; k < metric->n; k++) {
        const ec_pattern_line *line = &metric->lines[k];
        ec_surface_scan(team, args, el, row, beam, line, k, offset, &best);
        if (!args->exact || args->grid.topology == EC_PATTERN_LIST)
            continue;
        if (line->from > 0.0)
            ec_surface_scan_curve(team, args, el, beam, EC_CURVE_EDGE, line->from, line, k, offset,
                                  &best);
        if (line->to < 2.0)
            ec_surface_scan_curve(team, args, el, beam, EC_CURVE_EDGE, line->to, line, k, offset,
                                  &best);
    }
    ec_team_best(team, &best);
    return best;
}

#endif
