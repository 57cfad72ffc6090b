/* nsga2_variation.c: see nsga2_variation.h. */
#include "nsga2_variation.h"

#include "random.h"

#include <stdlib.h>
#include <string.h>

/* What a Philox stream is for; candidate is the design, the pair of children or the child. */
enum { FIRST = 1, CROSS = 2, MUTATE = 3 };

/* x^y for x >= 0; what ec_det_pow does for the last digits is not needed here. */
static double power(double x, double y)
{
    return ec_det_exp(y * ec_det_log(x));
}

/* ---- crossover ---- */

/* (2 - (1 + 2 room / gap)^-(eta + 1)): what is left of SBX's probability within the bound. */
static double sbx_spread(double u, double room, double gap, double eta)
{
    double alpha = 2.0 - power(1.0 + 2.0 * room / gap, -(eta + 1.0));
    double base = u * alpha <= 1.0 ? u * alpha : 1.0 / (2.0 - u * alpha);

    return power(base, 1.0 / (eta + 1.0));
}

static double clamp(double x, double min, double max)
{
    return x < min ? min : x > max ? max : x;
}

/* *a and *b are the parents' genes, then the children's. */
static void cross_real(const ec_gene *gene, double eta, double u, double *a, double *b)
{
    double low = *a < *b ? *a : *b, high = *a < *b ? *b : *a, gap = high - low;

    if (!(gap > 1e-14 * (gene->max - gene->min)))
        return;
    double below = sbx_spread(u, low - gene->min, gap, eta);
    double above = sbx_spread(u, gene->max - high, gap, eta);
    *a = clamp(0.5 * (low + high - below * gap), gene->min, gene->max);
    *b = clamp(0.5 * (low + high + above * gap), gene->min, gene->max);
}

/* ---- sets of binary genes with a fixed sum ---- */

/* Keys of zeros and ones: any two on either side of each other would do. */
static const double key_of[2] = {0.25, 0.75};

static bool is_one(double key)
{
    return key > 0.5;
}

/* Genes behind g that are of its set, itself included. */
static size_t set_length(const ec_variation *v, size_t g)
{
    size_t end = g;

    while (end < v->n_genes && v->genes[end].set == v->genes[g].set)
        end++;
    return end - g;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* The largest keys are ones, of equal keys the first. */
static void settle_set(double *row, size_t n, size_t ones, double *sorted)
{
    memcpy(sorted, row, n * sizeof *row);
    qsort(sorted, n, sizeof *sorted, descending);
    double last = ones > 0 ? sorted[ones - 1] : INFINITY;
    size_t equal = 0; /* of them are ones */
    for (size_t i = ones; i > 0 && sorted[i - 1] == last; i--)
        equal++;
    for (size_t i = 0; i < n; i++) {
        bool one = row[i] > last || (row[i] == last && equal > 0);
        equal -= row[i] == last && one;
        row[i] = key_of[one];
    }
}

void ec_variation_settle(const ec_variation *v, double *row, double *work)
{
    for (size_t g = 0; g < v->n_genes; g++) {
        if (v->genes[g].set == 0)
            continue;
        size_t n = set_length(v, g);
        settle_set(row + g, n, v->genes[g].ones, work);
        g += n - 1;
    }
}

/* Where the parents differ, as many have the one in a as in b: pairs of both kinds change sides, each
 * with the probability `rate`. How many is drawn first, then which, by selection sampling. The genes
 * are places i, i + 1, ... of the free ones, whose blocks the draws come from. */
static void cross_set(const ec_random_stream *stream, uint32_t i, uint32_t pair, size_t n,
                      double rate, double *a, double *b)
{
    uint32_t left[2] = {0, 0}, need[2] = {0, 0}, words[4];

    for (size_t k = 0; k < n; k++) {
        if (a[k] == b[k])
            continue;
        left[is_one(a[k])]++;
        if (!is_one(a[k]))
            continue;
        ec_random_words(stream, 2 + i + (uint32_t)k, pair, words);
        need[0] += ec_uniform(words[2]) < rate;
    }
    need[1] = need[0];
    for (size_t k = 0; k < n; k++) {
        if (a[k] == b[k])
            continue;
        bool one = is_one(a[k]);
        ec_random_words(stream, 2 + i + (uint32_t)k, pair, words);
        bool changes = ec_uniform_below(words[1], left[one]--) < need[one];
        need[one] -= changes;
        a[k] = key_of[one != changes];
        b[k] = key_of[one == changes];
    }
}

/* Gene g changes places with a gene of its set that has the other value. */
static void mutate_set(const ec_variation *v, uint32_t g, uint32_t word, double *row)
{
    size_t first = g, n = set_length(v, g);
    bool one = is_one(row[g]);

    for (; first > 0 && v->genes[first - 1].set == v->genes[g].set; first--)
        n++;
    uint32_t others = one ? (uint32_t)n - v->genes[g].ones : v->genes[g].ones;
    if (others == 0)
        return;
    size_t other = first;
    for (uint32_t left = ec_uniform_below(word, others); is_one(row[other]) == one || left > 0;
         other++)
        left -= is_one(row[other]) != one;
    row[g] = key_of[!one];
    row[other] = key_of[one];
}

/* ---- crossover of all genes ---- */

/* Half of the real genes are crossed over; of those, every second pair changes sides. Integral ones
 * change sides with the probability `rate`. */
static void cross(const ec_variation *v, const ec_random_stream *stream, uint32_t pair, double rate,
                  double *a, double *b)
{
    for (size_t i = 0; i < v->n_free; i++) {
        uint32_t g = v->free_genes[i], words[4];
        bool integral = v->genes[g].integral;
        if (v->genes[g].set > 0) {
            size_t n = set_length(v, g);
            cross_set(stream, (uint32_t)i, pair, n, rate, a + g, b + g);
            i += n - 1;
            continue;
        }
        ec_random_words(stream, 2 + (uint32_t)i, pair, words);
        if (!integral && words[0] >> 31)
            continue;
        if (!integral)
            cross_real(&v->genes[g], v->crossover_eta, ec_uniform(words[1]), &a[g], &b[g]);
        if (ec_uniform(words[2]) < (integral ? rate : 0.5)) {
            double swapped = a[g];
            a[g] = b[g];
            b[g] = swapped;
        }
    }
}

/* ---- mutation ---- */

static double mutate_real(const ec_gene *gene, double eta, double u, double x)
{
    double range = gene->max - gene->min, change;

    if (u <= 0.5) {
        double room = 1.0 - (x - gene->min) / range;
        change = power(2.0 * u + (1.0 - 2.0 * u) * power(room, eta + 1.0), 1.0 / (eta + 1.0)) - 1.0;
    } else {
        double room = 1.0 - (gene->max - x) / range;
        change = 1.0 - power(2.0 * (1.0 - u) + (2.0 * u - 1.0) * power(room, eta + 1.0),
                             1.0 / (eta + 1.0));
    }
    return clamp(x + change * range, gene->min, gene->max);
}

/* Another of the values, each as likely; the genes of binary variables are mirrored. */
static double mutate_integral(const ec_gene *gene, uint32_t word, double x)
{
    double range = gene->max - gene->min;
    uint32_t values = range < 0x1p31 ? (uint32_t)range : (uint32_t)1 << 31;

    if (values < 2)
        return gene->min + (gene->max - x);
    double at = ec_det_floor(x - gene->min);
    uint32_t value = at < values ? (uint32_t)at : values - 1;
    value = (uint32_t)(((uint64_t)value + 1 + ec_uniform_below(word, values - 1)) % values);
    return gene->min + 0.5 + value;
}

static void mutate_gene(const ec_variation *v, uint32_t g, uint32_t word, double *row)
{
    const ec_gene *gene = &v->genes[g];

    if (gene->set > 0)
        mutate_set(v, g, word, row);
    else
        row[g] = gene->integral ? mutate_integral(gene, word, row[g])
                                : mutate_real(gene, v->mutation_eta, ec_uniform(word), row[g]);
}

/* Two genes share a block. */
static void mutate(const ec_variation *v, const ec_random_stream *stream, uint32_t child,
                   double *row)
{
    uint32_t words[4];

    for (size_t i = 0; i < v->n_free; i++) {
        if (i % 2 == 0)
            ec_random_words(stream, (uint32_t)(i / 2), child, words);
        if (ec_uniform(words[2 * (i % 2)]) < v->mutation)
            mutate_gene(v, v->free_genes[i], words[2 * (i % 2) + 1], row);
    }
}

/* ---- children ---- */

void ec_variation_first(const ec_variation *v, uint32_t design, double *row)
{
    ec_random_stream stream = ec_random_make(v->seed, 0, FIRST, v->island);
    uint32_t words[4], left = 0, need = 0; /* of the set */

    for (size_t g = 0; g < v->n_genes; g++) {
        if (g % 2 == 0)
            ec_random_words(&stream, (uint32_t)(g / 2), design, words);
        if (v->genes[g].set > 0) { /* selection sampling */
            if (left == 0) {
                left = (uint32_t)set_length(v, g);
                need = v->genes[g].ones;
            }
            bool one = ec_uniform_below(words[2 * (g % 2)], left--) < need;
            need -= one;
            row[g] = key_of[one];
            continue;
        }
        double u = ec_uniform_53(words[2 * (g % 2)], words[2 * (g % 2) + 1]);
        double x = v->genes[g].min + u * (v->genes[g].max - v->genes[g].min);
        row[g] = clamp(x, v->genes[g].min, v->genes[g].max);
    }
}

/* Best of two, as parents are in order. */
static uint32_t tournament(uint32_t word_a, uint32_t word_b, uint32_t n)
{
    uint32_t a = ec_uniform_below(word_a, n), b = ec_uniform_below(word_b, n);

    return a < b ? a : b;
}

static bool same_row(const ec_variation *v, const double *a, const double *b)
{
    return memcmp(a, b, v->n_genes * sizeof *a) == 0;
}

/* Children 2 pair and 2 pair + 1. */
static void make_pair(const ec_variation *v, uint32_t generation, uint32_t pair,
                      const double *const *parents, uint32_t n_parents, double *a, double *b)
{
    ec_random_stream crossing = ec_random_make(v->seed, generation, CROSS, v->island);
    ec_random_stream mutation = ec_random_make(v->seed, generation, MUTATE, v->island);
    double *child[2] = {a, b};
    uint32_t who[4], words[4];

    ec_random_words(&crossing, 0, pair, who);
    ec_random_words(&crossing, 1, pair, words);
    uint32_t first = tournament(who[0], who[1], n_parents);
    uint32_t second = tournament(who[2], who[3], n_parents);
    second = second == first ? (second + 1) % n_parents : second;
    memcpy(a, parents[first], v->n_genes * sizeof *a);
    memcpy(b, parents[second], v->n_genes * sizeof *b);
    if (ec_uniform(words[0]) < v->crossover)
        cross(v, &crossing, pair, 0.5 * ec_uniform(words[1]), a, b);
    for (uint32_t c = 0; c < 2; c++) {
        mutate(v, &mutation, 2 * pair + c, child[c]);
        if (v->n_free > 0 &&
            (same_row(v, child[c], parents[first]) || same_row(v, child[c], parents[second]))) {
            ec_random_words(&mutation, (uint32_t)v->n_free, 2 * pair + c, words);
            uint32_t g = v->free_genes[ec_uniform_below(words[0], (uint32_t)v->n_free)];
            mutate_gene(v, g, words[1], child[c]);
        }
    }
}

void ec_variation_children(const ec_variation *v, uint32_t generation, const double *const *parents,
                           uint32_t n_parents, double *const *children, size_t n)
{
    int64_t pairs = (int64_t)((n + 1) / 2);

#pragma omp parallel for schedule(static) num_threads(v->threads) if (v->threads > 1 && pairs >= 64)
    for (int64_t p = 0; p < pairs; p++)
        make_pair(v, generation, (uint32_t)p, parents, n_parents, children[2 * p],
                  children[2 * p + 1]);
}
