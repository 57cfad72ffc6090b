/* array_smooth.h: smooth stand-ins for a maximum: the soft side-lobe level and the p-norm of a mask's
 * excess. Both read every sample of their region, and so does their derivative.
 *
 *   soft:  s ln mean_i exp(L_i / s)           over the samples i outside the excluded beam
 *   norm:  (mean_i max(0, e_i)^p)^(1 / p)     over the samples of all lines of the mask
 *
 * L: level over the beam's peak, e: excess over the line, both in dB; each mean counts the grid's
 * directions alike. So both lie below the maximum, the soft one at most by s ln(count), and tend to it
 * as s -> 0 and p -> infinity. Scores in here are natural logarithms of power.
 *
 * In the search levels come from the row of floats. With args->smooth they are float64: `level` holds
 * ln |F|^2 g^2 of each sample, and derivatives gather in `weight`, d value / d level, from where
 * ec_smooth_adjoint takes them to the elements in one pass for all metrics of the batch.
 */
#ifndef EC_ARRAY_SMOOTH_H
#define EC_ARRAY_SMOOTH_H

#include "array_adjoint.h"
#include "array_surface.h"

EC_FN double ec_not_a_number(void)
{
    return (double)NAN;
}

/* Samples of a team, [points] each. */
typedef struct ec_smooth_samples {
    const float *row;
    ec_c128
        *field; /* F without the element factor, later its adjoint; not of elements of their own */
    double *level, *weight;
} ec_smooth_samples;

typedef struct ec_smooth_region {
    ec_cut_beam cut;
    ec_surface_beam surface;
    ec_direction peak; /* what levels are relative to */
    double offset;     /* added to levels */
} ec_smooth_region;

/* Samples first .. last of stretch k: of a line of the mask, of one side of the beam. */
typedef struct ec_smooth_stretch {
    ec_pattern_line line;
    int32_t first, last;
} ec_smooth_stretch;

EC_PATTERN_FN bool ec_smooth_stretch_of(const ec_pattern_args *args,
                                        const ec_pattern_metric *metric,
                                        const ec_smooth_region *region, int32_t k,
                                        ec_smooth_stretch *to)
{
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_line none = {0.0, -1.0, {0.0, 0.0}, 1};
    bool soft = metric->kind == EC_METRIC_SOFT;
    int32_t count = !soft ? metric->n : grid->topology == EC_PATTERN_CUT && !grid->circular ? 2 : 1;
    double from, to_end;

    if (k >= count)
        return false;
    to->line = soft ? none : metric->lines[k];
    to->first = 0;
    to->last = grid->points - 1;
    if (grid->topology != EC_PATTERN_CUT)
        return true;
    if (soft) {
        bool right = k == 1 || grid->circular;
        from = right ? region->cut.right + EC_EDGE_SLACK : grid->lo;
        to_end = grid->circular ? region->cut.left + grid->period - EC_EDGE_SLACK
                 : right        ? grid->hi
                                : region->cut.left - EC_EDGE_SLACK;
    } else {
        from = to->line.from;
        to_end = to->line.to;
    }
    if (!grid->circular) {
        from = from > grid->lo ? from : grid->lo;
        to_end = to_end < grid->hi ? to_end : grid->hi;
    }
    to->first = ec_cut_above(grid, from);
    to->last = from <= to_end ? ec_cut_below(grid, to_end) : to->first - 1;
    return true;
}

/* Score of a stretch's sample i, and its place in the row; false: it does not count. */
EC_PATTERN_FN bool ec_smooth_score(const ec_pattern_args *args, const ec_smooth_samples *samples,
                                   const ec_smooth_region *region, const ec_smooth_stretch *stretch,
                                   int32_t i, int32_t *at, double *score)
{
    const ec_pattern_grid *grid = &args->grid;
    const ec_pattern_line *line = &stretch->line;
    bool cut = grid->topology == EC_PATTERN_CUT;
    double limit = 0.0, rate, level;

    *at = cut ? ec_cut_index(grid, i) : i;
    if (!cut && (samples->row[i] < 0.0f || !ec_surface_in_region(grid, &region->surface, line, i)))
        return false;
    if (line->to >= 0.0 || cut)
        limit =
            ec_line_limit(line,
                          cut ? ec_cut_at(grid, i)
                              : ec_surface_distance(&region->surface, ec_surface_point(grid, i)),
                          &rate);
    if (args->smooth) {
        level = samples->level[*at];
    } else {
        double p = samples->row[*at];
        level = ec_det_log(p > EC_POWER_MIN ? p : EC_POWER_MIN);
    }
    *score = line->sign * (level + region->offset - limit);
    return true;
}

/* The beam that levels are relative to, and the offset; candidate status. */
EC_PATTERN_FN int ec_smooth_find(const ec_team *team, const ec_pattern_args *args,
                                 const ec_pattern_elements *el, const ec_smooth_samples *samples,
                                 const ec_pattern_metric *metric, double absolute,
                                 ec_smooth_region *region)
{
    ec_direction d[6];
    int bad;

    if (args->grid.topology == EC_PATTERN_CUT) {
        region->offset = absolute;
        if (!metric->relative)
            return 0;
        bad = ec_cut_find_beam(args, el, samples->row, metric, metric->kind == EC_METRIC_SOFT,
                               &region->cut);
        ec_cut_direction(&args->grid, region->cut.peak, d);
        region->peak = d[0];
        region->offset = -region->cut.peak_log;
        return bad;
    }
    /* a surface's lines are distances from the look direction in any case */
    bad = ec_surface_find_beam(team, args, el, samples->row, metric, false, NULL, NULL,
                               &region->surface);
    const ec_surface_beam *beam = &region->surface;
    region->offset = metric->relative ? -beam->peak_log : absolute;
    region->peak = beam->look;
    if (args->grid.topology == EC_PATTERN_LIST) {
        if (beam->sample >= 0)
            region->peak = ec_surface_point(&args->grid, beam->sample);
    } else {
        ec_surface_direction(&args->grid, beam->peak_a, beam->peak_b, d);
        region->peak = d[0];
    }
    return metric->relative ? bad : 0;
}

/* Part of a score in the mean, over that of the highest. */
EC_FN double ec_smooth_part(const ec_pattern_metric *metric, double score, double top)
{
    if (metric->kind == EC_METRIC_SOFT)
        return ec_det_exp((score - top) * EC_DB / metric->shape);
    return score > 0.0 ? ec_det_exp(metric->shape * ec_det_log(score / top)) : 0.0;
}

/* The metric in dB. With an adjoint: adds seed times its derivative to `weight`; *total: what that is
 * in all, so that the beam's peak gets minus this. */
EC_PATTERN_FN double ec_smooth_value(const ec_team *team, const ec_pattern_args *args,
                                     const ec_smooth_samples *samples,
                                     const ec_pattern_metric *metric,
                                     const ec_smooth_region *region, double seed, double *total)
{
    bool soft = metric->kind == EC_METRIC_SOFT;
    double score, count = 0.0, sum = 0.0, mine = 0.0;
    ec_pattern_best best = {EC_NO_SCORE, 0.0, 0.0, 0, EC_CURVE_NONE};
    ec_smooth_stretch s;
    int32_t at;

    *total = 0.0;
    for (int32_t k = 0; ec_smooth_stretch_of(args, metric, region, k, &s); k++)
        for (int32_t i = s.first + team->rank; i <= s.last; i += team->size)
            if (ec_smooth_score(args, samples, region, &s, i, &at, &score)) {
                count += 1.0;
                best.score = score > best.score ? score : best.score;
            }
    ec_team_best(team, &best);
    count = ec_team_sum(team, count);
    double top = best.score;
    if (!(count > 0.0))
        return soft ? -200.0 : ec_not_a_number();
    if (!soft && !(top > 0.0))
        return 0.0; /* inside the mask */
    for (int32_t k = 0; ec_smooth_stretch_of(args, metric, region, k, &s); k++)
        for (int32_t i = s.first + team->rank; i <= s.last; i += team->size)
            if (ec_smooth_score(args, samples, region, &s, i, &at, &score))
                sum += ec_smooth_part(metric, score, top);
    sum = ec_team_sum(team, sum);
    double share = ec_det_log(sum / count);
    double value = soft ? top * EC_DB + metric->shape * share
                        : top * EC_DB * ec_det_exp(share / metric->shape);
    if (!args->vjp)
        return value;
    for (int32_t k = 0; ec_smooth_stretch_of(args, metric, region, k, &s); k++)
        for (int32_t i = s.first + team->rank; i <= s.last; i += team->size) {
            if (!ec_smooth_score(args, samples, region, &s, i, &at, &score))
                continue;
            double part = ec_smooth_part(metric, score, top);
            /* d value / d score: soft part / sum; norm (score / value)^(p - 1) / count, and with
             * value^p = top^p sum / count that is part / sum value / score */
            double rate = soft         ? part / sum
                          : part > 0.0 ? part / sum * value / (score * EC_DB)
                                       : 0.0;
            rate *= s.line.sign * EC_DB * seed;
            samples->weight[at] += rate;
            mine += rate;
        }
    *total = ec_team_sum(team, mine);
    return value;
}

/* Levels and the row, once a candidate; `field` holds F unless the elements have fields of their
 * own, whose levels are summed here. */
EC_PATTERN_FN void ec_smooth_levels(const ec_team *team, const ec_pattern_args *args,
                                    const ec_pattern_elements *el, const ec_smooth_samples *samples,
                                    float *row)
{
    const ec_pattern_grid *grid = &args->grid;

    for (int32_t i = team->rank; i < grid->points; i += team->size) {
        bool visible = !grid->gain || grid->gain[i] >= 0.0f;
        ec_direction d = ec_surface_point(grid, i);
        double p = 0.0;
        if (visible && args->own.parts)
            p = ec_pattern_square(args, el, d);
        else if (visible)
            p = samples->field[i].re * samples->field[i].re +
                samples->field[i].im * samples->field[i].im;
        samples->weight[i] = 0.0;
        samples->level[i] =
            ec_gain_log(&args->gain, d, ec_det_log(p > EC_POWER_MIN ? p : EC_POWER_MIN));
        row[i] = visible ? (float)ec_det_exp(samples->level[i]) : -1.0f;
    }
}

/* Weights of the samples to adjoints of F, in `field`. */
EC_PATTERN_FN void ec_smooth_seeds(const ec_team *team, const ec_pattern_args *args,
                                   const ec_smooth_samples *samples)
{
    for (int32_t i = team->rank; i < args->grid.points; i += team->size) {
        ec_c128 *f = &samples->field[i];
        double p = f->re * f->re + f->im * f->im;
        double rate =
            samples->weight[i] != 0.0 && p > EC_POWER_MIN ? 2.0 * samples->weight[i] / p : 0.0;
        f->re *= rate;
        f->im *= rate;
    }
}

#endif
