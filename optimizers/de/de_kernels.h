/* de_kernels.h: the arithmetic of differential evolution that CPU and CUDA share, one member or
 * one gene at a time. Every random number is a function of (seed, island, purpose, generation,
 * member, block); nothing is drawn again because of what was drawn. Sources: see de.h. */
#ifndef EC_DE_KERNELS_H
#define EC_DE_KERNELS_H

#include "de.h"
#include "random.h"

#include <float.h>

/* Philox streams of this module. The group vectors have their own. */
enum {
    EC_DE_DRAW_START = 1,
    EC_DE_DRAW_INDEX = 2,
    EC_DE_DRAW_PARAMETER = 3,
    EC_DE_DRAW_CROSS = 4,
    EC_DE_DRAW_ARCHIVE = 5,
    EC_DE_DRAW_GROUP_START = 6,
    EC_DE_DRAW_GROUP_INDEX = 7,
    EC_DE_DRAW_GROUP_CROSS = 8
};

EC_FN ec_random_stream ec_de_stream(const ec_de_args *a, uint32_t generation, uint32_t purpose)
{
    return ec_random_make(a->seed, generation, purpose, a->island);
}

EC_FN bool ec_de_stopped(const ec_de_args *a)
{
    return a->stop && *a->stop;
}

/* Which of the two copies of the members' scores is current. */
EC_FN int ec_de_current(const ec_de_args *a, uint32_t generation)
{
    return ec_de_has_judge(a->method) ? 0 : (int)(generation & 1u);
}

/* The generation that draws the population, and the one after it that tries the opposite points. */
EC_FN bool ec_de_starts(const ec_de_args *a, uint32_t generation)
{
    return generation == a->control->first;
}

EC_FN bool ec_de_opposes(const ec_de_args *a, uint32_t generation)
{
    return a->opposition && generation == a->control->first + 1;
}

/* Designs of a generation that were scored, of all islands. */
EC_FN uint64_t ec_de_evaluated(const ec_de_args *a, uint32_t n)
{
    uint64_t all = (uint64_t)a->islands * n;

    return all < a->limit_all ? all : a->limit_all;
}

/* Members of a strip whose trials are written: all 32 when nothing lies behind them. */
EC_FN uint32_t ec_de_strip_count(const ec_de_args *a, size_t lane0)
{
    uint32_t n = a->control->n;

    if (a->islands == 1 || lane0 + EC_LANES <= n)
        return EC_LANES;
    return lane0 < n ? n - (uint32_t)lane0 : 0;
}

/* Members and group vectors take turns: the even generations after the first are the groups'. */
EC_FN bool ec_de_group_turn(const ec_de_args *a, uint32_t generation)
{
    return a->groups && generation > 0 && (generation & 1u) == 0;
}

EC_FN uint32_t ec_de_group_start(const ec_de_args *a, uint32_t group, uint32_t n)
{
    return (uint32_t)((uint64_t)group * n / a->groups);
}

/* ---- order of candidates ---- */

typedef struct ec_de_score {
    double violation, cost;
    uint32_t status;
} ec_de_score;

/* Scores of a trial, cleaned: no NaN, no negative violation, no negative zero. */
EC_FN ec_de_score ec_de_trial_score(const ec_de_args *a, size_t lane)
{
    ec_de_score s;
    double v = a->trial_violation ? a->trial_violation[lane] : 0.0;

    s.cost = a->trial_cost[lane];
    s.status = a->trial_status[lane];
    s.status = s.status == EC_DE_EMPTY ? EC_CANDIDATE_EVALUATOR : s.status;
    s.status |= fabs(s.cost) <= DBL_MAX && fabs(v) <= DBL_MAX ? 0 : EC_CANDIDATE_NOT_FINITE;
    s.violation = s.status ? (double)INFINITY : v > 0.0 ? v : 0.0;
    s.cost = s.status ? (double)INFINITY : s.cost + 0.0;
    return s;
}

EC_FN ec_de_score ec_de_member_score(const ec_de_args *a, int current, size_t lane)
{
    ec_de_score s;

    s.cost = a->cost[current][lane];
    s.violation = a->violation[current][lane];
    s.status = a->status[current][lane];
    return s;
}

EC_FN bool ec_de_better(ec_de_score x, ec_de_score y)
{
    return x.violation < y.violation || (x.violation == y.violation && x.cost < y.cost);
}

/* Whole order of members, the index last. */
EC_FN bool ec_de_before(const ec_de_args *a, int current, uint32_t x, uint32_t y)
{
    ec_de_score s = ec_de_member_score(a, current, x), t = ec_de_member_score(a, current, y);

    return ec_de_better(s, t) || (!ec_de_better(t, s) && x < y);
}

/* How much better a trial is than its parent, which has not failed. */
EC_FN double ec_de_gain(ec_de_score parent, ec_de_score trial)
{
    double gain = trial.violation == parent.violation ? parent.cost - trial.cost
                                                      : parent.violation - trial.violation;

    return gain > DBL_MAX ? DBL_MAX : gain;
}

/* ---- draws ---- */

/* Skips the places that are taken: maps the d-th free index to itself. lo < hi where both are. */
EC_FN uint32_t ec_de_skip1(uint32_t d, uint32_t a)
{
    return d + (d >= a);
}

EC_FN uint32_t ec_de_skip2(uint32_t d, uint32_t a, uint32_t b)
{
    uint32_t lo = a < b ? a : b, hi = a < b ? b : a;

    d += d >= lo;
    d += d >= hi;
    return d;
}

EC_FN uint32_t ec_de_skip3(uint32_t d, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t lo = a < b ? a : b, hi = a < b ? b : a;
    uint32_t mid = c < lo ? lo : c > hi ? hi : c;

    lo = c < lo ? c : lo;
    hi = c > hi ? c : hi;
    d += d >= lo;
    d += d >= mid;
    d += d >= hi;
    return d;
}

/* F from Cauchy(mean, 0.1) given that it is positive, cut at 1: by inversion on the part of the
 * distribution above 0, which is what drawing again until F > 0 converges to. */
EC_FN double ec_de_draw_f(double mean, double zero, uint32_t draw)
{
    double u = zero + (1.0 - zero) * ec_uniform(draw);
    double f = mean + 0.1 * ec_cauchy(u);

    f = f < 1.0 ? f : 1.0;
    return f > 1e-9 ? f : 1e-9;
}

EC_FN double ec_de_zero_f(double mean)
{
    return 0.5 - ec_det_atan(mean * 10.0) * (1.0 / EC_PI);
}

EC_FN double ec_de_draw_cr(double mean, uint32_t draw)
{
    double cr = mean + 0.1 * ec_normal(ec_uniform(draw));

    cr = cr < 1.0 ? cr : 1.0;
    return mean >= 0.0 && cr > 0.0 ? cr : 0.0;
}

/* A gene is crossed when the upper 30 bits of its draw are below this. Never 0, so that a draw of 0
 * forces the crossover. */
EC_FN int32_t ec_de_threshold(double cr)
{
    int32_t t = (int32_t)(cr * 1073741824.0);

    return t > 0 ? t : 1;
}

EC_FN bool ec_de_crossed(uint32_t draw, int32_t threshold)
{
    return (int32_t)(draw >> 2) < threshold;
}

/* Everything that the trials of one strip need before their genes: base + F (plus - minus), in
 * current_to_pbest with F (base - x) more. Rows from n on are the archive's. */
typedef struct ec_de_strip {
    uint32_t base[EC_LANES], plus[EC_LANES], minus[EC_LANES], forced[EC_LANES];
    uint32_t step[EC_LANES]; /* see ec_de_stepped; 0: not all genes are integral */
    int32_t threshold[EC_LANES];
    double f[EC_LANES], cr[EC_LANES];
} ec_de_strip;

EC_FN void ec_de_draw_indices(const ec_de_args *a, size_t lane0, uint32_t generation, uint32_t n,
                              ec_de_strip *s)
{
    uint32_t top = 0, archive = 0, best = 0;

    if (ec_de_has_judge(a->method)) {
        top = (uint32_t)floor(a->p * (double)n + 0.5);
        top = top < 2 ? 2 : top > n ? n : top;
        archive = a->control->archive;
    } else if (a->method == EC_DE_BEST1) {
        best = a->control->best;
    }
    ec_random_stream stream = ec_de_stream(a, generation, EC_DE_DRAW_INDEX);
    uint32_t out[4][EC_LANES];
    ec_random_lanes(&stream, 0, (uint32_t)lane0, out);
    for (int l = 0; l < EC_LANES; l++) {
        uint32_t member = (uint32_t)lane0 + (uint32_t)l, first = 0, size = n;

        if (a->groups) {
            uint32_t group = (uint32_t)a->group_map[member];
            first = ec_de_group_start(a, group, n);
            size = ec_de_group_start(a, group + 1, n) - first;
            member -= first;
        }
        uint32_t r1 = ec_de_skip1(ec_uniform_below(out[0][l], size - 1), member);
        uint32_t r2 = ec_de_skip2(ec_uniform_below(out[1][l], size + archive - 2), member, r1);
        if (ec_de_has_judge(a->method)) {
            s->base[l] = a->order[ec_uniform_below(out[2][l], top)];
            s->plus[l] = r1;
            s->minus[l] = r2;
        } else if (a->method == EC_DE_BEST1) {
            s->base[l] = best;
            s->plus[l] = first + r1;
            s->minus[l] = first + r2;
        } else {
            s->base[l] = first + r1;
            s->plus[l] = first + r2;
            s->minus[l] =
                first + ec_de_skip3(ec_uniform_below(out[2][l], size - 3), member, r1, r2);
        }
        uint32_t forced = a->free_genes[ec_uniform_below(out[3][l], a->n_free)];
        s->forced[l] = forced & ~EC_DE_INTEGRAL;
        s->step[l] = forced & EC_DE_INTEGRAL ? 1 + (out[3][l] & 1) : 0;
    }
}

EC_FN void ec_de_draw_parameters(const ec_de_args *a, size_t lane0, uint32_t generation,
                                 ec_de_strip *s)
{
    const ec_de_control *control = a->control;
    ec_random_stream stream = ec_de_stream(a, generation, EC_DE_DRAW_PARAMETER);
    int current = ec_de_current(a, generation);
    uint32_t out[4][EC_LANES];

    if (a->adapt)
        ec_random_lanes(&stream, 0, (uint32_t)lane0, out);
    for (int l = 0; l < EC_LANES; l++) {
        size_t lane = lane0 + (size_t)l;
        double f = a->F, cr = a->CR;

        if (a->adapt) {
            if (a->method == EC_DE_JDE) {
                f = a->f[current][lane];
                cr = a->cr[current][lane];
                f = ec_uniform(out[0][l]) < a->tau_f ? 0.1 + 0.9 * ec_uniform(out[1][l]) : f;
                cr = ec_uniform(out[2][l]) < a->tau_cr ? ec_uniform(out[3][l]) : cr;
            } else {
                uint32_t slot = ec_uniform_below(out[0][l], a->memory);
                f = ec_de_draw_f(control->mean_f[slot], control->zero_f[slot], out[1][l]);
                cr = ec_de_draw_cr(control->mean_cr[slot], out[2][l]);
            }
        }
        s->f[l] = f;
        s->cr[l] = cr;
        s->threshold[l] = ec_de_threshold(cr);
    }
}

/* ---- genes ---- */

/* A gene out of its bounds: half-way between the parent and the bound (JADE), reflected, or on the
 * bound. */
EC_FN double ec_de_bounded(double v, double x, double lo, double hi, uint32_t rule)
{
    double low = lo, high = hi;

    if (rule == EC_DE_HALFWAY) {
        low = 0.5 * x + 0.5 * lo;
        high = 0.5 * x + 0.5 * hi;
    } else if (rule == EC_DE_REFLECT) {
        low = lo + (lo - v);
        high = hi - (v - hi);
        low = low < hi ? low : hi;
        high = high > lo ? high : lo;
    }
    return v < lo ? low : v > hi ? high : v;
}

/* The forced gene of a trial, where all genes are integral and it moves by less than one value: a
 * whole step in the direction of the move (of `step`, 1 up and 2 down, when there is none). Otherwise
 * a population that has come close would go on to score designs that it has. A gene of two values
 * takes the other one. */
EC_FN double ec_de_stepped(double u, double x, double lo, double hi, uint32_t step)
{
    bool up = u > x || (u == x && step == 1);
    double v = up ? x + 1.0 : x - 1.0, back = up ? x - 1.0 : x + 1.0;

    if (fabs(u - x) >= 1.0)
        return u;
    if (hi - lo <= 1.0)
        return lo + (hi - x);
    return v < lo || v > hi ? back : v;
}

EC_FN double ec_de_mutant(double x, double base, double plus, double minus, double f, bool pull)
{
    return pull ? x + f * (base - x) + f * (plus - minus) : base + f * (plus - minus);
}

/* The given start design of a member, NULL: none. */
EC_FN const double *ec_de_given(const ec_de_args *a, size_t lane, uint32_t generation)
{
    size_t row = lane * a->islands + a->index;

    return generation == 0 && row < a->n_start ? a->start + row * a->pitch : NULL;
}

/* Mirror image in the middle of the bounds, within them in spite of rounding. */
EC_FN double ec_de_opposite(double x, double lo, double hi)
{
    double v = lo + (hi - x);

    return v < lo ? lo : v > hi ? hi : v;
}

/* Uniform start: gene g takes the words 2 (g mod 2) and the next of block g / 2. */
EC_FN double ec_de_start_gene(double lo, double hi, const uint32_t out[4], uint32_t gene)
{
    double u = ec_uniform_53(out[2 * (gene & 1u)], out[2 * (gene & 1u) + 1]);
    double x = lo * (1.0 - u) + hi * u;

    return x < lo ? lo : x > hi ? hi : x;
}

/* ---- groups: few and small, so one lane a group and no tiles ---- */

EC_FN void ec_de_group_vector(const ec_de_args *a, uint32_t group, uint32_t generation)
{
    const double *x = a->group_X + (size_t)group * a->group_pitch;
    ec_random_stream index_stream = ec_de_stream(a, generation, EC_DE_DRAW_GROUP_INDEX);
    ec_random_stream cross_stream = ec_de_stream(a, generation, EC_DE_DRAW_GROUP_CROSS);
    ec_random_stream start_stream = ec_de_stream(a, 0, EC_DE_DRAW_GROUP_START);
    uint32_t index[4], out[4] = {0, 0, 0, 0};

    ec_random_words(&index_stream, 0, group, index);
    uint32_t r1 = ec_de_skip1(ec_uniform_below(index[0], a->groups - 1), group);
    uint32_t r2 = ec_de_skip2(ec_uniform_below(index[1], a->groups - 2), group, r1);
    uint32_t r3 = ec_de_skip3(ec_uniform_below(index[2], a->groups - 3), group, r1, r2);
    uint32_t free_gene = a->group_free_genes[ec_uniform_below(index[3], a->group_n_free)];
    uint32_t forced = free_gene & ~EC_DE_INTEGRAL;
    uint32_t step = free_gene & EC_DE_INTEGRAL ? 1 + (index[3] & 1) : 0;
    int32_t threshold = ec_de_threshold(a->CR);

    for (uint32_t g = 0; g < a->group_genes; g++) {
        double lo = a->group_lower[g], hi = a->group_upper[g], u = x[g];

        if (generation == 0) {
            if (g % 2 == 0)
                ec_random_words(&start_stream, g / 2, group, out);
            u = ec_de_start_gene(lo, hi, out, g);
        } else if (ec_de_group_turn(a, generation)) {
            if (g % 4 == 0)
                ec_random_words(&cross_stream, g / 4, group, out);
            double v = ec_de_mutant(x[g], a->group_X[(size_t)r1 * a->group_pitch + g],
                                    a->group_X[(size_t)r2 * a->group_pitch + g],
                                    a->group_X[(size_t)r3 * a->group_pitch + g], a->F, false);
            if (g == forced || ec_de_crossed(out[g % 4], threshold))
                u = ec_de_bounded(v, x[g], lo, hi, a->bounds);
            if (g == forced && step)
                u = ec_de_stepped(u, x[g], lo, hi, step);
        }
        a->group_U[(size_t)g * a->group_ld + group] = u;
    }
}

EC_FN void ec_de_group_trial_body(const ec_de_args *a, size_t lane0, size_t y)
{
    (void)y;
    if (ec_de_stopped(a))
        return;
    for (int l = 0; l < EC_LANES; l++)
        if (lane0 + (size_t)l < a->groups)
            ec_de_group_vector(a, (uint32_t)lane0 + (uint32_t)l, a->control->stats.generation);
}

/* In the groups' turn a trial vector replaces the old one when the group's best member improves;
 * all members then take the scores that they have with it. A generation that was cut inside the
 * group decides nothing. */
EC_FN void ec_de_judge_group(const ec_de_args *a, uint32_t group, uint32_t generation)
{
    uint32_t n = a->control->n;
    uint32_t first = ec_de_group_start(a, group, n), end = ec_de_group_start(a, group + 1, n);
    int current = ec_de_current(a, generation);
    ec_de_score old_best = {INFINITY, INFINITY, 1}, new_best = {INFINITY, INFINITY, 1};
    bool accept = generation == 0;

    if (ec_de_group_turn(a, generation)) {
        for (uint32_t c = first; c < end; c++) {
            ec_de_score was = ec_de_member_score(a, current, c), is = ec_de_trial_score(a, c);
            old_best = ec_de_better(was, old_best) ? was : old_best;
            new_best = ec_de_better(is, new_best) ? is : new_best;
        }
        accept = end <= a->limit &&
                 (ec_de_better(new_best, old_best) || old_best.violation == (double)INFINITY);
    }
    a->group_accept[group] = accept;
    if (accept)
        for (uint32_t g = 0; g < a->group_genes; g++)
            a->group_X[(size_t)group * a->group_pitch + g] =
                a->group_U[(size_t)g * a->group_ld + group];
}

EC_FN void ec_de_group_judge_body(const ec_de_args *a, size_t lane0, size_t y)
{
    (void)y;
    if (ec_de_stopped(a))
        return;
    for (int l = 0; l < EC_LANES; l++)
        if (lane0 + (size_t)l < a->groups)
            ec_de_judge_group(a, (uint32_t)lane0 + (uint32_t)l, a->control->stats.generation);
}

/* ---- selection ---- */

/* Whether the trial replaces its parent, in the methods without a judge. */
EC_FN bool ec_de_accepts(const ec_de_args *a, size_t lane, uint32_t generation, ec_de_score parent,
                         ec_de_score trial)
{
    if (ec_de_group_turn(a, generation))
        return a->group_accept[a->group_map[lane]] != 0;
    return lane < a->limit && (ec_de_starts(a, generation) || !ec_de_better(parent, trial));
}

/* Whether an accepted trial is a success of its F and CR: a drawn one owes them nothing. */
EC_FN bool ec_de_succeeds(const ec_de_args *a, uint32_t generation, ec_de_score parent,
                          ec_de_score trial)
{
    return ec_de_better(trial, parent) && parent.status == 0 && !ec_de_starts(a, generation) &&
           !ec_de_opposes(a, generation);
}

/* Copies the scores of the member to the other half, or those of its accepted trial. */
EC_FN void ec_de_store(const ec_de_args *a, size_t lane, int next, ec_de_score s)
{
    a->cost[next][lane] = s.cost;
    a->violation[next][lane] = s.violation;
    a->status[next][lane] = (uint8_t)s.status;
}

/* Stamp by which the last member of a generation wins an archive row that several want. */
EC_FN uint64_t ec_de_stamp(uint32_t generation, size_t lane)
{
    return (uint64_t)(generation + 1) << 32 | (uint64_t)lane;
}

/* Archive row for the k-th success of the generation: the next free one, else one at random. */
EC_FN uint32_t ec_de_archive_slot(const ec_de_args *a, size_t lane, uint32_t generation, uint32_t k,
                                  uint32_t used, uint32_t size)
{
    ec_random_stream stream = ec_de_stream(a, generation, EC_DE_DRAW_ARCHIVE);
    uint32_t out[4];

    if (size == 0)
        return EC_DE_NO_SLOT;
    if (used + k < size)
        return used + k;
    ec_random_words(&stream, 0, (uint32_t)lane, out);
    return ec_uniform_below(out[0], size);
}

/* Writes a slot of the success history from the sums over the generation's successes: of w F^2,
 * w F, w CR^2, w CR, with w the gain over the largest gain (lshade) or 1 (current_to_pbest). */
EC_FN void ec_de_learn(const ec_de_args *a, ec_de_control *control, const double sum[4],
                       uint32_t successes)
{
    uint32_t slot = control->memory_at;
    double f = sum[0] / sum[1];

    if (successes == 0 || !a->adapt)
        return;
    if (a->method == EC_DE_PBEST) {
        double c = a->learning_rate;
        control->mean_f[slot] = (1.0 - c) * control->mean_f[slot] + c * f;
        control->mean_cr[slot] =
            (1.0 - c) * control->mean_cr[slot] + c * (sum[3] / (double)successes);
    } else {
        control->mean_f[slot] = f;
        if (control->mean_cr[slot] < 0.0 || !(sum[3] > 0.0))
            control->mean_cr[slot] = -1.0;
        else
            control->mean_cr[slot] = sum[2] / sum[3];
    }
    control->zero_f[slot] = ec_de_zero_f(control->mean_f[slot]);
    control->memory_at = (slot + 1) % a->memory;
}

/* The success history as it is before the first success. */
EC_FN void ec_de_forget(ec_de_control *control)
{
    for (int i = 0; i < EC_DE_MEMORY_MAX; i++) {
        control->mean_f[i] = control->mean_cr[i] = 0.5;
        control->zero_f[i] = ec_de_zero_f(0.5);
    }
    control->memory_at = 0;
    control->archive = 0;
}

/* A population that has not improved for `restart` generations, or whose members lie closer than
 * restart_spread, is drawn anew by the next generation. Its best member is kept when it is better
 * than what is kept; `now` and `kept` are their scores. */
EC_FN void ec_de_restart(const ec_de_args *a, ec_de_control *control, uint32_t generation,
                         ec_de_score now, ec_de_score kept)
{
    bool stagnates = a->restart > 0 && generation - control->since >= a->restart;
    bool narrow = generation > control->first && control->stats.spread < a->restart_spread;

    if (!stagnates && !narrow)
        return;
    control->first = generation + 1;
    control->stats.restarts++;
    ec_de_forget(control);
    if (now.status == EC_DE_EMPTY ||
        (control->kept_status != EC_DE_EMPTY && !ec_de_better(now, kept)))
        return;
    control->kept_cost = now.cost;
    control->kept_violation = now.violation;
    control->kept_status = now.status;
    control->kept_at = control->first;
    for (uint32_t g = 0; g < a->genes; g++)
        a->kept[g] = a->X[(size_t)control->best * a->pitch + g];
}

EC_FN uint32_t ec_de_class(ec_de_score s)
{
    return s.status ? 2 : s.violation > 0.0 ? 1 : 0;
}

/* Counters after a take; the caller has found best, feasible, failed and spread. */
EC_FN void ec_de_finish_control(const ec_de_args *a, ec_de_control *control, uint32_t failed,
                                uint32_t feasible, uint32_t best, double spread)
{
    ec_optimizer_stats *stats = &control->stats;
    uint32_t generation = stats->generation;
    int next = ec_de_has_judge(a->method) ? 0 : (int)(~generation & 1u);
    ec_de_score now = ec_de_member_score(a, next, best);
    ec_de_score before = {control->now_violation, control->now_cost, 0};
    ec_de_score kept = {control->kept_violation, control->kept_cost, control->kept_status};
    ec_de_score top = ec_de_better(kept, now) ? kept : now;

    stats->best_cost = top.cost;
    stats->best_violation = top.violation;
    stats->best_class = ec_de_class(top);
    stats->spread = spread;
    stats->evaluations += ec_de_evaluated(a, control->n);
    stats->failed += failed;
    stats->feasible = feasible;
    control->best = control->send = best;
    if (ec_de_starts(a, generation) || ec_de_better(now, before))
        control->since = generation;
    control->now_cost = now.cost;
    control->now_violation = now.violation;
    control->n = control->n_next;
    stats->population = control->n;
    ec_de_restart(a, control, generation, now, kept);
    stats->generation += 1;
}

/* ---- islands ---- */

/* Statistics of all islands. Their spread is the largest one's: they may lie apart. */
EC_FN void ec_de_total(const ec_de_args *all)
{
    const ec_de_control *control = all->control;
    ec_optimizer_stats total = control[0].stats;
    ec_de_score best = {total.best_violation, total.best_cost, total.best_class};

    for (uint32_t i = 1; i < all->islands; i++) {
        const ec_optimizer_stats *stats = &control[i].stats;
        ec_de_score s = {stats->best_violation, stats->best_cost, stats->best_class};

        best = ec_de_better(s, best) ? s : best;
        total.spread = stats->spread > total.spread ? stats->spread : total.spread;
        total.failed += stats->failed;
        total.feasible += stats->feasible;
        total.restarts += stats->restarts;
        total.population += stats->population;
    }
    total.best_cost = best.cost;
    total.best_violation = best.violation;
    total.best_class = best.status;
    *all->total = total;
}

/* Migration after every `migrate` generations, around a ring: each island is shown the best member
 * that the one before it had at the end of the generation, and takes it in place of its worst
 * member when it is better than its own best. Islands that start again take nothing. Only `send`,
 * never `best`, is read of another island, so that all of them can do this at once. */
EC_FN uint32_t ec_de_neighbour(const ec_de_args *all, uint32_t i)
{
    return i > 0 ? i - 1 : all->islands - 1;
}

EC_FN bool ec_de_immigrates(const ec_de_args *all, const ec_de_args *a, const ec_de_args *from)
{
    const ec_de_control *control = a->control;
    uint32_t generation = control->stats.generation;
    int current = ec_de_current(a, generation);

    return all->migrate > 0 && generation % all->migrate == 0 && control->first != generation &&
           ec_de_better(ec_de_member_score(from, current, from->control->send),
                        ec_de_member_score(a, current, control->best));
}

/* The neighbour's best member in the place of member c; the order of members is the caller's. */
EC_FN void ec_de_immigrate(const ec_de_args *a, const ec_de_args *from, uint32_t c)
{
    int current = ec_de_current(a, a->control->stats.generation);
    uint32_t best = from->control->send;

    ec_de_store(a, c, current, ec_de_member_score(from, current, best));
    if (a->method == EC_DE_JDE) {
        a->f[current][c] = from->f[current][best];
        a->cr[current][c] = from->cr[current][best];
    }
    for (uint32_t g = 0; g < a->genes; g++)
        a->X[(size_t)c * a->pitch + g] = from->X[(size_t)best * a->pitch + g];
    a->control->best = c;
}

#endif
