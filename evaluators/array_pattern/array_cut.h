/* array_cut.h: metrics of a cut: the main beam, side lobes, mask excess, beam widths.
 *
 * A row of |F|^2 finds the lobes. In the search their peaks, edges and crossings are interpolated
 * in the row (parabola through three samples, cubic through four); when args->exact is set they
 * are refined on the true function in float64 (Newton's method inside a bracket), so a figure
 * depends on the grid only through which lobes it shows. Scores are natural logarithms of power.
 * On a full circle an index may run beyond the row: sample i is i mod na, one period on.
 */
#ifndef EC_ARRAY_CUT_H
#define EC_ARRAY_CUT_H

#include "array_own.h"

#define EC_PER_DB    0.2302585092994046 /* ln(10) / 10 */
#define EC_DB        4.342944819032518  /* 10 / ln(10) */
#define EC_NO_SCORE  (-1e300)
#define EC_POWER_MIN 1e-40
#define EC_LN2       0.6931471805599453

/* ---- geometry of the cut ---- */

/* Direction at coordinate t and its two derivatives. */
EC_PATTERN_FN void ec_cut_direction(const ec_pattern_grid *grid, double t, ec_direction d[3])
{
    double s, c;

    if (grid->kind == EC_ARRAY_CUT_U) {
        double square = 1.0 - t * t - grid->fixed * grid->fixed;
        double w = sqrt(square > 0.0 ? square : 0.0);
        double floor_w = w > 1e-7 ? w : 1e-7;
        d[0].u = t, d[0].v = grid->fixed, d[0].w = w;
        d[1].u = 1.0, d[1].v = 0.0, d[1].w = -t / floor_w;
        d[2].u = 0.0, d[2].v = 0.0;
        d[2].w = -(1.0 - grid->fixed * grid->fixed) / (floor_w * floor_w * floor_w);
        return;
    }
    ec_det_sincos(t, &s, &c);
    if (grid->kind == EC_ARRAY_CUT_THETA) {
        d[0].u = s * grid->fixed_cos, d[0].v = s * grid->fixed_sin, d[0].w = c;
        d[1].u = c * grid->fixed_cos, d[1].v = c * grid->fixed_sin, d[1].w = -s;
        d[2].u = -d[0].u, d[2].v = -d[0].v, d[2].w = -c;
        return;
    }
    d[0].u = grid->fixed_sin * c, d[0].v = grid->fixed_sin * s, d[0].w = grid->fixed_cos;
    d[1].u = -d[0].v, d[1].v = d[0].u, d[1].w = 0.0;
    d[2].u = -d[0].u, d[2].v = -d[0].v, d[2].w = 0.0;
}

/* Angle in degrees that a beam width counts in. */
EC_FN double ec_cut_degrees(const ec_pattern_grid *grid, double t)
{
    if (grid->kind == EC_ARRAY_CUT_U) {
        double sine = t / sqrt(1.0 - grid->fixed * grid->fixed);
        t = ec_det_asin(sine > 1.0 ? 1.0 : sine < -1.0 ? -1.0 : sine);
    }
    return t * 57.29577951308232;
}

/* Derivative of ec_cut_degrees. */
EC_FN double ec_cut_degrees_rate(const ec_pattern_grid *grid, double t)
{
    double rate = 57.29577951308232;

    if (grid->kind == EC_ARRAY_CUT_U) {
        double square = 1.0 - grid->fixed * grid->fixed - t * t;
        rate /= sqrt(square > 1e-14 ? square : 1e-14);
    }
    return rate;
}

/* i / na rounded down. */
EC_FN int32_t ec_cut_turns(const ec_pattern_grid *grid, int32_t i)
{
    return i >= 0 ? i / grid->na : -((grid->na - 1 - i) / grid->na);
}

EC_FN int32_t ec_cut_index(const ec_pattern_grid *grid, int32_t i)
{
    return grid->circular ? i - grid->na * ec_cut_turns(grid, i) : i;
}

EC_FN double ec_cut_at(const ec_pattern_grid *grid, int32_t i)
{
    if (!grid->circular)
        return grid->a[i];
    int32_t turns = ec_cut_turns(grid, i);
    return grid->a[i - grid->na * turns] + grid->period * turns;
}

EC_FN double ec_cut_power(const ec_pattern_grid *grid, const float *row, int32_t i)
{
    return (double)row[ec_cut_index(grid, i)];
}

/* Largest i with a[i] <= t (on a circle in the period that t lies in); -1 below the first. */
EC_PATTERN_FN int32_t ec_cut_below(const ec_pattern_grid *grid, double t)
{
    int32_t turns = 0, low = -1, high = grid->na;

    if (grid->circular) {
        turns = (int32_t)ec_det_floor((t - grid->a[0]) / grid->period);
        t -= turns * grid->period;
    }
    if (grid->uniform) {
        double step = (grid->a[grid->na - 1] - grid->a[0]) / (grid->na - 1);
        double guess = (t - grid->a[0]) / step;
        guess = guess < 0.0 ? 0.0 : guess > grid->na - 1 ? grid->na - 1 : guess;
        int32_t near = (int32_t)guess;
        low = near - 2 > -1 ? near - 2 : -1;
        high = near + 3 < grid->na ? near + 3 : grid->na;
    }
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (grid->a[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low + turns * grid->na;
}

/* Smallest i with a[i] >= t. */
EC_PATTERN_FN int32_t ec_cut_above(const ec_pattern_grid *grid, double t)
{
    int32_t i = ec_cut_below(grid, t);
    return (grid->circular || i >= 0) && ec_cut_at(grid, i) == t ? i : i + 1;
}

/* ---- the true function ---- */

/* ln of |F|^2 g^2 and its two derivatives along the cut. */
EC_PATTERN_FN void ec_cut_exact(const ec_pattern_args *args, const ec_pattern_elements *el,
                                double t, double log_power[3])
{
    ec_direction d[3];
    double p[3];

    ec_cut_direction(&args->grid, t, d);
    ec_pattern_along(args, el, d, p);
    double power = p[0] > EC_POWER_MIN ? p[0] : EC_POWER_MIN;
    log_power[0] = ec_det_log(power);
    log_power[1] = p[1] / power;
    log_power[2] = p[2] / power - log_power[1] * log_power[1];
    if (args->gain.form == EC_GAIN_ONE)
        return;
    ec_direction none = {0.0, 0.0, 0.0}, all[6] = {d[0], d[1], none, d[2], none, none};
    double s[6] = {log_power[0], log_power[1], 0.0, log_power[2], 0.0, 0.0};
    ec_gain_add_log(&args->gain, all, s);
    log_power[0] = s[0];
    log_power[1] = s[1];
    log_power[2] = s[3];
}

/* ---- limits ---- */

/* Limit of a line at t in natural logarithms of power; rate: its derivative. */
EC_FN double ec_line_limit(const ec_pattern_line *line, double t, double *rate)
{
    double slope = line->to > line->from && line->limit[0] != line->limit[1]
                       ? (line->limit[1] - line->limit[0]) / (line->to - line->from)
                       : 0.0;

    *rate = slope * EC_PER_DB;
    return (line->limit[0] + slope * (t - line->from)) * EC_PER_DB;
}

/* Score of a logarithmic power and its derivatives against a line. */
EC_FN void ec_line_score(const ec_pattern_line *line, double t, double s[3])
{
    double rate, limit = ec_line_limit(line, t, &rate);

    s[0] = line->sign * (s[0] - limit);
    s[1] = line->sign * (s[1] - rate);
    s[2] = line->sign * s[2];
}

/* Highest score inside [lo, hi] near t: a root of the derivative by Newton's method, kept in a
 * bracket by bisection; an end of the bracket when the score still rises there. */
EC_PATTERN_FN double ec_cut_refine(const ec_pattern_args *args, const ec_pattern_elements *el,
                                   const ec_pattern_line *line, double lo, double hi, double t,
                                   double *score)
{
    double s[3];
    double lo0 = lo, hi0 = hi, tolerance = 1e-13 * (1.0 + fabs(t)), width = hi - lo;

    for (int step = 0; step < 80; step++) {
        ec_cut_exact(args, el, t, s);
        ec_line_score(line, t, s);
        if (s[1] > 0.0)
            lo = t;
        else
            hi = t;
        double next = s[2] < 0.0 ? t - s[1] / s[2] : lo - 1.0;
        if (!(next > lo && next < hi)) {
            next = 0.5 * (lo + hi);
            /* a rise that ends at the edge of the bracket */
            if (step > 4 && hi == hi0 && next > hi0 - 1e-3 * width)
                next = hi0;
            if (step > 4 && lo == lo0 && next < lo0 + 1e-3 * width)
                next = lo0;
        }
        double moved = fabs(next - t);
        t = next;
        if (moved < tolerance)
            break;
    }
    ec_cut_exact(args, el, t, s);
    ec_line_score(line, t, s);
    *score = s[0];
    return t;
}

/* The maximum uphill of t, not beyond [lo, hi]: steps of a sixteenth of the box until the
 * derivative changes sign, then ec_cut_refine. It stays on the lobe that t is on. */
EC_PATTERN_FN double ec_cut_follow(const ec_pattern_args *args, const ec_pattern_elements *el,
                                   const ec_pattern_line *line, double lo, double hi, double t,
                                   double *score)
{
    double s[3], step = 0.0625 * (hi - lo);

    ec_cut_exact(args, el, t, s);
    ec_line_score(line, t, s);
    step = s[1] > 0.0 ? step : -step;
    for (int count = 0; count < 17; count++) {
        double next = t + step;
        next = next < lo ? lo : next > hi ? hi : next;
        ec_cut_exact(args, el, next, s);
        ec_line_score(line, next, s);
        if (s[1] * step <= 0.0)
            return step > 0.0 ? ec_cut_refine(args, el, line, t, next, t, score)
                              : ec_cut_refine(args, el, line, next, t, t, score);
        t = next;
        if (t == lo || t == hi)
            break;
    }
    *score = s[0];
    return t;
}

/* Position of the minimum of |F|^2 in [lo, hi] near t. */
EC_PATTERN_FN double ec_cut_refine_minimum(const ec_pattern_args *args,
                                           const ec_pattern_elements *el, double lo, double hi,
                                           double t)
{
    ec_direction d[3];
    double p[3], tolerance = 1e-13 * (1.0 + fabs(t));

    for (int step = 0; step < 80; step++) {
        ec_cut_direction(&args->grid, t, d);
        ec_pattern_along(args, el, d, p);
        ec_gain_multiply(&args->gain, d, p);
        if (p[1] < 0.0)
            lo = t;
        else
            hi = t;
        double next = p[2] > 0.0 ? t - p[1] / p[2] : lo - 1.0;
        if (!(next > lo && next < hi))
            next = 0.5 * (lo + hi);
        double moved = fabs(next - t);
        t = next;
        if (moved < tolerance)
            break;
    }
    return t;
}

/* ---- interpolation in the row ---- */

/* Extremum of the parabola through three samples; its value. The middle sample when flat. */
EC_FN double ec_parabola(double t0, double t1, double t2, double p0, double p1, double p2,
                         double *t)
{
    double left = (p1 - p0) / (t1 - t0), right = (p2 - p1) / (t2 - t1);
    double curve = (right - left) / (t2 - t0);
    double slope = (left * (t2 - t1) + right * (t1 - t0)) / (t2 - t0);

    *t = t1;
    if (curve == 0.0)
        return p1;
    double move = -0.5 * slope / curve;
    double low = 0.5 * (t0 - t1), high = 0.5 * (t2 - t1);
    move = move < low ? low : move > high ? high : move;
    *t = t1 + move;
    return p1 + move * (slope + move * curve);
}

/* |F|^2 at t by the cubic through the four samples around it. */
EC_PATTERN_FN double ec_cut_interpolate(const ec_pattern_grid *grid, const float *row, double t)
{
    int32_t first = ec_cut_below(grid, t) - 1;
    int32_t count = grid->na < 4 ? grid->na : 4;
    double p[4], x[4];

    if (!grid->circular) {
        first = first > grid->na - count ? grid->na - count : first;
        first = first < 0 ? 0 : first;
    }
    for (int k = 0; k < count; k++) {
        p[k] = ec_cut_power(grid, row, first + k);
        x[k] = ec_cut_at(grid, first + k);
        if (x[k] == t)
            return p[k];
    }
    /* Neville's scheme */
    for (int order = 1; order < count; order++)
        for (int k = 0; k + order < count; k++)
            p[k] = ((t - x[k + order]) * p[k] - (t - x[k]) * p[k + 1]) / (x[k] - x[k + order]);
    return p[0];
}

/* ln of |F|^2 at t: exact or interpolated. */
EC_PATTERN_FN double ec_cut_log(const ec_pattern_args *args, const ec_pattern_elements *el,
                                const float *row, double t)
{
    double s[3];

    if (args->exact) {
        ec_cut_exact(args, el, t, s);
        return s[0];
    }
    double p = ec_cut_interpolate(&args->grid, row, t);
    return ec_det_log(p > EC_POWER_MIN ? p : EC_POWER_MIN);
}

/* ---- side lobes and masks ---- */

/* The highest sample that tops its neighbours, from first to last and inside [from, to]. */
EC_PATTERN_FN double ec_cut_highest(const ec_team *team, const ec_pattern_grid *grid,
                                    const float *row, int32_t first, int32_t last, double from,
                                    double to)
{
    ec_pattern_best best = {0.0, 0.0, 0.0, 0, EC_CURVE_NONE};

    for (int32_t i = first + team->rank; i <= last; i += team->size) {
        double p = ec_cut_power(grid, row, i), t = ec_cut_at(grid, i);
        if (p > best.score && p >= ec_cut_power(grid, row, i - 1) &&
            p >= ec_cut_power(grid, row, i + 1) && t >= from && t <= to)
            best.score = p;
    }
    ec_team_best(team, &best);
    return best.score;
}

/* Highest score of the stretch [from, to] against a line, with offset added to the logarithm of
 * power; better ones than *best replace it. The team shares the samples; *best is each member's. */
EC_PATTERN_FN void ec_cut_scan(const ec_team *team, const ec_pattern_args *args,
                               const ec_pattern_elements *el, const float *row, double from,
                               double to, const ec_pattern_line *line, int32_t number,
                               double offset, ec_pattern_best *best)
{
    const ec_pattern_grid *grid = &args->grid;
    double rate;
    ec_pattern_best found;

    if (!(from <= to))
        return;
    found.b = 0.0;
    found.line = number;
    int32_t first = ec_cut_above(grid, from) - 1, last = ec_cut_below(grid, to) + 1;
    if (!grid->circular) {
        first = first < 1 ? 1 : first;
        last = last > grid->na - 2 ? grid->na - 2 : last;
    }
    bool flat = line->limit[0] == line->limit[1];
    double constant = ec_line_limit(line, from, &rate);
    /* Lobes that cannot be the highest are left out. A peak lies less than 3 dB above its highest
     * sample on any usable grid, so lower samples than `bar` need no interpolation; those whose
     * interpolated peak cannot reach `least`, a power that some lobe has, no refinement. Powers
     * decide, so no logarithm is taken for most. */
    double bar = 0.0, least = 0.0;
    if (line->sign > 0 && flat && args->exact)
        least = ec_cut_highest(team, grid, row, first, last, from, to);
    for (int32_t i = first + team->rank; i <= last; i += team->size) {
        double p0 = ec_cut_power(grid, row, i - 1), p1 = ec_cut_power(grid, row, i);
        double p2 = ec_cut_power(grid, row, i + 1);
        if (line->sign > 0 && flat && !(p1 > bar && p1 >= p0 && p1 >= p2))
            continue;
        double t0 = ec_cut_at(grid, i - 1), t1 = ec_cut_at(grid, i), t2 = ec_cut_at(grid, i + 1);
        double limit = constant;
        if (!flat) {
            p0 *= ec_det_exp(ec_line_limit(line, t1, &rate) - ec_line_limit(line, t0, &rate));
            p2 *= ec_det_exp(ec_line_limit(line, t1, &rate) - ec_line_limit(line, t2, &rate));
            limit = ec_line_limit(line, t1, &rate);
        }
        if (line->sign > 0 ? !(p1 >= p0 && p1 >= p2) : !(p1 <= p0 && p1 <= p2))
            continue;
        double top = ec_parabola(t0, t1, t2, p0, p1, p2, &found.a);
        found.curve = EC_CURVE_NONE;
        if (args->exact) {
            if (line->sign > 0 && flat && top * grid->reach < least)
                continue;
            if (ec_pattern_over(args))
                return;
            found.a = ec_cut_refine(args, el, line, t0 > from ? t0 : from, t2 < to ? t2 : to,
                                    t1 < from ? from
                                    : t1 > to ? to
                                              : t1,
                                    &found.score);
            double refined = ec_det_exp(found.score + limit);
            least = refined > least ? refined : least;
            found.score += line->sign * offset;
            top = p1;
        } else {
            if (found.a < from || found.a > to)
                continue;
            top = top > EC_POWER_MIN ? top : EC_POWER_MIN;
            found.score = line->sign * (ec_det_log(top) + offset - limit);
        }
        if (line->sign > 0 && flat && 0.5 * top > bar)
            bar = 0.5 * top;
        if (ec_pattern_better(&found, best))
            *best = found;
    }
    for (int end = 0; end < 2; end++) {
        found.a = end ? to : from;
        found.curve = EC_CURVE_FIXED;
        found.score = line->sign * (ec_cut_log(args, el, row, found.a) + offset -
                                    ec_line_limit(line, found.a, &rate));
        if (ec_pattern_better(&found, best))
            *best = found;
    }
}

/* ---- the main beam ---- */

typedef struct ec_cut_beam {
    double look;           /* coordinate of the look direction */
    int32_t sample;        /* index of the peak's sample */
    double peak, peak_log; /* position and ln |F|^2 of the beam's peak */
    int32_t excluded;      /* an exclusion interval defines the beam */
    double left, right;    /* the beam's edges; NAN: it reaches the grid's end */
    double first, last;    /* visible stretch */
} ec_cut_beam;

EC_FN double ec_cut_look(const ec_pattern_args *args, const ec_pattern_elements *el,
                         const ec_pattern_metric *metric)
{
    const ec_pattern_grid *grid = &args->grid;

    if (metric->look_a == metric->look_a)
        return metric->look_a;
    if (grid->kind == EC_ARRAY_CUT_U)
        return el->u0;
    if (grid->kind == EC_ARRAY_CUT_PHI)
        return ec_det_atan2(el->v0, el->u0);
    double sine = el->u0 * grid->fixed_cos + el->v0 * grid->fixed_sin;
    double square = 1.0 - sine * sine;
    double cosine = sqrt(square > 0.0 ? square : 0.0);
    return ec_det_atan2(sine, el->w0 < 0.0 ? -cosine : cosine);
}

/* First minimum from sample i in direction `step`: its position, NAN if the visible stretch (or
 * the circle) ends before one. */
EC_PATTERN_FN double ec_cut_first_minimum(const ec_pattern_args *args,
                                          const ec_pattern_elements *el, const float *row,
                                          int32_t i, int32_t step)
{
    const ec_pattern_grid *grid = &args->grid;
    int32_t first = grid->first, last = grid->last;
    double t;

    for (int32_t count = 0; count < grid->na; count++, i += step) {
        int32_t next = i + step;
        if (!grid->circular && (next < first || next > last))
            return (double)NAN;
        if (count == 0 || !(ec_cut_power(grid, row, next) > ec_cut_power(grid, row, i)))
            continue;
        double t0 = ec_cut_at(grid, i - 1), t1 = ec_cut_at(grid, i), t2 = ec_cut_at(grid, i + 1);
        if (args->exact)
            return ec_cut_refine_minimum(args, el, t0, t2, t1);
        ec_parabola(t0, t1, t2, ec_cut_power(grid, row, i - 1), ec_cut_power(grid, row, i),
                    ec_cut_power(grid, row, i + 1), &t);
        return t;
    }
    return (double)NAN;
}

/* Sample of the beam's peak: uphill from the look direction, or the highest inside the exclusion
 * interval [from, to]; -1: none. */
EC_PATTERN_FN int32_t ec_cut_peak_sample(const ec_pattern_grid *grid, const float *row,
                                         const ec_cut_beam *beam, double from, double to)
{
    int32_t first = grid->first, last = grid->last;

    if (!grid->circular && last < first)
        return -1;
    if (beam->excluded) {
        int32_t low = ec_cut_above(grid, from), high = ec_cut_below(grid, to);
        if (!grid->circular) {
            low = low < first ? first : low;
            high = high > last ? last : high;
        }
        if (low <= high) {
            int32_t best = low;
            for (int32_t i = low + 1; i <= high; i++)
                if (ec_cut_power(grid, row, i) > ec_cut_power(grid, row, best))
                    best = i;
            return best;
        }
    }
    int32_t i = ec_cut_below(grid, beam->look);
    if (!grid->circular)
        i = i < first ? first : i > last ? last : i;
    if ((grid->circular || i < last) &&
        ec_cut_at(grid, i + 1) - beam->look < beam->look - ec_cut_at(grid, i))
        i++;
    if (beam->excluded)
        return i;
    for (int32_t count = 0; count < grid->na; count++) {
        double here = ec_cut_power(grid, row, i), best = here;
        int32_t to_go = i;
        for (int32_t step = -1; step <= 1; step += 2) {
            int32_t next = i + step;
            if (!grid->circular && (next < first || next > last))
                continue;
            if (ec_cut_power(grid, row, next) > best) {
                best = ec_cut_power(grid, row, next);
                to_go = next;
            }
        }
        if (to_go == i)
            break;
        i = to_go;
    }
    return i;
}

/* Finds the main beam; candidate status 0 or EVALUATOR. */
EC_PATTERN_FN int ec_cut_find_beam(const ec_pattern_args *args, const ec_pattern_elements *el,
                                   const float *row, const ec_pattern_metric *metric, bool edges,
                                   ec_cut_beam *beam)
{
    const ec_pattern_grid *grid = &args->grid;
    ec_pattern_line none = {0.0, 0.0, {0.0, 0.0}, 1};
    double slack = 1e-9;

    beam->look = ec_cut_look(args, el, metric);
    beam->excluded = metric->exclude_a == metric->exclude_a;
    beam->first = grid->lo;
    beam->last = grid->hi;
    beam->left = beam->right = (double)NAN;
    if (!grid->circular && (beam->look < grid->lo - slack || beam->look > grid->hi + slack))
        return EC_CANDIDATE_EVALUATOR;
    double from = beam->look - metric->exclude_a, to = beam->look + metric->exclude_a;
    int32_t i = ec_cut_peak_sample(grid, row, beam, from, to);
    if (i < 0)
        return EC_CANDIDATE_EVALUATOR;
    beam->sample = i;
    if (!grid->circular) {
        from = from > grid->lo ? from : grid->lo;
        to = to < grid->hi ? to : grid->hi;
    }
    double t0 = grid->circular || i > 0 ? ec_cut_at(grid, i - 1) : grid->lo;
    double t2 = grid->circular || i < grid->na - 1 ? ec_cut_at(grid, i + 1) : grid->hi;
    double t1 = ec_cut_at(grid, i);
    double low = beam->excluded ? from : grid->lo, high = beam->excluded ? to : grid->hi;
    if (args->exact) {
        low = (beam->excluded || !grid->circular) && low > t0 ? low : t0;
        high = (beam->excluded || !grid->circular) && high < t2 ? high : t2;
        t1 = t1 < low ? low : t1 > high ? high : t1;
        beam->peak = ec_cut_refine(args, el, &none, low, high, t1, &beam->peak_log);
    } else {
        double top = ec_cut_power(grid, row, i);
        beam->peak = t1;
        if (grid->circular || (i > 0 && i < grid->na - 1)) {
            double t, p = ec_parabola(t0, t1, t2, ec_cut_power(grid, row, i - 1), top,
                                      ec_cut_power(grid, row, i + 1), &t);
            if (grid->circular || (t >= grid->lo && t <= grid->hi)) {
                beam->peak = t;
                top = p;
            }
        }
        beam->peak_log = ec_det_log(top > EC_POWER_MIN ? top : EC_POWER_MIN);
    }
    if (beam->excluded) {
        /* the beam may still rise at the edge of its interval */
        for (int end = 0; end < 2 && edges; end++) {
            double t = end ? to : from, level = ec_cut_log(args, el, row, t);
            if (level > beam->peak_log) {
                beam->peak = t;
                beam->peak_log = level;
            }
        }
        beam->left = from;
        beam->right = to;
    } else if (edges) {
        beam->left = ec_cut_first_minimum(args, el, row, i, -1);
        beam->right = ec_cut_first_minimum(args, el, row, i, 1);
    }
    return beam->peak_log > args->zero_log ? 0 : EC_CANDIDATE_EVALUATOR;
}

/* The highest side lobe: score relative to the beam's peak. */
EC_PATTERN_FN ec_pattern_best ec_cut_side_lobe(const ec_team *team, const ec_pattern_args *args,
                                               const ec_pattern_elements *el, const float *row,
                                               const ec_cut_beam *beam)
{
    const ec_pattern_grid *grid = &args->grid;
    ec_pattern_line none = {0.0, 0.0, {0.0, 0.0}, 1};
    ec_pattern_best best = {EC_NO_SCORE, 0.0, 0.0, 0, EC_CURVE_NONE};

    if (grid->circular) {
        if (beam->left == beam->left && beam->right == beam->right)
            ec_cut_scan(team, args, el, row, beam->right, beam->left + grid->period, &none, 0,
                        -beam->peak_log, &best);
    } else {
        if (beam->left == beam->left && beam->left > grid->lo)
            ec_cut_scan(team, args, el, row, grid->lo, beam->left, &none, 0, -beam->peak_log,
                        &best);
        if (beam->right == beam->right && beam->right < grid->hi)
            ec_cut_scan(team, args, el, row, beam->right, grid->hi, &none, 1, -beam->peak_log,
                        &best);
    }
    ec_team_best(team, &best);
    return best;
}

/* The worst direction of a mask: score is the excess in natural logarithms. */
EC_PATTERN_FN ec_pattern_best ec_cut_mask(const ec_team *team, const ec_pattern_args *args,
                                          const ec_pattern_elements *el, const float *row,
                                          const ec_pattern_metric *metric, double offset)
{
    const ec_pattern_grid *grid = &args->grid;
    ec_pattern_best best = {EC_NO_SCORE, 0.0, 0.0, 0, EC_CURVE_NONE};

    for (int32_t k = 0; k < metric->n; k++) {
        const ec_pattern_line *line = &metric->lines[k];
        double from = line->from, to = line->to;
        if (!grid->circular) {
            from = from > grid->lo ? from : grid->lo;
            to = to < grid->hi ? to : grid->hi;
        }
        ec_cut_scan(team, args, el, row, from, to, line, k, offset, &best);
    }
    ec_team_best(team, &best);
    return best;
}

/* ---- the side lobes' mean ---- */

/* The side-lobe stretches of a cut: their ends, at most two; returns how many. */
EC_PATTERN_FN int ec_cut_side_stretches(const ec_pattern_grid *grid, const ec_cut_beam *beam,
                                        double from[2], double to[2])
{
    int count = 0;

    if (grid->circular) {
        from[0] = beam->right;
        to[0] = beam->left + grid->period;
        return from[0] < to[0] ? 1 : 0; /* also without edges, NAN */
    }
    if (beam->left > grid->lo) {
        from[count] = grid->lo;
        to[count++] = beam->left;
    }
    if (beam->right < grid->hi) {
        from[count] = beam->right;
        to[count++] = grid->hi;
    }
    return count;
}

/* Point k of the stretch: first .. last are its samples, first - 1 and last + 1 its own ends. */
EC_FN double ec_cut_stop(const ec_pattern_grid *grid, double from, double to, int32_t first,
                         int32_t last, int32_t k)
{
    return k < first ? from : k > last ? to : ec_cut_at(grid, k);
}

/* Its share in the trapezoidal rule. */
EC_FN double ec_cut_share(const ec_pattern_grid *grid, double from, double to, int32_t first,
                          int32_t last, int32_t k)
{
    int32_t before = k > first - 1 ? k - 1 : k, after = k < last + 1 ? k + 1 : k;

    return 0.5 * (ec_cut_stop(grid, from, to, first, last, after) -
                  ec_cut_stop(grid, from, to, first, last, before));
}

/* ---- where the pattern's peak is ---- */

/* Angle between two directions in degrees. */
EC_FN double ec_direction_angle(ec_direction a, ec_direction b)
{
    double u = a.u - b.u, v = a.v - b.v, w = a.w - b.w;
    double half = 0.5 * sqrt(u * u + v * v + w * w);

    return 2.0 * ec_det_asin(half < 1.0 ? half : 1.0) * 57.29577951308232;
}

/* Of peaks as high as the highest but for this (ln of power, 0.05 dB), the nearest counts. */
#define EC_EQUAL_PEAKS 0.0115

/* The pattern's peak near sample i, a local maximum of the row: ln of its power and where. */
EC_PATTERN_FN double ec_cut_peak_near(const ec_pattern_args *args, const ec_pattern_elements *el,
                                      const float *row, int32_t i, double *t)
{
    const ec_pattern_grid *grid = &args->grid;
    ec_pattern_line none = {0.0, 0.0, {0.0, 0.0}, 1};
    bool below = grid->circular || i > 0, above = grid->circular || i < grid->na - 1;
    double t1 = ec_cut_at(grid, i), t0 = below ? ec_cut_at(grid, i - 1) : t1;
    double t2 = above ? ec_cut_at(grid, i + 1) : t1, p = ec_cut_power(grid, row, i), level;

    *t = t1;
    if (args->exact) {
        if (!grid->circular) {
            t0 = t0 < grid->lo ? grid->lo : t0;
            t2 = t2 > grid->hi ? grid->hi : t2;
        }
        *t = ec_cut_refine(args, el, &none, t0, t2, t1, &level);
        return level;
    }
    if (below && above) {
        double at, top = ec_parabola(t0, t1, t2, ec_cut_power(grid, row, i - 1), p,
                                     ec_cut_power(grid, row, i + 1), &at);
        if (grid->circular || (at >= grid->lo && at <= grid->hi)) {
            *t = at;
            p = top;
        }
    }
    return ec_det_log(p > EC_POWER_MIN ? p : EC_POWER_MIN);
}

/* Degrees from the look direction to the cut's peak, of equal ones to the nearest; NAN: none. */
EC_PATTERN_FN double ec_cut_pointing(const ec_team *team, const ec_pattern_args *args,
                                     const ec_pattern_elements *el, const float *row, double look)
{
    const ec_pattern_grid *grid = &args->grid;
    int32_t first = grid->circular ? 0 : grid->first;
    int32_t last = grid->circular ? grid->na - 1 : grid->last;
    ec_pattern_best most = {EC_NO_SCORE, 0.0, 0.0, 0, EC_CURVE_NONE}, found = most;
    ec_direction at[3], towards[3];
    double t;

    ec_cut_direction(grid, look, towards);
    for (int32_t i = first + team->rank; i <= last; i += team->size)
        most.score = (double)row[i] > most.score ? (double)row[i] : most.score;
    ec_team_best(team, &most);
    double least = 0.5 * most.score;
    most.score = EC_NO_SCORE;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = first + team->rank; i <= last; i += team->size) {
            double p = ec_cut_power(grid, row, i);
            bool low = (grid->circular || i > first) && ec_cut_power(grid, row, i - 1) > p;
            bool high = (grid->circular || i < last) && ec_cut_power(grid, row, i + 1) > p;
            if (low || high || !(p >= least))
                continue;
            double level = ec_cut_peak_near(args, el, row, i, &t);
            if (pass == 0) {
                most.score = level > most.score ? level : most.score;
            } else if (level >= most.score - EC_EQUAL_PEAKS) {
                ec_cut_direction(grid, t, at);
                double score = -ec_direction_angle(at[0], towards[0]);
                found.score = score > found.score ? score : found.score;
            }
        }
        ec_team_best(team, pass ? &found : &most);
    }
    return most.score > args->zero_log ? -found.score : (double)NAN;
}

/* ---- beam widths ---- */

/* Where the beam falls 3.01 dB below its peak on one side; NAN: nowhere. */
EC_PATTERN_FN double ec_cut_half_power(const ec_pattern_args *args, const ec_pattern_elements *el,
                                       const float *row, const ec_cut_beam *beam, int32_t step)
{
    const ec_pattern_grid *grid = &args->grid;
    double level = beam->peak_log - EC_LN2, half = ec_det_exp(level);
    double inner = beam->peak, outer = (double)NAN;
    int32_t i = beam->sample, first = grid->first, last = grid->last;

    for (int32_t count = 0; count < grid->na; count++) {
        i += step;
        if (!grid->circular && (i < first || i > last)) {
            /* the visible edge may lie beyond the last sample */
            double edge = step > 0 ? grid->hi : grid->lo;
            if (!(ec_cut_log(args, el, row, edge) <= level))
                return (double)NAN;
            outer = edge;
            break;
        }
        double t = ec_cut_at(grid, i);
        if (!((t - inner) * step > 0.0))
            continue;
        if (ec_cut_power(grid, row, i) <= half) {
            outer = t;
            break;
        }
        inner = t;
    }
    if (!(outer == outer))
        return outer;
    double f_in = ec_cut_log(args, el, row, inner) - level;
    double f_out = ec_cut_log(args, el, row, outer) - level;
    /* regula falsi with the Illinois weight */
    for (int count = 0, side = 0; count < 60; count++) {
        if (f_in <= 0.0)
            return inner;
        if (f_out >= 0.0)
            return outer;
        double t = inner + (outer - inner) * (f_in / (f_in - f_out));
        double f = ec_cut_log(args, el, row, t) - level;
        if (fabs(f) < 1e-14 || fabs(outer - inner) < 1e-15)
            return t;
        if (f > 0.0) {
            inner = t;
            f_in = f;
            f_out = side == 1 ? 0.5 * f_out : f_out;
            side = 1;
        } else {
            outer = t;
            f_out = f;
            f_in = side == -1 ? 0.5 * f_in : f_in;
            side = -1;
        }
    }
    return 0.5 * (inner + outer);
}

#endif
