/* array_candidate.h: everything that a team does for one candidate: elements, row, metrics,
 * adjoints. One source for the CPU (a team of one) and CUDA (a block).
 *
 * The file that includes it defines EC_PATTERN_ROW(team, args, el, tables, row), which fills the
 * row, and, where the complex pattern has a path of its own (EC_ROW_NUFFT), EC_PATTERN_FIELD(args,
 * el, tables) and EC_PATTERN_FIELD_AT(args, tables, i), and its adjoint (args->back)
 * EC_PATTERN_BACK(args, el, adjoint, seed, tables).
 */
#ifndef EC_ARRAY_CANDIDATE_H
#define EC_ARRAY_CANDIDATE_H

#include "array_smooth.h"

typedef struct ec_pattern_work {
    ec_pattern_elements el;
    float *row;
    uint8_t *flooded;
    int32_t *queue;
    void *tables;
    double *stage; /* [points][group] complex, or NULL */
    ec_pattern_adjoint adjoint;
    ec_smooth_samples samples;
} ec_pattern_work;

EC_PATTERN_FN void ec_pattern_lay_out(const ec_pattern_args *args, char *memory,
                                      ec_pattern_work *work)
{
    size_t stride = ec_round_up((size_t)args->elements, 8);
    double *base = (double *)memory;

    work->el.n = args->elements;
    work->el.x = base;
    work->el.y = base + stride;
    work->el.z = base + 2 * stride;
    work->el.amplitude = base + 3 * stride;
    work->el.turn = base + 4 * stride;
    work->row = (float *)(memory + args->at_row);
    work->flooded = (uint8_t *)(memory + args->at_flood);
    work->queue = (int32_t *)(memory + args->at_queue);
    work->tables = memory + args->at_tables;
    work->stage = args->group > 1 ? (double *)(memory + args->at_stage) : NULL;
    base = (double *)(memory + args->at_adjoint);
    work->adjoint.x = base;
    work->adjoint.y = base + stride;
    work->adjoint.z = base + 2 * stride;
    work->adjoint.amplitude = base + 3 * stride;
    work->adjoint.turn = base + 4 * stride;
    work->samples.row = work->row;
    work->samples.field = (ec_c128 *)(memory + args->at_field);
    work->samples.level = (double *)(memory + args->at_level);
    work->samples.weight = work->samples.level + args->grid.points;
}

/* What an absolute level in natural logarithms has over that of the row. */
EC_FN double ec_pattern_absolute(const ec_pattern_args *args, const ec_pattern_elements *el)
{
    return 2.0 * ec_det_log(el->scale) + args->gain.peak_log;
}

/* A metric's value and the directions that its derivative comes from. */
typedef struct ec_pattern_figure {
    double value;   /* NAN: it does not exist */
    int32_t points; /* of ln |F|^2 */
    ec_direction d[3];
    double weight[3];      /* d value / d ln |F(d)|^2 */
    double scale;          /* d value / d ln scale */
    double look_a, look_b; /* d value / d look */
} ec_pattern_figure;

EC_FN void ec_figure_add(ec_pattern_figure *figure, ec_direction d, double weight)
{
    figure->d[figure->points] = d;
    figure->weight[figure->points] = weight;
    figure->points++;
}

EC_PATTERN_FN void ec_figure_accumulate(const ec_team *team, const ec_pattern_args *args,
                                        const ec_pattern_elements *el,
                                        const ec_pattern_metric *metric,
                                        const ec_pattern_figure *figure,
                                        ec_pattern_adjoint *adjoint, double seed)
{
    for (int32_t k = 0; k < figure->points; k++)
        ec_adjoint_log(team, args, el, adjoint, figure->d[k], seed * figure->weight[k]);
    adjoint->scale += seed * figure->scale / el->scale;
    if (metric->look_a != metric->look_a)
        adjoint->u0 += seed * figure->look_a;
    if (metric->look_b != metric->look_b)
        adjoint->v0 += seed * figure->look_b;
}

/* ---- metrics of a cut ---- */

/* Adds the point at t of the cut; a fixed point that moves with the look direction tells so. */
EC_PATTERN_FN void ec_figure_add_cut(const ec_pattern_args *args, const ec_pattern_elements *el,
                                     ec_pattern_figure *figure, double t, double weight, bool moves)
{
    ec_direction d[3];
    double s[3];

    ec_cut_direction(&args->grid, t, d);
    ec_figure_add(figure, d[0], weight);
    if (moves && args->vjp) {
        ec_cut_exact(args, el, t, s);
        figure->look_a += weight * s[1];
    }
}

EC_FN bool ec_cut_on_edge(const ec_cut_beam *beam, double t)
{
    return beam->excluded && (fabs(t - beam->left) < 1e-12 || fabs(t - beam->right) < 1e-12) &&
           t != beam->first && t != beam->last;
}

EC_PATTERN_FN void ec_figure_width(const ec_pattern_args *args, const ec_pattern_elements *el,
                                   const float *row, const ec_cut_beam *beam,
                                   ec_pattern_figure *figure)
{
    double left = ec_cut_half_power(args, el, row, beam, -1);
    double right = ec_cut_half_power(args, el, row, beam, 1);
    double s[3], total = 0.0;

    figure->value = ec_cut_degrees(&args->grid, right) - ec_cut_degrees(&args->grid, left);
    if (!args->vjp || !(figure->value == figure->value))
        return;
    /* ln P(t) - ln P(peak) = -ln 2: dt = -(d ln P(t) - d ln P(peak)) / slope(t) */
    for (int side = 0; side < 2; side++) {
        double t = side ? right : left;
        ec_cut_exact(args, el, t, s);
        double weight = -(side ? 1.0 : -1.0) * ec_cut_degrees_rate(&args->grid, t) / s[1];
        ec_figure_add_cut(args, el, figure, t, weight, false);
        total += weight;
    }
    ec_figure_add_cut(args, el, figure, beam->peak, -total, false);
}

EC_PATTERN_FN int ec_figure_cut(const ec_team *team, const ec_pattern_args *args,
                                const ec_pattern_work *work, const ec_pattern_metric *metric,
                                ec_pattern_figure *figure)
{
    const ec_pattern_elements *el = &work->el;
    ec_cut_beam beam;
    ec_pattern_best best;
    bool sll = metric->kind == EC_METRIC_SLL;
    int bad = 0;

    beam.peak_log = beam.peak = 0.0;
    beam.excluded = 0;
    if (metric->kind != EC_METRIC_EXCESS || metric->relative)
        bad = ec_cut_find_beam(args, el, work->row, metric, sll || metric->kind == EC_METRIC_FNBW,
                               &beam);
    if (bad)
        return bad;
    if (metric->kind == EC_METRIC_HPBW) {
        ec_figure_width(args, el, work->row, &beam, figure);
        return figure->value == figure->value ? 0 : EC_CANDIDATE_OFF_GRID;
    }
    if (metric->kind == EC_METRIC_FNBW) {
        if (beam.excluded) { /* an exclusion region is no null */
            beam.left = ec_cut_first_minimum(args, el, work->row, beam.sample, -1);
            beam.right = ec_cut_first_minimum(args, el, work->row, beam.sample, 1);
        }
        figure->value =
            ec_cut_degrees(&args->grid, beam.right) - ec_cut_degrees(&args->grid, beam.left);
        return figure->value == figure->value ? 0 : EC_CANDIDATE_OFF_GRID;
    }
    double absolute = metric->relative || sll ? 0.0 : ec_pattern_absolute(args, el);
    if (sll)
        best = ec_cut_side_lobe(team, args, el, work->row, &beam);
    else
        best = ec_cut_mask(team, args, el, work->row, metric, absolute - beam.peak_log);
    if (best.score == EC_NO_SCORE) {
        figure->value = sll ? -200.0 : ec_not_a_number();
        return sll ? 0 : EC_CANDIDATE_EVALUATOR;
    }
    double sign = sll ? 1.0 : metric->lines[best.line].sign;
    figure->value = best.score * EC_DB;
    if (sll && figure->value < -200.0) {
        figure->value = -200.0;
        return 0;
    }
    ec_figure_add_cut(args, el, figure, best.a, sign * EC_DB,
                      sll && best.curve == EC_CURVE_FIXED && ec_cut_on_edge(&beam, best.a));
    if (metric->relative || sll)
        ec_figure_add_cut(args, el, figure, beam.peak, -sign * EC_DB,
                          ec_cut_on_edge(&beam, beam.peak));
    else
        figure->scale = 2.0 * sign * EC_DB;
    return 0;
}

/* ---- metrics of a surface ---- */

EC_PATTERN_FN void ec_figure_add_surface(const ec_pattern_args *args, const ec_pattern_elements *el,
                                         ec_pattern_figure *figure, double a, double b,
                                         double weight, bool moves)
{
    const ec_pattern_grid *grid = &args->grid;
    ec_direction d[6];
    double s[6];

    if (grid->topology == EC_PATTERN_LIST) {
        ec_figure_add(figure, ec_surface_point(grid, (int32_t)a), weight);
        return;
    }
    ec_surface_direction(grid, a, b, d);
    ec_figure_add(figure, d[0], weight);
    if (moves && args->vjp) {
        ec_surface_exact(args, el, d, s);
        figure->look_a += weight * s[1];
        figure->look_b += weight * s[2];
    }
}

EC_PATTERN_FN int ec_figure_surface(const ec_team *team, const ec_pattern_args *args,
                                    const ec_pattern_work *work, const ec_pattern_metric *metric,
                                    ec_pattern_figure *figure)
{
    const ec_pattern_elements *el = &work->el;
    bool sll = metric->kind == EC_METRIC_SLL;
    ec_surface_beam beam;
    ec_pattern_best best;

    int bad = ec_surface_find_beam(team, args, el, work->row, metric, sll, work->flooded,
                                   work->queue, &beam);
    if (bad && (metric->relative || sll))
        return bad;
    bool relative = metric->relative || sll;
    if (sll)
        best = ec_surface_side_lobe(team, args, el, work->row, &beam);
    else
        best = ec_surface_mask(team, args, el, work->row, &beam, metric,
                               relative ? -beam.peak_log : ec_pattern_absolute(args, el));
    if (best.score == EC_NO_SCORE) {
        figure->value = sll ? -200.0 : ec_not_a_number();
        return sll ? 0 : EC_CANDIDATE_EVALUATOR;
    }
    double sign = sll ? 1.0 : metric->lines[best.line].sign;
    figure->value = best.score * EC_DB;
    if (sll && figure->value < -200.0) {
        figure->value = -200.0;
        return 0;
    }
    ec_figure_add_surface(args, el, figure, best.a, best.b, sign * EC_DB,
                          best.curve == EC_CURVE_EDGE);
    if (!relative) {
        figure->scale = 2.0 * sign * EC_DB;
        return 0;
    }
    if (args->grid.topology == EC_PATTERN_LIST && beam.sample < 0)
        ec_figure_add(figure, beam.look, -sign * EC_DB);
    else
        ec_figure_add_surface(args, el, figure, beam.peak_a, beam.peak_b, -sign * EC_DB, false);
    return 0;
}

/* The beam's peak alone, for levels relative to it. */
EC_PATTERN_FN int ec_figure_peak(const ec_team *team, const ec_pattern_args *args,
                                 const ec_pattern_work *work, const ec_pattern_metric *metric,
                                 double *peak_log, ec_direction *d)
{
    if (args->grid.topology == EC_PATTERN_CUT) {
        ec_cut_beam beam;
        ec_direction all[3];
        int bad = ec_cut_find_beam(args, &work->el, work->row, metric, false, &beam);
        if (bad)
            return bad;
        ec_cut_direction(&args->grid, beam.peak, all);
        *peak_log = beam.peak_log;
        *d = all[0];
        return 0;
    }
    ec_surface_beam beam;
    ec_direction all[6];
    int bad = ec_surface_find_beam(team, args, &work->el, work->row, metric, false, work->flooded,
                                   work->queue, &beam);
    if (bad)
        return bad;
    *peak_log = beam.peak_log;
    *d = beam.look;
    if (args->grid.topology == EC_PATTERN_LIST) {
        if (beam.sample >= 0)
            *d = ec_surface_point(&args->grid, beam.sample);
        return 0;
    }
    ec_surface_direction(&args->grid, beam.peak_a, beam.peak_b, all);
    *d = all[0];
    return 0;
}

/* ---- metrics of any grid ---- */

/* Towards the look direction: the directivity, or the level alone. */
EC_PATTERN_FN int ec_figure_towards(const ec_team *team, const ec_pattern_args *args,
                                    const ec_pattern_work *work, const ec_pattern_metric *metric,
                                    ec_pattern_figure *figure, double *mean)
{
    const ec_pattern_elements *el = &work->el;
    ec_direction look;
    double rate_a = 0.0, rate_b = 0.0;

    if (args->grid.topology == EC_PATTERN_CUT) {
        double t = ec_cut_look(args, el, metric), s[3];
        ec_direction d[3];
        ec_cut_direction(&args->grid, t, d);
        look = d[0];
        if (args->vjp && metric->look_a != metric->look_a) {
            ec_cut_exact(args, el, t, s);
            rate_a = s[1];
        }
    } else {
        ec_surface_beam beam;
        ec_direction d[6];
        double s[6];
        ec_surface_look(args, el, metric, &beam);
        look = beam.look;
        if (args->vjp) {
            ec_surface_direction(&args->grid, beam.a, beam.b, d);
            ec_surface_exact(args, el, d, s);
            rate_a = s[1];
            rate_b = s[2];
        }
    }
    bool directivity = metric->kind == EC_METRIC_DIRECTIVITY;
    *mean = directivity ? ec_power_mean(team, args, el) : 1.0;
    double level = ec_surface_log(args, el, look);
    if (!(*mean > 0.0) || !(level > -64.0))
        return EC_CANDIDATE_EVALUATOR;
    double offset = directivity ? -ec_det_log(*mean) : ec_pattern_absolute(args, el);
    figure->value = EC_DB * (level + offset);
    figure->scale = directivity ? 0.0 : 2.0 * EC_DB;
    ec_figure_add(figure, look, EC_DB);
    figure->look_a = EC_DB * rate_a;
    figure->look_b = EC_DB * rate_b;
    return 0;
}

EC_FN void ec_metric_write(const ec_team *team, const ec_pattern_metric *metric, size_t c, size_t s,
                           int32_t e, double value)
{
    if (metric->out.data && team->rank == 0)
        metric->out
            .data[s * metric->out.sample + (size_t)e * metric->out.element + c * metric->out.lane] =
            value;
}

EC_FN double ec_metric_seed(const ec_pattern_metric *metric, size_t c, size_t s, int32_t e)
{
    return ec_pattern_read(&metric->seed, c, s, e);
}

/* ln of the power pattern (over scale^2) towards prepared direction k. */
EC_PATTERN_FN double ec_metric_level(const ec_pattern_args *args, const ec_pattern_elements *el,
                                     const ec_pattern_metric *metric, int32_t k, ec_direction *d)
{
    const double *list = metric->directions;
    int32_t n = metric->n;

    d->u = list[k];
    d->v = list[n + k];
    d->w = list[2 * n + k];
    double p = ec_pattern_square(args, el, *d) * list[3 * n + k];
    return ec_det_log(p > EC_POWER_MIN ? p : EC_POWER_MIN);
}

/* Levels at listed directions, or the highest of them. */
EC_PATTERN_FN int ec_metric_levels(const ec_team *team, const ec_pattern_args *args,
                                   ec_pattern_work *work, const ec_pattern_metric *metric, size_t c,
                                   size_t s)
{
    const ec_pattern_elements *el = &work->el;
    ec_pattern_best best = {EC_NO_SCORE, 0.0, 0.0, 0, EC_CURVE_NONE};
    ec_direction d = {0.0, 0.0, 0.0}, peak = d;
    double offset = ec_pattern_absolute(args, el), total = 0.0, peak_log = 0.0;
    bool depth = metric->kind == EC_METRIC_NULL_DEPTH;

    if (metric->relative) {
        int bad = ec_figure_peak(team, args, work, metric, &peak_log, &peak);
        if (bad)
            return bad;
        offset = -peak_log;
    }
    for (int32_t k = team->rank; k < metric->n; k += team->size) {
        double level = ec_metric_level(args, el, metric, k, &d) + offset;
        if (!depth && metric->out.data)
            metric->out.data[s * metric->out.sample + (size_t)k * metric->out.element +
                             c * metric->out.lane] = level * EC_DB;
        if (level > best.score) {
            best.score = level;
            best.a = k;
        }
    }
    ec_team_best(team, &best);
    if (depth)
        ec_metric_write(team, metric, c, s, 0, best.score * EC_DB);
    if (!args->vjp)
        return 0;
    for (int32_t k = 0; k < metric->n; k++) {
        if (depth && k != (int32_t)best.a)
            continue;
        double seed = ec_metric_seed(metric, c, s, depth ? 0 : k) * EC_DB;
        ec_metric_level(args, el, metric, k, &d);
        ec_adjoint_log(team, args, el, &work->adjoint, d, seed);
        total += seed;
    }
    if (metric->relative)
        ec_adjoint_log(team, args, el, &work->adjoint, peak, -total);
    else
        work->adjoint.scale += 2.0 * total / el->scale;
    return 0;
}

/* Adds to the derivative over a sample's level, which waits in its weight. All members call it. */
EC_FN void ec_metric_weigh(const ec_team *team, ec_pattern_work *work, int32_t i, double rate)
{
    if (i % team->size == team->rank)
        work->samples.weight[i] += rate;
}

/* Mean over a cut's stretches: the integral of power and its length; with seed the adjoint of seed
 * times the integral's logarithm, given the integral. */
EC_PATTERN_FN double ec_mean_cut(const ec_team *team, const ec_pattern_args *args,
                                 ec_pattern_work *work, const ec_cut_beam *beam, double *length,
                                 double seed, double integral)
{
    const ec_pattern_grid *grid = &args->grid;
    double from[2], to[2], sum = 0.0, t;
    int count = ec_cut_side_stretches(grid, beam, from, to);
    bool adjoint = seed != 0.0;
    ec_direction d[3];

    *length = 0.0;
    for (int side = 0; side < count; side++) {
        int32_t first = ec_cut_above(grid, from[side]), last = ec_cut_below(grid, to[side]);
        *length += to[side] - from[side];
        int32_t begin = first - 1, stride = adjoint ? 1 : team->size;
        for (int32_t k = begin + (adjoint ? 0 : team->rank); k <= last + 1; k += stride) {
            double share = ec_cut_share(grid, from[side], to[side], first, last, k);
            t = ec_cut_stop(grid, from[side], to[side], first, last, k);
            double p = k < first || k > last ? ec_det_exp(ec_cut_log(args, &work->el, work->row, t))
                                             : ec_cut_power(grid, work->row, k);
            sum += share * p;
            if (!adjoint)
                continue;
            double rate = seed * share * p / integral;
            if (args->smooth && k >= first && k <= last) {
                ec_metric_weigh(team, work, ec_cut_index(grid, k), rate);
                continue;
            }
            ec_cut_direction(grid, t, d);
            ec_adjoint_log(team, args, &work->el, &work->adjoint, d[0], rate);
        }
    }
    return adjoint ? sum : ec_team_sum(team, sum);
}

/* The same of a surface by the solid angles of its points, of a list by their number. */
EC_PATTERN_FN double ec_mean_surface(const ec_team *team, const ec_pattern_args *args,
                                     ec_pattern_work *work, const ec_surface_beam *beam,
                                     double *length, double seed, double integral)
{
    const ec_pattern_grid *grid = &args->grid;
    double sum = 0.0, all = 0.0;
    bool adjoint = seed != 0.0;

    for (int32_t i = adjoint ? 0 : team->rank; i < grid->points; i += adjoint ? 1 : team->size) {
        double p = work->row[i];
        if (!(p >= 0.0) || ec_surface_in_beam(grid, beam, i))
            continue;
        double weight = grid->weight ? grid->weight[i] : 1.0;
        all += weight;
        sum += weight * p;
        if (adjoint && args->smooth)
            ec_metric_weigh(team, work, i, seed * weight * p / integral);
        else if (adjoint)
            ec_adjoint_log(team, args, &work->el, &work->adjoint, ec_surface_point(grid, i),
                           seed * weight * p / integral);
    }
    *length = adjoint ? all : ec_team_sum(team, all);
    return adjoint ? sum : ec_team_sum(team, sum);
}

/* Mean power of the side lobes over the beam's peak. */
EC_PATTERN_FN int ec_metric_mean(const ec_team *team, const ec_pattern_args *args,
                                 ec_pattern_work *work, const ec_pattern_metric *metric, size_t c,
                                 size_t s)
{
    bool cut = args->grid.topology == EC_PATTERN_CUT;
    const ec_pattern_elements *el = &work->el;
    double peak_log, length, integral, ignored;
    ec_cut_beam line;
    ec_surface_beam beam;
    ec_direction d[6];
    int bad;

    if (cut) {
        bad = ec_cut_find_beam(args, el, work->row, metric, true, &line);
        if (bad)
            return bad;
        peak_log = line.peak_log;
        integral = ec_mean_cut(team, args, work, &line, &length, 0.0, 1.0);
    } else {
        bad = ec_surface_find_beam(team, args, el, work->row, metric, true, work->flooded,
                                   work->queue, &beam);
        if (bad)
            return bad;
        peak_log = beam.peak_log;
        integral = ec_mean_surface(team, args, work, &beam, &length, 0.0, 1.0);
    }
    double mean = length > 0.0 ? integral / length : 0.0;
    double value =
        mean > 1e-20 * ec_det_exp(peak_log) ? EC_DB * (ec_det_log(mean) - peak_log) : -200.0;
    ec_metric_write(team, metric, c, s, 0, value);
    if (!args->vjp || value == -200.0)
        return 0;
    double seed = ec_metric_seed(metric, c, s, 0) * EC_DB;
    if (cut) {
        if (seed != 0.0)
            ec_mean_cut(team, args, work, &line, &ignored, seed, integral);
        ec_cut_direction(&args->grid, line.peak, d);
    } else {
        if (seed != 0.0)
            ec_mean_surface(team, args, work, &beam, &ignored, seed, integral);
        if (args->grid.topology == EC_PATTERN_LIST)
            d[0] = beam.sample >= 0 ? ec_surface_point(&args->grid, beam.sample) : beam.look;
        else
            ec_surface_direction(&args->grid, beam.peak_a, beam.peak_b, d);
    }
    ec_adjoint_log(team, args, el, &work->adjoint, d[0], -seed);
    return 0;
}

/* The angle from the look direction to the pattern's peak. */
EC_PATTERN_FN int ec_metric_pointing(const ec_team *team, const ec_pattern_args *args,
                                     ec_pattern_work *work, const ec_pattern_metric *metric,
                                     size_t c, size_t s)
{
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_elements *el = &work->el;
    double value = ec_not_a_number(), slack = 1e-9;

    if (grid->topology == EC_PATTERN_CUT) {
        double look = ec_cut_look(args, el, metric);
        if (grid->circular || (look >= grid->lo - slack && look <= grid->hi + slack))
            value = ec_cut_pointing(team, args, el, work->row, look);
    } else {
        ec_surface_beam beam;
        ec_surface_look(args, el, metric, &beam);
        double square = beam.look.u * beam.look.u + beam.look.v * beam.look.v;
        if (square <= 1.0 + slack)
            value = ec_surface_pointing(team, args, el, work->row, &beam);
    }
    if (!(value == value))
        return EC_CANDIDATE_EVALUATOR;
    ec_metric_write(team, metric, c, s, 0, value);
    return 0;
}

/* Field of the element at grid point i: float64, unlike the grid's table, for rows of floats. */
EC_PATTERN_FN ec_c128 ec_metric_element(const ec_pattern_args *args, int32_t i)
{
    const ec_pattern_grid *grid = &args->grid;
    ec_c128 none = {0.0, 0.0};

    if (grid->gain && grid->gain[i] < 0.0f)
        return none; /* invisible */
    return ec_gain_field(&args->gain, ec_surface_point(grid, i));
}

/* The pattern of elements of their own: a component is complex; the total field of a point has no
 * one phase, so it is its magnitude. */
EC_PATTERN_FN int ec_metric_own_pattern(const ec_team *team, const ec_pattern_args *args,
                                        ec_pattern_work *work, const ec_pattern_metric *metric,
                                        size_t c, size_t s)
{
    const ec_pattern_elements *el = &work->el;
    int32_t parts = args->own.parts;
    double scale = 0.0, done = 0.0;

    for (int32_t i = args->vjp ? 0 : team->rank; i < args->grid.points;
         i += args->vjp ? 1 : team->size) {
        if (ec_pattern_over_after(args, 4.0 * el->n, &done))
            return 0;
        bool visible = !args->grid.gain || args->grid.gain[i] >= 0.0f;
        double size = visible ? el->scale / args->own.size : 0.0;
        ec_direction d = ec_surface_point(&args->grid, i);
        size_t at = s * metric->out.sample + (size_t)i * metric->out.element + c * metric->out.lane;
        ec_c128 f[3];
        ec_own_sum(args, el, d, f);
        double magnitude = sqrt(ec_own_power(parts, f));
        if (metric->out.data) {
            metric->out.data[2 * at] = size * (parts == 1 ? f[0].re : magnitude);
            metric->out.data[2 * at + 1] = parts == 1 ? size * f[0].im : 0.0;
        }
        if (!args->vjp)
            continue;
        const ec_pattern_view *view = &metric->seed;
        at = s * view->sample + (size_t)i * view->element + c * view->lane;
        ec_c128 of = {view->data[2 * at] * size, view->data[2 * at + 1] * size}, seed[3];
        if (parts == 1)
            seed[0] = of;
        for (int32_t k = 0; parts > 1 && k < parts; k++) {
            seed[k].re = magnitude > 0.0 ? of.re * f[k].re / magnitude : 0.0;
            seed[k].im = magnitude > 0.0 ? of.re * f[k].im / magnitude : 0.0;
        }
        for (int32_t k = 0; k < parts; k++)
            scale += (seed[k].re * f[k].re + seed[k].im * f[k].im) / el->scale;
        ec_adjoint_parts(team, args, el, &work->adjoint, d, seed);
    }
    work->adjoint.scale += scale;
    return 0;
}

/* F of every sample in work->samples.field. */
EC_PATTERN_FN void ec_metric_fields(const ec_team *team, const ec_pattern_args *args,
                                    ec_pattern_work *work)
{
#ifdef EC_PATTERN_FIELD
    bool planned = args->row == EC_ROW_NUFFT || args->row == EC_ROW_GIVEN;
    if (planned)
        EC_PATTERN_FIELD(args, &work->el, work->tables);
#endif
    for (int32_t i = team->rank; i < args->grid.points; i += team->size) {
#ifdef EC_PATTERN_FIELD
        if (planned) {
            work->samples.field[i] = EC_PATTERN_FIELD_AT(args, work->tables, i);
            continue;
        }
#endif
        work->samples.field[i] = ec_pattern_sum(&work->el, ec_surface_point(&args->grid, i));
    }
    ec_team_sync(team);
}

/* Adds Re(sum conj(seed_i) dF_i) over all samples, seeds in work->samples.field. */
EC_PATTERN_FN void ec_metric_back(const ec_team *team, const ec_pattern_args *args,
                                  ec_pattern_work *work)
{
    const ec_c128 *seed = work->samples.field;

    ec_team_sync(team);
#ifdef EC_PATTERN_BACK
    if (args->back) {
        EC_PATTERN_BACK(args, &work->el, &work->adjoint, seed, work->tables);
        return;
    }
#endif
    for (int32_t i = 0; i < args->grid.points; i++)
        if (seed[i].re != 0.0 || seed[i].im != 0.0)
            ec_adjoint_field(team, &work->el, &work->adjoint, ec_surface_point(&args->grid, i),
                             seed[i]);
}

/* Where a pattern's values go, two numbers a point, and how far they lie apart. */
EC_FN double *ec_metric_complex(const ec_pattern_args *args, const ec_pattern_work *work,
                                const ec_pattern_metric *metric, size_t c, size_t s, size_t *step)
{
    const ec_pattern_target *out = &metric->out;

    if (work->stage) {
        *step = 2 * (size_t)args->group;
        return work->stage + 2 * (c % (size_t)args->group);
    }
    *step = 2 * out->element;
    return out->data ? out->data + 2 * (s * out->sample + c * out->lane) : NULL;
}

/* Staged patterns of designs c .. c + count - 1 into the output. */
EC_PATTERN_FN void ec_metric_flush(const ec_pattern_args *args, const char *memory, size_t c,
                                   size_t s, size_t count)
{
    const double *from = (const double *)(memory + args->at_stage);
    const ec_pattern_target *out = &args->metric[0].out;
    double *to = out->data + 2 * (s * out->sample + c * out->lane);
    size_t points = (size_t)args->grid.points, words = 2 * (size_t)args->group;

    for (size_t i = 0; i < points; i++, from += words, to += 2 * out->element)
        for (size_t k = 0; k < 2 * count; k++)
            to[k] = from[k];
}

/* The complex pattern at every grid point, and its adjoint. */
EC_PATTERN_FN int ec_metric_pattern(const ec_team *team, const ec_pattern_args *args,
                                    ec_pattern_work *work, const ec_pattern_metric *metric,
                                    size_t c, size_t s)
{
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_elements *el = &work->el;
    double scale = 0.0, done = 0.0;
    size_t step;
    double *out = ec_metric_complex(args, work, metric, c, s, &step);

#ifdef EC_PATTERN_FIELD
    bool planned = args->row == EC_ROW_NUFFT || args->row == EC_ROW_GIVEN;
    if (planned)
        EC_PATTERN_FIELD(args, el, work->tables);
    if (planned && out && !grid->gain &&
        args->gain.form == EC_GAIN_ONE) { /* the loop below, without its tests */
        double whole = el->scale;
        for (int32_t i = team->rank; i < grid->points; i += team->size) {
            ec_c128 f = EC_PATTERN_FIELD_AT(args, work->tables, i);
            out[(size_t)i * step] = f.re * whole;
            out[(size_t)i * step + 1] = f.im * whole;
        }
        return 0;
    }
#endif
    for (int32_t i = team->rank; i < grid->points; i += team->size) {
        if (ec_pattern_over_after(args, el->n, &done))
            return 0;
        ec_c128 g = ec_metric_element(args, i), f = {0.0, 0.0};
        g.re *= el->scale;
        g.im *= el->scale;
        if (args->vjp) {
            const ec_pattern_view *view = &metric->seed;
            size_t at = s * view->sample + (size_t)i * view->element + c * view->lane;
            ec_c128 of = {view->data[2 * at], view->data[2 * at + 1]};
            work->samples.field[i].re = of.re * g.re + of.im * g.im;
            work->samples.field[i].im = of.im * g.re - of.re * g.im;
            continue;
        }
#ifdef EC_PATTERN_FIELD
        if (planned)
            f = EC_PATTERN_FIELD_AT(args, work->tables, i);
        else
#endif
            f = ec_pattern_sum(el, ec_surface_point(grid, i));
        if (out) {
            double *to = out + (size_t)i * step;
            to[0] = f.re * g.re - f.im * g.im;
            to[1] = f.re * g.im + f.im * g.re;
        }
    }
    if (!args->vjp)
        return 0;
    /* F is linear in the amplitudes, so what the seeds say of the scale is in their adjoints */
    for (int32_t m = team->rank; m < el->n; m += team->size)
        scale -= work->adjoint.amplitude[m] * el->amplitude[m];
    ec_metric_back(team, args, work);
    for (int32_t m = team->rank; m < el->n; m += team->size)
        scale += work->adjoint.amplitude[m] * el->amplitude[m];
    work->adjoint.scale += ec_team_sum(team, scale) / el->scale;
    return 0;
}

/* A smooth metric of all samples; its derivatives wait in the samples' weights. */
EC_PATTERN_FN int ec_metric_smooth(const ec_team *team, const ec_pattern_args *args,
                                   ec_pattern_work *work, const ec_pattern_metric *metric, size_t c,
                                   size_t s)
{
    const ec_pattern_elements *el = &work->el;
    ec_smooth_region region;
    double absolute = metric->relative ? 0.0 : ec_pattern_absolute(args, el), total;

    int bad = ec_smooth_find(team, args, el, &work->samples, metric, absolute, &region);
    if (bad)
        return bad;
    double seed = args->vjp ? ec_metric_seed(metric, c, s, 0) : 0.0;
    double value = ec_smooth_value(team, args, &work->samples, metric, &region, seed, &total);
    ec_metric_write(team, metric, c, s, 0, value);
    if (args->vjp && metric->relative)
        ec_adjoint_log(team, args, el, &work->adjoint, region.peak, -total);
    else if (args->vjp)
        work->adjoint.scale += 2.0 * total / el->scale;
    return value == value ? 0 : EC_CANDIDATE_EVALUATOR;
}

/* The weights of all smooth metrics, to the elements. */
EC_PATTERN_FN void ec_metric_smooth_back(const ec_team *team, const ec_pattern_args *args,
                                         ec_pattern_work *work)
{
    ec_team_sync(team);
    if (!args->own.parts) {
        ec_smooth_seeds(team, args, &work->samples);
        ec_metric_back(team, args, work);
        return;
    }
    for (int32_t i = 0; i < args->grid.points; i++)
        ec_adjoint_log(team, args, &work->el, &work->adjoint, ec_surface_point(&args->grid, i),
                       work->samples.weight[i]);
}

/* Followed maxima: the level of each over the first piece, which is the beam's own peak. */
EC_PATTERN_FN int ec_metric_pieces(const ec_team *team, const ec_pattern_args *args,
                                   ec_pattern_work *work, const ec_pattern_metric *metric, size_t c,
                                   size_t s)
{
    const ec_pattern_elements *el = &work->el;
    const ec_pattern_grid *grid = &args->grid;
    double peak_log = 0.0, total = 0.0;
    double offset = metric->relative ? 0.0 : ec_pattern_absolute(args, el);
    ec_direction d[6], peak = {0.0, 0.0, 0.0};
    ec_surface_beam beam;

    if (grid->topology != EC_PATTERN_CUT)
        ec_surface_look(args, el, metric, &beam);
    /* In a first pass over the pieces the values, in a second the adjoints: the members share the
     * pieces in the first and the elements in the second. */
    for (int32_t k = 0; k <= metric->n; k++) {
        const ec_pattern_piece *piece = &metric->pieces[k];
        double a = piece->a, b = piece->b, score, sign = piece->line.sign;
        bool mine = k == 0 || args->vjp || (k - 1) % team->size == team->rank;
        if ((k == 0 && !metric->relative) || !mine)
            continue;
        /* a piece without an adjoint has no share in the gradient: for a row of a Jacobian all but
         * one */
        if (args->vjp && k > 0 && ec_metric_seed(metric, c, s, k - 1) == 0.0)
            continue;
        if (grid->topology == EC_PATTERN_CUT) {
            if (piece->curve == EC_CURVE_FIXED) {
                double s3[3];
                ec_cut_exact(args, el, a, s3);
                ec_line_score(&piece->line, a, s3);
                score = s3[0];
            } else {
                a = ec_cut_follow(args, el, &piece->line, piece->lo[0], piece->hi[0], a, &score);
            }
            ec_cut_direction(grid, a, d);
        } else if (piece->curve == EC_CURVE_NONE) {
            score = ec_surface_refine(args, el, &beam, &piece->line, piece->lo, piece->hi, &a, &b);
            ec_surface_direction(grid, a, b, d);
        } else {
            double s6[6];
            ec_surface_direction(grid, a, b, d);
            ec_surface_score(args, el, &beam, &piece->line, d, s6);
            score = s6[0];
        }
        if (k == 0) {
            peak_log = score;
            peak = d[0];
            continue;
        }
        if (metric->out.data && (!args->vjp || team->rank == 0))
            metric->out.data[s * metric->out.sample + (size_t)(k - 1) * metric->out.element +
                             c * metric->out.lane] = (score + sign * (offset - peak_log)) * EC_DB;
        if (args->vjp) {
            double seed = ec_metric_seed(metric, c, s, k - 1) * EC_DB * sign;
            ec_adjoint_log(team, args, el, &work->adjoint, d[0], seed);
            total += seed;
        }
    }
    if (!args->vjp)
        return 0;
    if (metric->relative)
        ec_adjoint_log(team, args, el, &work->adjoint, peak, -total);
    else
        work->adjoint.scale += 2.0 * total / el->scale;
    return 0;
}

EC_PATTERN_FN int ec_metric_run(const ec_team *team, const ec_pattern_args *args,
                                ec_pattern_work *work, const ec_pattern_metric *metric, size_t c,
                                size_t s)
{
    ec_pattern_figure figure;
    double mean = 1.0;
    int bad;

    if (metric->kind == EC_METRIC_PATTERN && args->own.parts)
        return ec_metric_own_pattern(team, args, work, metric, c, s);
    if (metric->kind == EC_METRIC_PATTERN)
        return ec_metric_pattern(team, args, work, metric, c, s);
    if (metric->kind == EC_METRIC_LEVEL || metric->kind == EC_METRIC_NULL_DEPTH)
        return ec_metric_levels(team, args, work, metric, c, s);
    if (metric->kind == EC_METRIC_PIECES)
        return ec_metric_pieces(team, args, work, metric, c, s);
    if (metric->kind == EC_METRIC_SLL_MEAN)
        return ec_metric_mean(team, args, work, metric, c, s);
    if (metric->kind == EC_METRIC_POINTING)
        return ec_metric_pointing(team, args, work, metric, c, s);
    if (metric->kind == EC_METRIC_SOFT || metric->kind == EC_METRIC_NORM)
        return ec_metric_smooth(team, args, work, metric, c, s);
    figure.value = ec_not_a_number();
    figure.points = 0;
    figure.scale = figure.look_a = figure.look_b = 0.0;
    if (metric->kind == EC_METRIC_DIRECTIVITY || metric->kind == EC_METRIC_TOWARDS)
        bad = ec_figure_towards(team, args, work, metric, &figure, &mean);
    else if (args->grid.topology == EC_PATTERN_CUT)
        bad = ec_figure_cut(team, args, work, metric, &figure);
    else
        bad = ec_figure_surface(team, args, work, metric, &figure);
    if (bad)
        return bad;
    ec_metric_write(team, metric, c, s, 0, figure.value);
    if (args->vjp) {
        double seed = ec_metric_seed(metric, c, s, 0);
        ec_figure_accumulate(team, args, &work->el, metric, &figure, &work->adjoint, seed);
        if (metric->kind == EC_METRIC_DIRECTIVITY)
            ec_adjoint_power(team, args, &work->el, &work->adjoint, mean, -seed * EC_DB);
    }
    return 0;
}

/* NAN in every output of the metric. */
EC_PATTERN_FN void ec_metric_fail(const ec_team *team, const ec_pattern_args *args,
                                  const ec_pattern_work *work, const ec_pattern_metric *metric,
                                  size_t c, size_t s)
{
    int32_t count = metric->kind == EC_METRIC_PATTERN ? args->grid.points
                    : metric->kind == EC_METRIC_LEVEL || metric->kind == EC_METRIC_PIECES
                        ? metric->n
                        : 1;
    size_t step;
    double *out = ec_metric_complex(args, work, metric, c, s, &step);

    if (!metric->out.data)
        return;
    for (int32_t e = team->rank; e < count; e += team->size) {
        if (metric->kind == EC_METRIC_PATTERN) {
            out[(size_t)e * step] = out[(size_t)e * step + 1] = ec_not_a_number();
        } else {
            metric->out.data[s * metric->out.sample + (size_t)e * metric->out.element +
                             c * metric->out.lane] = ec_not_a_number();
        }
    }
}

EC_PATTERN_FN void ec_pattern_fail_gradient(const ec_team *team, const ec_pattern_args *args,
                                            size_t c, size_t s)
{
    for (int k = 0; k < EC_PATTERN_INPUTS; k++) {
        int32_t count = args->in[k].element ? args->elements : 1;
        for (int32_t m = team->rank; args->grad[k].data && m < count; m += team->size)
            ec_adjoint_write(args, k, c, s, m, ec_not_a_number());
    }
}

/* Candidate status: whether elements that vary are where their sub-arrays were planned for. */
EC_PATTERN_FN int ec_pattern_within(const ec_team *team, const ec_pattern_args *args,
                                    const ec_pattern_elements *el)
{
    const ec_pattern_nufft *nufft = &args->nufft;
    int outside = 0;

    if ((args->row != EC_ROW_NUFFT && args->row != EC_ROW_GIVEN) || !nufft->moving)
        return 0;
    for (int32_t k = 0; k < nufft->parts; k++) {
        const ec_pattern_part *part = &nufft->part[k];
        for (int32_t i = team->rank; i < part->count; i += team->size) {
            int32_t m = nufft->order[part->first + i];
            double dx = el->x[m] - part->x, dy = el->y[m] - part->y;
            double dz = el->z[m] - part->z - part->slope_x * dx - part->slope_y * dy;
            outside |=
                fabs(dx) > nufft->span[0] || fabs(dy) > nufft->span[1] || fabs(dz) > part->depth;
        }
    }
    return ec_team_any(team, outside) ? EC_CANDIDATE_OUT_OF_RANGE : 0;
}

EC_PATTERN_FN void ec_pattern_candidate(const ec_team *team, const ec_pattern_args *args, size_t c,
                                        size_t s, char *memory)
{
    ec_pattern_work work;
    int bad, status = 0;

    ec_pattern_lay_out(args, memory, &work);
    ec_team_sync(team);
    bad = ec_pattern_gather(team, args, c, s, &work.el);
    bad = (ec_team_any(team, bad & EC_CANDIDATE_EVALUATOR) ? EC_CANDIDATE_EVALUATOR : 0) |
          (ec_team_any(team, bad & EC_CANDIDATE_OUT_OF_RANGE) ? EC_CANDIDATE_OUT_OF_RANGE : 0);
    if (!bad)
        bad = ec_pattern_within(team, args, &work.el);
    if (bad) {
        for (int32_t k = 0; k < args->n_metrics; k++)
            ec_metric_fail(team, args, &work, &args->metric[k], c, s);
        ec_pattern_fail_gradient(team, args, c, s);
        ec_team_set_status(team, args->status, args->fresh, c, bad);
        return;
    }
    if (args->vjp)
        ec_adjoint_clear(team, &work.el, &work.adjoint);
    if (args->row == EC_ROW_GIVEN) {
        size_t at = (s * args->n + c - args->nufft.first) * (size_t)args->grid.points;
        size_t pair = args->double_precision ? sizeof(ec_c128) : sizeof(ec_c64);
        if (args->fields)
            work.tables = (char *)args->nufft.field + at * pair;
        else
            work.row = args->nufft.rows + at;
    }
    if (args->smooth) {
        if (!args->own.parts)
            ec_metric_fields(team, args, &work);
        ec_smooth_levels(team, args, &work.el, &work.samples, work.row);
        ec_team_sync(team);
    } else if (args->row != EC_ROW_NONE && args->row != EC_ROW_GIVEN && !args->fields) {
        EC_PATTERN_ROW(team, args, &work.el, work.tables, work.row);
        ec_team_sync(team);
    }
    for (int32_t k = 0; k < args->n_metrics; k++) {
        bad = ec_metric_run(team, args, &work, &args->metric[k], c, s);
        if (bad)
            ec_metric_fail(team, args, &work, &args->metric[k], c, s);
        status |= bad;
        ec_team_sync(team);
    }
    if (args->vjp && args->smooth && !status)
        ec_metric_smooth_back(team, args, &work);
    if (args->vjp) {
        if (status)
            ec_pattern_fail_gradient(team, args, c, s);
        else
            ec_adjoint_finish(team, args, c, s, &work.el, &work.adjoint);
    }
    ec_team_set_status(team, args->status, args->fresh, c, status);
}

#endif
