/* aco_kernels.c: the ant colony on the CPU. Ants are drawn in strips of 32 (SIMD over ants), a
 * colony's take is one task (SIMD over its bits). Per ant and bit: an eighth of a Philox block and
 * a bit read back; per colony and bit: 18 bytes read and written. */
#include "aco_kernels.h"

#include <string.h>

/* ---- ants ---- */

/* Where the levels of each lane's colony begin; true when all lanes are of one colony. */
static bool lane_levels(const ec_aco_args *a, size_t lane0, uint32_t *begin)
{
    for (uint32_t l = 0; l < EC_LANES; l++) {
        uint32_t colony = (uint32_t)(lane0 + l) / a->ants;
        begin[l] = (colony < a->colonies ? colony : a->colonies - 1) * a->pitch;
    }
    return begin[0] == begin[EC_LANES - 1];
}

/* Adds the eight bits of a Philox block to the words. */
EC_FN void add_bits(uint32_t *restrict word, uint32_t out[4][EC_LANES], const uint16_t *level,
                    const uint32_t *begin, bool one_colony, uint32_t shift)
{
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t most[EC_LANES], low = 16 * (i % 2);

        for (uint32_t l = 0; l < EC_LANES; l++)
            most[l] = one_colony ? level[begin[0] + i] : level[begin[l] + i];
        for (uint32_t l = 0; l < EC_LANES; l++)
            word[l] |= (uint32_t)((out[i / 2][l] >> low & 0xffffu) < most[l]) << (shift + i);
    }
}

static void draw_words(const ec_aco_args *a, size_t lane0, uint32_t generation, uint32_t *bits)
{
    ec_random_stream stream = ec_aco_stream(a, generation, EC_ACO_DRAW_BIT);
    uint32_t begin[EC_LANES], out[4][EC_LANES];
    bool one_colony = lane_levels(a, lane0, begin);

    for (uint32_t w = 0; w < a->words; w++) {
        uint32_t word[EC_LANES] = {0}, *row = bits + (size_t)w * a->ld + lane0;
        uint32_t used = a->n_bits - 32 * w;
        uint32_t mask = used >= 32 ? ~0u : (1u << used) - 1;

        for (uint32_t b = 0; b < 4; b++) {
            const uint16_t *level = a->level + 32 * (size_t)w + 8 * b;
            ec_random_lanes(&stream, 4 * w + b, (uint32_t)lane0, out);
            if (one_colony)
                add_bits(word, out, level, begin, true, 8 * b);
            else
                add_bits(word, out, level, begin, false, 8 * b);
        }
        for (uint32_t l = 0; l < EC_LANES; l++)
            row[l] = word[l] & mask;
    }
    if (generation > 0)
        return;
    for (size_t c = lane0; c < lane0 + EC_LANES && c < a->n_start; c++)
        for (uint32_t w = 0; w < a->words; w++)
            bits[(size_t)w * a->ld + c] = a->start[c * a->words + w];
}

/* Turns ones (or zeros) that are too many, by selection sampling (Knuth, TAOCP 3.4.2, S): a pass
 * over the places, no matter how many are to be turned. */
static void repair_set(const ec_aco_args *a, const ec_aco_set *set, size_t lane0,
                       uint32_t generation, uint32_t *bits)
{
    ec_random_stream stream = ec_aco_stream(a, generation, EC_ACO_DRAW_SET);
    uint32_t ones[EC_LANES] = {0}, left[EC_LANES], need[EC_LANES], kind[EC_LANES];
    uint32_t out[4][EC_LANES];

    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t *row = bits + (size_t)((set->first + i) / 32) * a->ld + lane0;
        for (int l = 0; l < EC_LANES; l++)
            ones[l] += row[l] >> ((set->first + i) & 31u) & 1u;
    }
    for (int l = 0; l < EC_LANES; l++) {
        kind[l] = ones[l] > set->ones;
        need[l] = kind[l] ? ones[l] - set->ones : set->ones - ones[l];
        left[l] = kind[l] ? ones[l] : set->count - ones[l];
    }
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t place = set->first + i, shift = place & 31u;
        uint32_t *row = bits + (size_t)(place / 32) * a->ld + lane0;

        if (i % 4 == 0)
            ec_random_lanes(&stream, set->block + i / 4, (uint32_t)lane0, out);
        for (int l = 0; l < EC_LANES; l++) {
            uint32_t candidate = (row[l] >> shift & 1u) == kind[l];
            uint32_t turn = candidate & (ec_uniform_below(out[i % 4][l], left[l]) < need[l]);
            row[l] ^= turn << shift;
            need[l] -= turn;
            left[l] -= candidate;
        }
    }
}

static void decode_gene(const ec_aco_args *a, uint32_t g, size_t lane0, const uint32_t *bits)
{
    const ec_aco_gene *gene = &a->gene[g];
    const uint32_t *low = bits + (size_t)(gene->first / 32) * a->ld + lane0;
    const uint32_t *high = ec_aco_spans(gene) ? low + a->ld : low;
    double *u = a->U + (size_t)g * a->ld + lane0;

    /* constant kinds, so that each loop is free of choices */
    if (gene->kind == EC_ACO_BINARY)
        for (int l = 0; l < EC_LANES; l++)
            u[l] = low[l] >> (gene->first & 31u) & 1u ? 0.75 : 0.25;
    else
        for (int l = 0; l < EC_LANES; l++)
            u[l] = ec_aco_value(gene, ec_aco_code(gene, low[l], high[l]), NULL);
}

static void ants_body(const ec_aco_args *a, size_t lane0, size_t y)
{
    uint32_t generation = a->control->stats.generation;
    uint32_t *bits = a->bits[generation & 1u];

    (void)y;
    if (ec_aco_stopped(a))
        return;
    draw_words(a, lane0, generation, bits);
    for (uint32_t i = 0; i < a->sets; i++)
        repair_set(a, &a->set[i], lane0, generation, bits);
    for (uint32_t g = 0; g < a->genes; g++)
        decode_gene(a, g, lane0, bits);
    for (size_t c = a->n > lane0 ? a->n : lane0; c < lane0 + EC_LANES; c++)
        for (uint32_t w = 0; w < a->words; w++) /* padding, the same on every backend */
            bits[(size_t)w * a->ld + c] = 0;
}

/* ---- take ---- */

/* Scores of the colony's ants; returns its best one. */
static uint32_t judge_colony(const ec_aco_args *a, uint32_t j, ec_aco_score *score)
{
    ec_aco_tally tally = {0, 0};
    uint32_t first = j * a->ants, best = first;

    *score = ec_aco_none();
    for (uint32_t c = first; c < first + a->ants; c++) {
        uint8_t status;
        ec_aco_score s = ec_aco_trial(a, c, &status);

        a->cost[c] = s.cost;
        a->violation[c] = s.violation;
        a->status[c] = status;
        tally.failed += status != 0 && status != EC_ACO_EMPTY;
        tally.feasible += s.violation == 0.0;
        if (ec_aco_better(s, *score)) {
            *score = s;
            best = c;
        }
    }
    a->tally[j] = tally;
    return best;
}

static void compare_bits(const ec_aco_args *a, uint32_t j, const uint32_t *bits)
{
    uint32_t first = j * a->ants;
    uint32_t end = first + a->ants < a->limit ? first + a->ants : a->limit;

    for (uint32_t w = 0; w < a->words; w++) {
        const uint32_t *row = bits + (size_t)w * a->ld;
        uint32_t any = 0, all = ~0u;
        for (uint32_t c = first; c < end; c++) {
            any |= row[c];
            all &= row[c];
        }
        a->any[(size_t)j * a->words + w] = any;
        a->all[(size_t)j * a->words + w] = all;
    }
}

static void deposit_all(const ec_aco_args *a, uint32_t j, uint32_t w, const uint32_t *bits)
{
    const ec_aco_trail trail = ec_aco_trail_of(a, j);
    size_t at = 32 * (size_t)w;
    double one[32] = {0}, zero[32] = {0}, keep = 1.0 - a->evaporation;

    for (uint32_t c = j * a->ants; c < (j + 1) * a->ants; c++) {
        uint32_t word = bits[(size_t)w * a->ld + c];
        double weight = a->weight[c];
        for (uint32_t k = 0; k < 32; k++) {
            bool bit = word >> k & 1u;
            one[k] += bit ? weight : 0.0;
            zero[k] += bit ? 0.0 : weight;
        }
    }
    for (uint32_t k = 0; k < 32; k++)
        ec_aco_set_bit(a, &trail, at + k, keep * trail.one[at + k] + one[k],
                       keep * trail.zero[at + k] + zero[k]);
}

static void take_colony(const ec_aco_args *a, uint32_t j, uint32_t generation)
{
    const uint32_t *bits = a->bits[generation & 1u];
    ec_aco_score score;
    uint32_t ant = judge_colony(a, j, &score);
    ec_aco_decision d = ec_aco_decide(a, j, &a->colony[j], generation, ant, score);
    const ec_aco_trail trail = ec_aco_trail_of(a, j);
    bool feasible = a->tally[j].feasible > 0;

    compare_bits(a, j, bits);
    for (uint32_t c = j * a->ants; c < (j + 1) * a->ants && a->rule == EC_ACO_PROPORTIONAL; c++) {
        ec_aco_score s = {a->violation[c], a->cost[c]};
        a->weight[c] = ec_aco_weight(a, s, feasible);
    }
    for (uint32_t w = 0; w < a->words; w++) {
        uint32_t since_word = ec_aco_since_word(a, j, generation, &d, w);
        uint32_t ant_word = bits[(size_t)w * a->ld + ant];

        ec_aco_keep_word(a, j, generation, &d, w, since_word);
        if (d.restart)
            for (uint32_t k = 0; k < 32; k++)
                ec_aco_begin_bit(a, &trail, 32 * (size_t)w + k);
        else if (a->rule == EC_ACO_PROPORTIONAL)
            deposit_all(a, j, w, bits);
        else
            for (uint32_t k = 0; k < 32; k++)
                ec_aco_deposit_best(a, &trail, 32 * (size_t)w + k, &d, ant_word, since_word, k);
    }
}

/* Largest spread of a gene over the ants of all colonies. */
static double spread(const ec_aco_args *a)
{
    double widest = 0.0;

    for (uint32_t j = 1; j < a->colonies; j++)
        for (uint32_t w = 0; w < a->words; w++) {
            a->any[w] |= a->any[(size_t)j * a->words + w];
            a->all[w] &= a->all[(size_t)j * a->words + w];
        }
    for (uint32_t w = 0; w < a->words; w++)
        a->any[w] &= ~a->all[w];
    for (uint32_t g = 0; g < a->genes; g++) {
        const ec_aco_gene *gene = &a->gene[g];
        const uint32_t *low = a->any + gene->first / 32;
        double s = ec_aco_gene_spread(gene, low[0], ec_aco_spans(gene) ? low[1] : 0);
        widest = s > widest ? s : widest;
    }
    return widest;
}

static void take_body(const ec_aco_args *a, size_t lane0, size_t y)
{
    uint32_t generation = a->control->stats.generation, failed = 0, feasible = 0, restarts = 0;
    ec_aco_score best = ec_aco_none();

    (void)lane0;
    (void)y;
    if (ec_aco_stopped(a))
        return;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (a->colonies >= 8)
#endif
    for (uint32_t j = 0; j < a->colonies; j++)
        take_colony(a, j, generation);
    for (uint32_t j = 0; j < a->colonies; j++) {
        failed += a->tally[j].failed;
        feasible += a->tally[j].feasible;
        restarts += a->colony[j].starts;
        best = ec_aco_better(a->colony[j].best, best) ? a->colony[j].best : best;
    }
    ec_aco_finish_stats(a, &a->control->stats, best, failed, feasible, restarts, spread(a));
}

EC_KERNEL_CPU(aco_ants, ec_aco_args, ants_body)
EC_KERNEL_CPU(aco_take, ec_aco_args, take_body)
