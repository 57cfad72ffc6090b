/* array_weights_rows.h: what optimal weights are made from: a candidate's geometry and the row a(d)
 * of every direction that counts, F(d) = a(d)^T w (ec_weights_work.row).
 *
 *   a_m(d) = E_m(d) exp(2 pi j r_m . (d - d0)),  r about the centroid, in wavelengths
 *
 * with the field E of an element in the chosen polarization, of an element in common its size; of
 * elements of their own with all of their field a direction has two rows, the co- and the
 * cross-polar one. Coupled ports have currents i = M a, so with s_m = exp(2 pi j r_m . d0)
 *   a_l(d) = conj(s_l) sum_m M_ml E_m(d) exp(2 pi j r_m . d).
 * Fields towards directions that are known lie in tables; operations: a sine and a cosine for each
 * element of a row, coupled 4 N^2 multiply-adds a row.
 */
#ifndef EC_ARRAY_WEIGHTS_ROWS_H
#define EC_ARRAY_WEIGHTS_ROWS_H

#include "array_own.h"
#include "array_weights.h"
#include "array_weights_types.h"

EC_FN ec_weights_rows ec_weights_row(ec_weights_rows rows, int32_t row, int32_t stride)
{
    size_t at = (size_t)row * (size_t)stride;
    ec_weights_rows one = {rows.re + at, rows.im + at};

    return one;
}

/* ---- the geometry ---- */

/* Positions in wavelengths about the centroid, and the look direction; candidate status bits. */
EC_PATTERN_FN int ec_weights_gather(const ec_team *team, const ec_weights_args *args, size_t c,
                                    size_t s, ec_weights_work *work)
{
    const ec_pattern_view *in = args->in;
    double wavelength = ec_pattern_read(&in[EC_WEIGHTS_WAVELENGTH], c, s, 0);
    double *to[3] = {work->x, work->y, work->z};
    int32_t n = work->n;
    int bad = wavelength > 0.0 ? 0 : EC_CANDIDATE_EVALUATOR;

    work->wavelength = wavelength;
    work->u0 = ec_pattern_read(&in[EC_WEIGHTS_U0], c, s, 0);
    work->v0 = ec_pattern_read(&in[EC_WEIGHTS_V0], c, s, 0);
    work->w0 = ec_pattern_read(&in[EC_WEIGHTS_W0], c, s, 0);
    bad |= ec_pattern_check(&in[EC_WEIGHTS_WAVELENGTH], wavelength);
    bad |= ec_pattern_check(&in[EC_WEIGHTS_U0], work->u0);
    bad |= ec_pattern_check(&in[EC_WEIGHTS_V0], work->v0);
    bad |= ec_pattern_check(&in[EC_WEIGHTS_W0], work->w0);
    for (int32_t m = team->rank; m < n; m += team->size)
        bad |= ec_pattern_check(&in[EC_WEIGHTS_START],
                                ec_pattern_read(&in[EC_WEIGHTS_START], c, s, m));
    for (int k = 0; k < 3; k++) {
        const ec_pattern_view *view = &in[EC_WEIGHTS_X + k];
        double mean = 0.0;
        for (int32_t m = 0; m < n; m++)
            mean += ec_pattern_read(view, c, s, m);
        mean /= n;
        for (int32_t m = team->rank; m < work->stride; m += team->size) {
            double p = ec_pattern_read(view, c, s, m < n ? m : 0);
            bad |= ec_pattern_check(view, p);
            to[k][m] = m < n ? (p - mean) / wavelength : 0.0;
        }
    }
    return bad;
}

/* size exp(2 pi j r . d) of the elements, d a difference of directions or one. */
EC_PATTERN_FN void ec_weights_phasors(const ec_weights_work *work, ec_direction d, double size,
                                      ec_weights_rows to)
{
    const double *x = work->x, *y = work->y, *z = work->z;

    EC_PATTERN_SIMD
    for (int32_t m = 0; m < work->n; m++) {
        double sine, cosine;
        double turn = ec_turns_reduce(ec_fma(x[m], d.u, ec_fma(y[m], d.v, z[m] * d.w)));
        ec_sincos_turns_f64(turn, &sine, &cosine);
        to.re[m] = size * cosine;
        to.im[m] = size * sine;
    }
    for (int32_t m = work->n; m < work->stride; m++)
        to.re[m] = to.im[m] = 0.0;
}

/* Direction k of three inputs u, v, w. */
EC_FN ec_direction ec_weights_given(const ec_weights_args *args, int input, size_t c, size_t s,
                                    int32_t k)
{
    ec_direction d = {ec_pattern_read(&args->in[input], c, s, k),
                      ec_pattern_read(&args->in[input + 1], c, s, k),
                      ec_pattern_read(&args->in[input + 2], c, s, k)};

    return d;
}

EC_PATTERN_FN int ec_weights_check_given(const ec_weights_args *args, int input, int count,
                                         size_t c, size_t s, int32_t k)
{
    int bad = 0;

    for (int i = input; i < input + count; i++)
        bad |= ec_pattern_check(&args->in[i], ec_pattern_read(&args->in[i], c, s, k));
    return bad;
}

/* ---- rows ---- */

/* |E| of the element in common. */
EC_PATTERN_FN double ec_weights_level(const ec_weights_args *args, ec_direction d)
{
    ec_c128 e = ec_gain_field(&args->gain, d);

    return e.im == 0.0 ? fabs(e.re) : sqrt(e.re * e.re + e.im * e.im);
}

/* The fields of elements of their own in a polarization, into the row. known: a row of
 * args->field, or negative. */
EC_PATTERN_FN void ec_weights_own(const ec_weights_args *args, const ec_weights_work *work,
                                  ec_direction d, int32_t polarization, int32_t known,
                                  ec_weights_rows to)
{
    const double *re = args->field.re + (size_t)(known < 0 ? 0 : known) * (size_t)work->stride;
    const double *im = args->field.im + (size_t)(known < 0 ? 0 : known) * (size_t)work->stride;
    double unit[3];

    if (known < 0) {
        ec_pattern_gain gain = args->gain;
        gain.polarization = polarization;
        ec_gain_unit(&gain, d, unit);
    }
    for (int32_t m = 0; m < work->n; m++) {
        ec_c128 e[3], a = {to.re[m], to.im[m]};
        if (known < 0) {
            ec_own_field(&args->own, m, d, unit, e);
        } else {
            e[0].re = re[m];
            e[0].im = im[m];
        }
        a = ec_c128_multiply(a, e[0]);
        to.re[m] = a.re;
        to.im[m] = a.im;
    }
}

/* Row `row` of the direction d, coupled ports still left out. */
EC_PATTERN_FN void ec_weights_illuminate(const ec_weights_args *args, ec_weights_work *work,
                                         ec_direction d, double level, int32_t polarization,
                                         int32_t known, int32_t row)
{
    bool coupled = args->ports.count > 0;
    ec_weights_rows to = ec_weights_row(coupled ? work->plain : work->row, row, work->stride);
    ec_direction from = {work->u0, work->v0, work->w0};
    ec_direction off = {d.u - from.u, d.v - from.v, d.w - from.w};

    if (args->vjp) {
        work->place[3 * row] = d.u;
        work->place[3 * row + 1] = d.v;
        work->place[3 * row + 2] = d.w;
    }
    ec_weights_phasors(work, coupled ? d : off, level, to);
    if (args->own.parts)
        ec_weights_own(args, work, d, polarization, known, to);
}

/* The rows of the look direction and of the nulls. Of an element in common only whether it
 * radiates towards a null counts: a null where it does not is there without a constraint. */
EC_PATTERN_FN int ec_weights_constrain(const ec_team *team, const ec_weights_args *args, size_t c,
                                       size_t s, int32_t first, ec_weights_work *work)
{
    int bad = 0;

    for (int32_t r = team->rank; r < work->constraints; r += team->size) {
        ec_direction d = {work->u0, work->v0, work->w0};
        int32_t k = r > 0 ? (r - 1) / args->parts : 0, part = r > 0 ? (r - 1) % args->parts : 0;
        if (r > 0) {
            bad |= ec_weights_check_given(args, EC_WEIGHTS_NULL_U, 3, c, s, k);
            d = ec_weights_given(args, EC_WEIGHTS_NULL_U, c, s, k);
        }
        double level = ec_weights_level(args, d);
        if (r > 0)
            level = level > 0.0 ? 1.0 : 0.0;
        ec_weights_illuminate(args, work, d, level, args->part[part], -1, first + r);
    }
    return bad;
}

/* D and the weight q of direction i of the grid. */
EC_FN void ec_weights_mask(const ec_weights_args *args, const ec_weights_work *work, ec_direction d,
                           double *q, double *wanted)
{
    double share = 1.0 / args->directions;
    double a = d.u - work->u0, b = d.v - work->v0, r = sqrt(a * a + b * b);
    bool inside = r < args->exclude - 1e-9; /* a direction on the edge is outside */

    if (args->method != EC_WEIGHTS_LEAST_SQUARES) {
        *q = inside ? 0.0 : share;
        *wanted = inside ? 0.0 : 1.0;
        return;
    }
    *q = inside ? share : share * args->side_weight;
    double part = (r - args->flat) / (args->exclude - args->flat);
    double cosine = ec_det_cospi(0.5 * (part > 0.0 ? part : 0.0));
    *wanted = inside ? cosine * cosine : 0.0;
}

/* A direction that is known to the plan: of the grid, or behind those a node of the noise. */
EC_FN ec_direction ec_weights_known(const ec_weights_args *args, int32_t i)
{
    ec_direction d = {args->u[i], args->v[i], args->w[i]};

    return d;
}

/* Rows of the sources, with their weights in R; padding has the weight 0. rows: false leaves the
 * rows themselves out. */
EC_PATTERN_FN int ec_weights_sources(const ec_team *team, const ec_weights_args *args, size_t c,
                                     size_t s, bool rows, ec_weights_work *work)
{
    int32_t parts = args->parts, grid = args->directions * parts;
    int32_t given = grid + args->interferers * parts, nodes = args->nodes * args->node_parts;
    int bad = 0;

    for (int32_t i = team->rank; i < work->sources; i += team->size) {
        ec_direction d = {work->u0, work->v0, work->w0};
        int32_t polarization = args->part[i % parts];
        double q = 0.0, wanted = 0.0, level = 1.0;
        int32_t known = -1;
        if (i < grid) {
            int32_t k = i / parts;
            d = ec_weights_known(args, k);
            if (args->level && args->method != EC_WEIGHTS_THINNING)
                level = args->level[k];
            known = i;
            ec_weights_mask(args, work, d, &q, &wanted);
            if (args->method == EC_WEIGHTS_LEAST_SQUARES && i % parts > 0)
                wanted = 0.0; /* cross-polar */
        } else if (i < given) {
            int32_t k = (i - grid) / parts;
            bad |= ec_weights_check_given(args, EC_WEIGHTS_NOISE_U, 4, c, s, k);
            d = ec_weights_given(args, EC_WEIGHTS_NOISE_U, c, s, k);
            level = ec_weights_level(args, d);
            q = ec_pattern_read(&args->in[EC_WEIGHTS_NOISE_POWER], c, s, k);
            bad |= q >= 0.0 ? 0 : EC_CANDIDATE_EVALUATOR;
        } else if (i < given + nodes) {
            int32_t k = (i - given) / args->node_parts;
            d = ec_weights_known(args, args->directions + k);
            known = grid + i - given;
            polarization = args->node_part[(i - given) % args->node_parts];
            q = args->share[k];
        }
        work->q[i] = q;
        work->wanted[i] = wanted;
        if (rows)
            ec_weights_illuminate(args, work, d, level, polarization, known, i);
    }
    return bad;
}

/* ---- coupling ---- */

/* M at the candidate's frequency, linear between the two about it. */
EC_PATTERN_FN void ec_weights_interpolate(const ec_team *team, const ec_weights_args *args,
                                          ec_weights_work *work)
{
    const ec_weights_ports *ports = &args->ports;
    const double light = 299792458.0; /* m/s, exact by definition */
    double f = light / work->wavelength, share = 0.0;
    size_t stride = (size_t)work->stride, size = 2 * stride * (size_t)work->n;
    int32_t k = 0;

    while (k + 2 < ports->count && ports->frequency[k + 1] <= f)
        k++;
    if (ports->count > 1) {
        share = (f - ports->frequency[k]) / (ports->frequency[k + 1] - ports->frequency[k]);
        share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
    }
    const double *low = ports->matrix + (size_t)k * size;
    const double *high = ports->count > 1 ? low + size : low;
    for (int32_t m = team->rank; m < work->n; m += team->size) {
        ec_weights_rows to = ec_weights_row(work->ports, m, work->stride);
        size_t at = 2 * stride * (size_t)m;
        for (size_t l = 0; l < stride; l++) {
            to.re[l] = low[at + l] + share * (high[at + l] - low[at + l]);
            to.im[l] =
                low[at + stride + l] + share * (high[at + stride + l] - low[at + stride + l]);
        }
    }
}

/* Rows of currents become rows of waves. */
EC_PATTERN_FN void ec_weights_couple(const ec_team *team, const ec_weights_args *args, int32_t rows,
                                     ec_weights_work *work)
{
    ec_weights_interpolate(team, args, work);
    ec_team_sync(team);
    for (int32_t i = team->rank; i < rows; i += team->size) {
        ec_weights_rows from = ec_weights_row(work->plain, i, work->stride);
        ec_weights_rows to = ec_weights_row(work->row, i, work->stride);
        for (int32_t l = 0; l < work->stride; l++)
            to.re[l] = to.im[l] = 0.0;
        for (int32_t m = 0; m < work->n; m++) {
            ec_weights_rows port = ec_weights_row(work->ports, m, work->stride);
            double re = from.re[m], im = from.im[m];
            EC_PATTERN_SIMD
            for (int32_t l = 0; l < work->stride; l++) {
                to.re[l] += re * port.re[l] - im * port.im[l];
                to.im[l] += re * port.im[l] + im * port.re[l];
            }
        }
        for (int32_t l = 0; l < work->n; l++) {
            double re = to.re[l], im = to.im[l], c = work->steer.re[l], s = work->steer.im[l];
            to.re[l] = re * c + im * s;
            to.im[l] = im * c - re * s;
        }
    }
}

/* Every row of the candidate; candidate status bits. */
EC_PATTERN_FN int ec_weights_rows_make(const ec_team *team, const ec_weights_args *args, size_t c,
                                       size_t s, ec_weights_work *work)
{
    bool stored = args->lattice.count[0] == 0;
    int32_t first = stored ? work->sources : 0;
    ec_direction look = {work->u0, work->v0, work->w0};

    if (team->rank == 0)
        ec_weights_phasors(work, look, 1.0, work->steer);
    int bad = ec_weights_constrain(team, args, c, s, first, work);
    bad |= ec_weights_sources(team, args, c, s, stored, work);
    ec_team_sync(team);
    if (args->ports.count > 0) {
        ec_weights_couple(team, args, first + work->constraints, work);
        ec_team_sync(team);
    }
    for (int32_t r = team->rank; r < work->constraints; r += team->size) {
        ec_weights_rows a = ec_weights_row(work->row, first + r, work->stride);
        ec_weights_rows to = ec_weights_row(work->fixed, r, work->stride);
        for (int32_t m = 0; m < work->stride; m++) {
            to.re[m] = a.re[m];
            to.im[m] = -a.im[m];
        }
    }
    return bad;
}

#endif
