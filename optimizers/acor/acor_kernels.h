/* acor_kernels.h: the arithmetic of ACO_R, one source for CPU and CUDA. Sources: see acor.h.
 *
 * Per ant and gene: half a Philox block, one inverse normal, two reads of the archive and one write.
 * Per generation: archive^2 genes additions for the deviations; a comparison of each ant that
 * enters the archive with all ants.
 */
#ifndef EC_ACOR_KERNELS_H
#define EC_ACOR_KERNELS_H

#include "acor.h"
#include "random.h"

#include <float.h>

enum { EC_ACOR_DRAW_START = 1, EC_ACOR_DRAW_DESIGN = 2, EC_ACOR_DRAW_GENE = 3 };

EC_FN bool ec_acor_stopped(const ec_acor_args *a)
{
    return a->stop && *a->stop;
}

/* Which of the two archives is current. */
EC_FN int ec_acor_current(const ec_acor_args *a)
{
    return (int)(a->control->stats.generation & 1u);
}

/* ---- sampling ---- */

/* The design whose share of the running sum holds u. */
EC_FN uint32_t ec_acor_choose(const double *chance, uint32_t n, double u)
{
    uint32_t low = 0, high = n - 1;
    double whole = chance[n - 1];

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        bool below = u * whole < chance[middle];
        high = below ? middle : high;
        low = below ? low : middle + 1;
    }
    return low;
}

/* Within the bounds, and the middle of its cell if it has one. */
EC_FN double ec_acor_into_box(double x, double parent, double lower, double upper, double cell)
{
    x = x < lower ? 0.5 * (parent + lower) : x;
    x = x > upper ? 0.5 * (parent + upper) : x;
    if (cell > 0.0) {
        double index = ec_det_floor((x - lower) / cell);
        double last = ec_det_floor((upper - lower) / cell + 0.5) - 1.0;
        index = index < last ? index : last;
        x = lower + (index + 0.5) * cell;
    }
    return x < upper ? x : upper;
}

/* Genes of a strip's ants while the archive fills up. */
EC_FN void ec_acor_first_ants(const ec_acor_args *a, size_t lane0)
{
    ec_random_stream stream =
        ec_random_make(a->seed, a->control->stats.generation, EC_ACOR_DRAW_START, a->island);
    bool given = a->control->stats.generation == 0;
    uint32_t words[4][EC_LANES];

    for (uint32_t g = 0; g < a->genes; g++) {
        double lower = a->lower[g], range = a->upper[g] - lower;
        if (g % 2 == 0)
            ec_random_lanes(&stream, g / 2, (uint32_t)lane0, words);
        for (int l = 0; l < EC_LANES; l++) {
            size_t c = lane0 + (size_t)l;
            double u = ec_uniform_52_open(words[g % 2 * 2][l], words[g % 2 * 2 + 1][l]);
            double x = ec_acor_into_box(lower + u * range, lower, lower, a->upper[g], a->cell[g]);
            if (given && c < a->n_start)
                x = a->start[c * a->pitch + g];
            a->U[g * (size_t)a->ld + c] = x;
        }
    }
}

EC_FN void ec_acor_sample_body(const ec_acor_args *a, size_t lane0, size_t y)
{
    uint32_t n = a->control->archive, words[4][EC_LANES], row[EC_LANES];
    const double *X = a->X[ec_acor_current(a)];

    (void)y;
    if (ec_acor_stopped(a))
        return;
    if (n < a->archive_max) {
        ec_acor_first_ants(a, lane0);
        return;
    }
    ec_random_stream designs =
        ec_random_make(a->seed, a->control->stats.generation, EC_ACOR_DRAW_DESIGN, a->island);
    ec_random_stream genes =
        ec_random_make(a->seed, a->control->stats.generation, EC_ACOR_DRAW_GENE, a->island);
    ec_random_lanes(&designs, 0, (uint32_t)lane0, words);
    for (int l = 0; l < EC_LANES; l++)
        row[l] = ec_acor_choose(a->chance, n, ec_uniform_53(words[0][l], words[1][l]));
    for (uint32_t g = 0; g < a->genes; g++) {
        double z[EC_LANES];
        if (g % 2 == 0)
            ec_random_lanes(&genes, g / 2, (uint32_t)lane0, words);
        for (int l = 0; l < EC_LANES; l++)
            z[l] = ec_normal(ec_uniform_52_open(words[g % 2 * 2][l], words[g % 2 * 2 + 1][l]));
        for (int l = 0; l < EC_LANES; l++) {
            size_t at = (size_t)row[l] * a->pitch + g;
            double x = X[at] + a->deviation[at] * z[l];
            x = ec_acor_into_box(x, X[at], a->lower[g], a->upper[g], a->cell[g]);
            a->U[g * (size_t)a->ld + lane0 + (size_t)l] = x;
        }
    }
}

/* ---- the next archive ---- */

/* Scores of the ants, cleaned: no NaN, no negative violation, no negative zero. One that was not
 * evaluated comes behind all. */
EC_FN void ec_acor_key_body(const ec_acor_args *a, size_t lane0, size_t y)
{
    (void)y;
    if (ec_acor_stopped(a))
        return;
    for (int l = 0; l < EC_LANES; l++) {
        size_t c = lane0 + (size_t)l;
        bool known = c < a->limit && c < a->ants;
        double cost = a->cost_in[c], v = a->violation_in ? a->violation_in[c] : 0.0;
        uint32_t status = a->status_in[c];
        bool finite = fabs(cost) <= DBL_MAX && fabs(v) <= DBL_MAX;
        status |= finite ? 0u : (uint32_t)EC_CANDIDATE_NOT_FINITE;
        status = known ? status : 0xffu;
        a->ant_violation[c] = status ? (double)INFINITY : v > 0.0 ? v : 0.0;
        a->ant_cost[c] = status ? (double)INFINITY : cost + 0.0;
        a->ant_status[c] = (uint8_t)status;
    }
}

EC_FN bool ec_acor_better(double violation_a, double cost_a, double violation_b, double cost_b)
{
    return violation_a < violation_b || (violation_a == violation_b && cost_a < cost_b);
}

/* Lanes 0 .. archive_max - 1 are the archive's designs, the ants follow. A design's place is the
 * number of designs before it. */
EC_FN void ec_acor_rank_lane(const ec_acor_args *a, size_t lane)
{
    int now = ec_acor_current(a);
    const double *cost = a->cost[now], *violation = a->violation[now];
    uint32_t n = a->control->archive, evaluated = a->ants < a->limit ? a->ants : a->limit;
    size_t ant = lane - a->archive_max;
    bool is_ant = lane >= a->archive_max;
    uint32_t place = 0;

    if (is_ant ? ant >= evaluated : lane >= n)
        return;
    double own_violation = is_ant ? a->ant_violation[ant] : violation[lane];
    double own_cost = is_ant ? a->ant_cost[ant] : cost[lane];
    if (is_ant) {
        if (n == a->archive_max &&
            !ec_acor_better(own_violation, own_cost, violation[n - 1], cost[n - 1]))
            return;
        for (uint32_t e = 0; e < n; e++)
            place += !ec_acor_better(own_violation, own_cost, violation[e], cost[e]);
        for (uint32_t e = 0; e < evaluated && place < a->archive_max; e++) {
            bool before =
                ec_acor_better(a->ant_violation[e], a->ant_cost[e], own_violation, own_cost);
            bool same = a->ant_violation[e] == own_violation && a->ant_cost[e] == own_cost;
            place += before || (same && e < ant);
        }
    } else {
        place = (uint32_t)lane;
        for (uint32_t e = 0; e < evaluated && place < a->archive_max; e++)
            place += ec_acor_better(a->ant_violation[e], a->ant_cost[e], own_violation, own_cost);
    }
    if (place < a->archive_max)
        a->source[place] = is_ant ? a->archive_max + (uint32_t)ant : (uint32_t)lane;
}

EC_FN void ec_acor_rank_body(const ec_acor_args *a, size_t lane0, size_t y)
{
    (void)y;
    if (ec_acor_stopped(a))
        return;
    for (int l = 0; l < EC_LANES; l++) {
        size_t lane = lane0 + (size_t)l;
        ec_acor_rank_lane(a, lane);
        if (lane < a->ld / EC_LANE_PAD) {
            uint32_t failed = 0;
            for (size_t c = lane * EC_LANE_PAD; c < (lane + 1) * EC_LANE_PAD; c++)
                failed += a->ant_status[c] != 0 && c < a->limit && c < a->ants;
            a->strip_failed[lane] = failed;
        }
    }
}

EC_FN uint32_t ec_acor_next_size(const ec_acor_args *a)
{
    uint32_t evaluated = a->ants < a->limit ? a->ants : a->limit;
    uint32_t size = a->control->archive + evaluated;

    return size < a->archive_max ? size : a->archive_max;
}

/* Lane: a gene, y: a design of the next archive. */
EC_FN void ec_acor_place_body(const ec_acor_args *a, size_t lane0, size_t y)
{
    if (ec_acor_stopped(a) || y >= ec_acor_next_size(a))
        return;
    int now = ec_acor_current(a);
    uint32_t source = a->source[y];
    bool is_ant = source >= a->archive_max;
    size_t from = is_ant ? source - a->archive_max : source;

    for (int l = 0; l < EC_LANES; l++) {
        size_t g = lane0 + (size_t)l;
        if (g < a->genes)
            a->X[1 - now][y * a->pitch + g] =
                is_ant ? a->U[g * a->ld + from] : a->X[now][from * a->pitch + g];
    }
    if (lane0 == 0) {
        a->cost[1 - now][y] = is_ant ? a->ant_cost[from] : a->cost[now][from];
        a->violation[1 - now][y] = is_ant ? a->ant_violation[from] : a->violation[now][from];
        a->status[1 - now][y] = is_ant ? a->ant_status[from] : a->status[now][from];
    }
}

/* Lane: a gene, y: a design of the next archive. */
EC_FN void ec_acor_deviation_body(const ec_acor_args *a, size_t lane0, size_t y)
{
    uint32_t n = ec_acor_next_size(a);

    if (ec_acor_stopped(a) || y >= n)
        return;
    const double *X = a->X[1 - ec_acor_current(a)];
    double own[EC_LANES], sum[EC_LANES], least[EC_LANES], most[EC_LANES];
    for (int l = 0; l < EC_LANES; l++) {
        own[l] = least[l] = most[l] = X[y * a->pitch + lane0 + (size_t)l];
        sum[l] = 0.0;
    }
    for (uint32_t e = 0; e < n; e++)
        for (int l = 0; l < EC_LANES; l++) {
            double x = X[(size_t)e * a->pitch + lane0 + (size_t)l];
            sum[l] += fabs(x - own[l]);
            least[l] = x < least[l] ? x : least[l];
            most[l] = x > most[l] ? x : most[l];
        }
    for (int l = 0; l < EC_LANES; l++) {
        size_t g = lane0 + (size_t)l;
        double range = a->upper[g] - a->lower[g], floor_value = a->least * a->cell[g];
        double deviation = a->xi * sum[l] / (double)(n > 1 ? n - 1 : 1);
        a->deviation[y * a->pitch + g] = deviation > floor_value ? deviation : floor_value;
        if (y == 0)
            a->spread[g] = range > 0.0 ? (most[l] - least[l]) / range : 0.0;
    }
}

/* One task: statistics, and the next archive becomes the current one. */
EC_FN void ec_acor_finish_body(const ec_acor_args *a, size_t lane0, size_t y)
{
    (void)y;
    if (ec_acor_stopped(a) || lane0 != 0)
        return;
    ec_optimizer_stats *s = &a->control->stats;
    int next = 1 - ec_acor_current(a);
    uint32_t n = ec_acor_next_size(a), feasible = 0;
    double spread = 0.0;

    for (uint32_t e = 0; e < n; e++)
        feasible += a->violation[next][e] == 0.0;
    for (uint32_t strip = 0; strip < a->ld / EC_LANE_PAD; strip++)
        s->failed += a->strip_failed[strip];
    for (uint32_t g = 0; g < a->genes && n > 0; g++)
        spread = a->spread[g] > spread ? a->spread[g] : spread;
    s->evaluations += a->ants < a->limit ? a->ants : a->limit;
    s->feasible = feasible;
    s->population = n;
    s->spread = spread;
    s->generation++;
    a->control->archive = n;
    if (n > 0) {
        s->best_cost = a->cost[next][0];
        s->best_violation = a->violation[next][0];
        s->best_class = a->status[next][0] ? 2u : s->best_violation > 0.0 ? 1u : 0u;
    }
}

#endif
