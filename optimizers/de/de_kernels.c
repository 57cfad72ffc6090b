/* de_kernels.c: differential evolution on the CPU, one strip of 32 members at a time.
 *
 * The members of a strip draw their indices together (SIMD over members); genes are then worked on
 * member by member in tiles of 32 members x 32 genes (SIMD over genes, since a member's genes are
 * neighbours in memory), and a tile leaves transposed into the gene rows that the graph reads.
 * Per member and D = 30: 12 cache lines read from the population, 30 doubles written, D / 4 Philox
 * blocks. Population-wide steps are serial: they cost some 10 ns a member. */
#include "de_kernels.h"

#include <string.h>

enum { TILE = 32 };

/* ---- trials ---- */

static void start_strip(const ec_de_args *a, size_t lane0, uint32_t generation)
{
    ec_random_stream stream = ec_de_stream(a, generation, EC_DE_DRAW_START);
    size_t end = lane0 + ec_de_strip_count(a, lane0);

    for (size_t lane = lane0; lane < end; lane++) {
        const double *given = ec_de_given(a, lane, generation);
        uint32_t out[4] = {0, 0, 0, 0};

        a->trial_f[lane] = a->F;
        a->trial_cr[lane] = a->CR;
        for (uint32_t g = 0; g < a->genes; g++) {
            if (g % 2 == 0)
                ec_random_words(&stream, g / 2, (uint32_t)lane, out);
            a->U[(size_t)g * a->ld + lane] =
                given ? given[g] : ec_de_start_gene(a->lower[g], a->upper[g], out, g);
        }
    }
}

/* The members' opposite points. */
static void oppose_strip(const ec_de_args *a, size_t lane0, uint32_t generation)
{
    size_t end = lane0 + ec_de_strip_count(a, lane0);
    int current = ec_de_current(a, generation);

    for (size_t lane = lane0; lane < end; lane++) {
        a->trial_f[lane] = a->method == EC_DE_JDE ? a->f[current][lane] : a->F;
        a->trial_cr[lane] = a->method == EC_DE_JDE ? a->cr[current][lane] : a->CR;
        for (uint32_t g = 0; g < a->genes; g++)
            a->U[(size_t)g * a->ld + lane] =
                ec_de_opposite(a->X[lane * a->pitch + g], a->lower[g], a->upper[g]);
    }
}

/* In the groups' turn the members are tried as they are. */
static void copy_strip(const ec_de_args *a, size_t lane0)
{
    for (uint32_t g = 0; g < a->genes; g++)
        for (size_t lane = lane0; lane < lane0 + EC_LANES; lane++)
            a->U[(size_t)g * a->ld + lane] = a->X[lane * a->pitch + g];
}

/* Four genes' crossover draws are one Philox block of the member, so draws lie as
 * draw[block][member][4]. */
enum { BLOCK = 4 * EC_LANES };

static void cross_draws(const ec_random_stream *stream, size_t lane0, uint32_t gene, uint32_t count,
                        uint32_t *restrict draw)
{
    for (uint32_t b = 0; b < count / 4; b++) {
        uint32_t out[4][EC_LANES], *d = draw + b * BLOCK;

        ec_random_lanes(stream, gene / 4 + b, (uint32_t)lane0, out);
        for (int l = 0; l < EC_LANES; l++) {
            d[4 * l] = out[0][l];
            d[4 * l + 1] = out[1][l];
            d[4 * l + 2] = out[2][l];
            d[4 * l + 3] = out[3][l];
        }
    }
}

/* One member's trial genes: all rows are `count` long, a multiple of EC_DE_PAD. */
EC_FN void mix_row(double *restrict u, uint32_t count, const uint32_t *restrict draw,
                   const double *restrict x, const double *restrict base,
                   const double *restrict plus, const double *restrict minus,
                   const double *restrict lo, const double *restrict hi, double f,
                   int32_t threshold, bool pull, uint32_t rule)
{
    for (uint32_t k = 0; k < count; k += 4, draw += BLOCK)
        for (uint32_t j = 0; j < 4; j++) {
            double v = ec_de_mutant(x[k + j], base[k + j], plus[k + j], minus[k + j], f, pull);
            v = ec_de_bounded(v, x[k + j], lo[k + j], hi[k + j], rule);
            u[k + j] = ec_de_crossed(draw[j], threshold) ? v : x[k + j];
        }
}

static void mix_tile(const ec_de_args *a, const ec_de_strip *s, uint32_t n, size_t lane0,
                     uint32_t gene, uint32_t count, uint32_t *restrict draw, double *restrict tile)
{
    bool pull = ec_de_has_judge(a->method);
    const double *lo = a->lower + gene, *hi = a->upper + gene;
    size_t pitch = a->pitch;

    for (uint32_t l = 0; l < EC_LANES; l++) {
        const double *x = a->X + (lane0 + l) * pitch + gene;
        const double *base = a->X + s->base[l] * pitch + gene;
        const double *plus = a->X + s->plus[l] * pitch + gene;
        const double *minus = s->minus[l] < n ? a->X + s->minus[l] * pitch + gene
                                              : a->archive + (s->minus[l] - n) * pitch + gene;
        double *u = tile + l * TILE, f = s->f[l];
        uint32_t *d = draw + 4 * l, forced = s->forced[l] - gene;

        if (forced < count)
            d[forced / 4 * BLOCK + forced % 4] = 0;
        bool steps = s->step[l] && forced < count;
        /* constant arguments, so that each loop is free of choices */
        if (a->bounds == EC_DE_HALFWAY && pull)
            mix_row(u, count, d, x, base, plus, minus, lo, hi, f, s->threshold[l], true,
                    EC_DE_HALFWAY);
        else if (a->bounds == EC_DE_HALFWAY)
            mix_row(u, count, d, x, base, plus, minus, lo, hi, f, s->threshold[l], false,
                    EC_DE_HALFWAY);
        else
            mix_row(u, count, d, x, base, plus, minus, lo, hi, f, s->threshold[l], pull, a->bounds);
        if (steps)
            u[forced] = ec_de_stepped(u[forced], x[forced], lo[forced], hi[forced], s->step[l]);
    }
}

static void trial_strip(const ec_de_args *a, size_t lane0, uint32_t generation)
{
    uint32_t draw[EC_LANES * TILE], n = a->control->n, lanes = ec_de_strip_count(a, lane0);
    double tile[EC_LANES * TILE];
    ec_random_stream stream = ec_de_stream(a, generation, EC_DE_DRAW_CROSS);
    ec_de_strip s;

    ec_de_draw_indices(a, lane0, generation, n, &s);
    ec_de_draw_parameters(a, lane0, generation, &s);
    memcpy(a->trial_f + lane0, s.f, sizeof s.f);
    memcpy(a->trial_cr + lane0, s.cr, sizeof s.cr);
    for (uint32_t gene = 0; gene < a->pitch; gene += TILE) {
        uint32_t count = a->pitch - gene < TILE ? a->pitch - gene : TILE;
        uint32_t used = a->genes - gene < count ? a->genes - gene : count;

        cross_draws(&stream, lane0, gene, count, draw);
        mix_tile(a, &s, n, lane0, gene, count, draw, tile);
        for (uint32_t k = 0; k < used; k++) {
            double *u = a->U + (size_t)(gene + k) * a->ld + lane0;
            for (uint32_t l = 0; l < lanes; l++)
                u[l] = tile[l * TILE + k];
        }
    }
}

/* The args of island y; those of a single one are themselves. */
static const ec_de_args *island_args(const ec_de_args *all, size_t y, ec_de_args *own)
{
    if (all->islands == 1)
        return all;
    ec_de_island(all, (uint32_t)y, own);
    return own;
}

static void trial_body(const ec_de_args *all, size_t lane0, size_t y)
{
    ec_de_args own;

    if (ec_de_stopped(all))
        return;
    const ec_de_args *a = island_args(all, y, &own);
    uint32_t generation = a->control->stats.generation;
    if (ec_de_starts(a, generation))
        start_strip(a, lane0, generation);
    else if (ec_de_opposes(a, generation))
        oppose_strip(a, lane0, generation);
    else if (ec_de_group_turn(a, generation))
        copy_strip(a, lane0);
    else
        trial_strip(a, lane0, generation);
}

/* ---- selection ---- */

/* The accepted trial's genes out of the gene rows. */
static void fetch_trial(const ec_de_args *a, size_t lane, double *restrict row)
{
    const double *u = a->U + lane;

    for (uint32_t g = 0; g < a->genes; g++)
        row[g] = u[(size_t)g * a->ld];
}

/* The next population's row c < n: its archived parent leaves first, then the trial or the member
 * that fills the hole comes. Rows that move come from behind the next population. */
static void move_member(const ec_de_args *a, size_t c, uint32_t generation, uint32_t n_next)
{
    double *row = a->X + c * a->pitch;
    uint32_t slot = a->slot[c];

    if (slot != EC_DE_NO_SLOT && a->owner[slot] == ec_de_stamp(generation, c))
        memcpy(a->archive + (size_t)slot * a->pitch, row, a->pitch * sizeof *row);
    if (c >= n_next)
        return;
    size_t from = a->source[c];
    if (a->accept[from])
        fetch_trial(a, from, row);
    else if (from != c)
        memcpy(row, a->X + from * a->pitch, a->pitch * sizeof *row);
}

static void select_member(const ec_de_args *a, size_t lane, uint32_t generation, ec_de_score trial)
{
    int current = ec_de_current(a, generation), next = 1 - current;
    ec_de_score parent = ec_de_member_score(a, current, lane);
    bool accept = ec_de_accepts(a, lane, generation, parent, trial);

    ec_de_store(a, lane, next, accept ? trial : parent);
    if (a->method == EC_DE_JDE) {
        a->f[next][lane] = accept ? a->trial_f[lane] : a->f[current][lane];
        a->cr[next][lane] = accept ? a->trial_cr[lane] : a->cr[current][lane];
    }
    if (accept)
        fetch_trial(a, lane, a->X + lane * a->pitch);
}

/* Smallest and largest value of each gene over the strip's members below end. */
static void strip_range(const ec_de_args *a, size_t lane0, size_t end)
{
    size_t pitch = a->pitch;

    for (size_t gene = 0; gene < pitch; gene += EC_DE_PAD) {
        double low[EC_DE_PAD], high[EC_DE_PAD];

        for (int j = 0; j < EC_DE_PAD; j++) {
            low[j] = INFINITY;
            high[j] = -INFINITY;
        }
        for (size_t c = lane0; c < end; c++) {
            const double *x = a->X + c * pitch + gene;
            for (int j = 0; j < EC_DE_PAD; j++) {
                low[j] = x[j] < low[j] ? x[j] : low[j];
                high[j] = x[j] > high[j] ? x[j] : high[j];
            }
        }
        memcpy(a->strip_low + lane0 / EC_LANE_PAD * pitch + gene, low, sizeof low);
        memcpy(a->strip_high + lane0 / EC_LANE_PAD * pitch + gene, high, sizeof high);
    }
}

/* The strip's best member and how many are feasible, in the next population of n_next. */
static void strip_scores(const ec_de_args *a, size_t lane0, size_t end, int next)
{
    uint32_t best = (uint32_t)lane0, feasible = 0;

    for (size_t c = lane0; c < end; c++) {
        ec_de_score s = ec_de_member_score(a, next, c);
        if (ec_de_better(s, ec_de_member_score(a, next, best)))
            best = (uint32_t)c;
        feasible += s.violation == 0.0;
    }
    a->strip_best[lane0 / EC_LANE_PAD] = best;
    a->strip_feasible[lane0 / EC_LANE_PAD] = feasible;
}

static void select_strip(const ec_de_args *a, size_t lane0)
{
    uint32_t generation = a->control->stats.generation, n = a->control->n, failed = 0;
    bool judged = ec_de_has_judge(a->method);
    uint32_t n_next = judged ? a->control->n_next : n;
    size_t end = n < lane0 + EC_LANES ? n : lane0 + EC_LANES;
    size_t next_end = n_next < lane0 + EC_LANES ? n_next : lane0 + EC_LANES;

    for (size_t c = lane0; c < end; c++) {
        ec_de_score trial = ec_de_trial_score(a, c);
        failed += c < a->limit && trial.status != 0;
        if (judged)
            move_member(a, c, generation, n_next);
        else
            select_member(a, c, generation, trial);
    }
    a->strip_failed[lane0 / EC_LANE_PAD] = failed;
    strip_range(a, lane0, next_end);
    strip_scores(a, lane0, next_end, judged ? 0 : 1 - ec_de_current(a, generation));
}

static void select_body(const ec_de_args *all, size_t lane0, size_t y)
{
    ec_de_args own;

    if (!ec_de_stopped(all))
        select_strip(island_args(all, y, &own), lane0);
}

/* ---- the judge of the methods with an archive: who succeeds, what is learnt, who stays ---- */

/* Pairwise sum in index order: neighbours, then neighbours of sums, ...: CUDA's tree too. */
static double tree_sum(double *value, size_t n)
{
    for (; n > 1; n = (n + 1) / 2) {
        for (size_t i = 0; i < n / 2; i++)
            value[i] = value[2 * i] + value[2 * i + 1];
        if (n & 1)
            value[n / 2] = value[n - 1];
    }
    return n ? value[0] : 0.0;
}

/* Scores of the accepted trials, gains of the successes, archive rows. Returns the successes. */
static uint32_t accept_trials(const ec_de_args *a, uint32_t generation, uint32_t n,
                              double *largest_gain)
{
    uint32_t successes = 0, size = ec_de_archive_size(a, n), used = a->control->archive;

    *largest_gain = 0.0;
    for (uint32_t c = 0; c < n; c++) {
        ec_de_score parent = ec_de_member_score(a, 0, c), trial = ec_de_trial_score(a, c);
        bool accept = ec_de_accepts(a, c, generation, parent, trial);
        bool success = accept && ec_de_succeeds(a, generation, parent, trial);

        a->accept[c] = accept;
        a->source[c] = c;
        a->gain[c] = success ? ec_de_gain(parent, trial) : 0.0;
        a->slot[c] = EC_DE_NO_SLOT;
        *largest_gain = a->gain[c] > *largest_gain ? a->gain[c] : *largest_gain;
        if (accept)
            ec_de_store(a, c, 0, trial);
        if (success) {
            uint32_t slot = ec_de_archive_slot(a, c, generation, successes, used, size);
            a->slot[c] = slot;
            if (slot != EC_DE_NO_SLOT)
                a->owner[slot] = ec_de_stamp(generation, c);
            successes++;
        }
    }
    return successes;
}

static void learn(const ec_de_args *a, uint32_t n, uint32_t successes, double largest_gain)
{
    double sum[4];

    for (uint32_t c = 0; c < n; c++) {
        double w =
            a->gain[c] > 0.0 ? a->method == EC_DE_PBEST ? 1.0 : a->gain[c] / largest_gain : 0.0;
        double wf = w * a->trial_f[c], wcr = w * a->trial_cr[c];

        a->tree[c] = wf * a->trial_f[c];
        a->tree[a->n_max + c] = wf;
        a->tree[2 * (size_t)a->n_max + c] = wcr * a->trial_cr[c];
        a->tree[3 * (size_t)a->n_max + c] = wcr;
    }
    for (int i = 0; i < 4; i++)
        sum[i] = tree_sum(a->tree + (size_t)i * a->n_max, n);
    ec_de_learn(a, a->control, sum, successes);
}

static bool before(const ec_de_args *a, uint32_t x, uint32_t y)
{
    return ec_de_before(a, 0, x, y);
}

/* Bottom-up merge sort; spare has room for count. */
static void sort_members(const ec_de_args *a, uint32_t *item, uint32_t *spare, uint32_t count)
{
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t left = 0; left < count; left += 2 * width) {
            uint32_t mid = left + width < count ? left + width : count;
            uint32_t end = mid + width < count ? mid + width : count;
            uint32_t i = left, j = mid;

            for (uint32_t k = left; k < end; k++)
                spare[k] =
                    i < mid && (j == end || !before(a, item[j], item[i])) ? item[i++] : item[j++];
        }
        memcpy(item, spare, count * sizeof *item);
    }
}

/* Sorts `order` again. Most members have kept their score, so those that are still in order stay
 * and only the others are sorted and merged in. */
static void sort_order(const ec_de_args *a, uint32_t n)
{
    uint32_t *order = a->order, *moved = a->list, *spare = (uint32_t *)a->tree;
    uint32_t kept = 0, count = 0;

    for (uint32_t r = 0; r < n; r++) {
        uint32_t c = order[r];
        if (a->accept[c] || (kept > 0 && before(a, c, order[kept - 1])))
            moved[count++] = c;
        else
            order[kept++] = c;
    }
    sort_members(a, moved, spare, count);
    for (uint32_t r = n; r > 0 && count > 0; r--)
        order[r - 1] = kept == 0 || before(a, order[kept - 1], moved[count - 1]) ? moved[--count]
                                                                                 : order[--kept];
}

/* The n - n_next worst members leave; members behind n_next move into the holes before it, the k-th
 * one into the k-th hole. */
static void shrink(const ec_de_args *a, uint32_t n, uint32_t n_next)
{
    uint32_t *order = a->order, *target = a->list;
    uint8_t *dead = (uint8_t *)a->tree;
    uint32_t mover = n_next;

    memset(dead, 0, n);
    for (uint32_t r = n_next; r < n; r++)
        dead[order[r]] = 1;
    for (uint32_t c = 0; c < n_next; c++) {
        if (!dead[c])
            continue;
        while (dead[mover])
            mover++;
        a->source[c] = mover;
        target[mover] = c;
        ec_de_store(a, c, 0, ec_de_member_score(a, 0, mover));
        mover++;
    }
    for (uint32_t r = 0; r < n_next; r++)
        order[r] = order[r] >= n_next ? target[order[r]] : order[r];
}

static void judge_island(const ec_de_args *a)
{
    ec_de_control *control = a->control;
    uint32_t generation = control->stats.generation, n = control->n;
    double largest_gain;

    uint32_t successes = accept_trials(a, generation, n, &largest_gain);
    learn(a, n, successes, largest_gain);
    sort_order(a, n);
    uint32_t n_next = ec_de_schedule(a, control->stats.evaluations + ec_de_evaluated(a, n),
                                     (uint64_t)generation + 1);
    n_next = n_next < n ? n_next : n;
    if (n_next < n)
        shrink(a, n, n_next);
    control->n_next = n_next;
    uint32_t size = ec_de_archive_size(a, n), size_next = ec_de_archive_size(a, n_next);
    uint32_t used = control->archive + successes;
    used = used < size ? used : size;
    control->archive = used < size_next ? used : size_next;
}

static void judge_body(const ec_de_args *all, size_t lane0, size_t y)
{
    ec_de_args own;

    (void)lane0;
    if (!ec_de_stopped(all))
        judge_island(island_args(all, y, &own));
}

/* ---- statistics ---- */

static double members_spread(const ec_de_args *a, uint32_t strips)
{
    double spread = 0.0;

    for (uint32_t g = 0; g < a->genes; g++) {
        double low = INFINITY, high = -INFINITY, range = a->upper[g] - a->lower[g];

        for (uint32_t s = 0; s < strips; s++) {
            double l = a->strip_low[(size_t)s * a->pitch + g];
            double h = a->strip_high[(size_t)s * a->pitch + g];
            low = l < low ? l : low;
            high = h > high ? h : high;
        }
        double share = range > 0.0 ? (high - low) / range : 0.0;
        spread = share > spread ? share : spread;
    }
    return spread;
}

static double groups_spread(const ec_de_args *a)
{
    double spread = 0.0;

    for (uint32_t g = 0; g < a->group_genes; g++) {
        double low = INFINITY, high = -INFINITY, range = a->group_upper[g] - a->group_lower[g];

        for (uint32_t i = 0; i < a->groups; i++) {
            double x = a->group_X[(size_t)i * a->group_pitch + g];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        double share = range > 0.0 ? (high - low) / range : 0.0;
        spread = share > spread ? share : spread;
    }
    return spread;
}

static void finish_island(const ec_de_args *a)
{
    ec_de_control *control = a->control;
    int next = ec_de_has_judge(a->method) ? 0 : 1 - ec_de_current(a, control->stats.generation);
    uint32_t best = 0, failed = 0, feasible = 0;

    for (uint32_t s = 0; s * EC_LANE_PAD < control->n; s++) {
        failed += a->strip_failed[s];
        feasible += a->strip_feasible[s];
        if (s * EC_LANE_PAD < control->n_next &&
            ec_de_better(ec_de_member_score(a, next, a->strip_best[s]),
                         ec_de_member_score(a, next, best)))
            best = a->strip_best[s];
    }
    uint32_t strips = (control->n_next + EC_LANE_PAD - 1) / EC_LANE_PAD;
    double spread = members_spread(a, strips), other = groups_spread(a);
    ec_de_finish_control(a, control, failed, feasible, best, other > spread ? other : spread);
}

static void finish_body(const ec_de_args *all, size_t lane0, size_t y)
{
    ec_de_args own;

    (void)lane0;
    if (!ec_de_stopped(all))
        finish_island(island_args(all, y, &own));
}

/* ---- migration ---- */

/* Takes the worst member out of the order and puts it, with its new score, where it belongs. */
static void reorder_last(const ec_de_args *a, uint32_t n)
{
    uint32_t *order = a->order, worst = order[n - 1], r = n - 1;

    for (; r > 0 && before(a, worst, order[r - 1]); r--)
        order[r] = order[r - 1];
    order[r] = worst;
}

static uint32_t worst_member(const ec_de_args *a, int current, uint32_t n)
{
    uint32_t worst = 0;

    for (uint32_t c = 1; c < n; c++)
        if (ec_de_before(a, current, worst, c))
            worst = c;
    return worst;
}

static void meet_body(const ec_de_args *all, size_t lane0, size_t y)
{
    ec_de_args a, from;

    (void)lane0;
    if (ec_de_stopped(all))
        return;
    if (y == 0)
        ec_de_total(all);
    ec_de_island(all, (uint32_t)y, &a);
    ec_de_island(all, ec_de_neighbour(all, (uint32_t)y), &from);
    if (!ec_de_immigrates(all, &a, &from))
        return;
    uint32_t n = a.control->n;
    if (ec_de_has_judge(a.method)) {
        ec_de_immigrate(&a, &from, a.order[n - 1]);
        reorder_last(&a, n);
    } else {
        int current = ec_de_current(&a, a.control->stats.generation);
        ec_de_immigrate(&a, &from, worst_member(&a, current, n));
    }
}

EC_KERNEL_CPU(de_trial, ec_de_args, trial_body)
EC_KERNEL_CPU(de_group_trial, ec_de_args, ec_de_group_trial_body)
EC_KERNEL_CPU(de_judge, ec_de_args, judge_body)
EC_KERNEL_CPU(de_group_judge, ec_de_args, ec_de_group_judge_body)
EC_KERNEL_CPU(de_select, ec_de_args, select_body)
EC_KERNEL_CPU(de_finish, ec_de_args, finish_body)
EC_KERNEL_CPU(de_meet, ec_de_args, meet_body)
