/* test_pareto.c: ranks against their definition, crowding and hypervolume against sums and exact
 * volumes. */
#include "pareto.h"

#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_MAX = 3000 };

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* Draw i of stream t. */
static uint32_t draw(uint32_t t, uint32_t i)
{
    ec_random_stream stream = ec_random_make(7, t, 1, 0);
    uint32_t words[4];

    ec_random_words(&stream, 0, i, words);
    return words[0];
}

/* ---- ranks ---- */

typedef struct set {
    size_t n;
    int32_t n_costs;
    double cost[5 * N_MAX], violation[N_MAX];
    uint8_t status[N_MAX];
} set;

/* n designs whose costs have `values` values; some infeasible, failed or NaN. */
static void fill_set(set *s, uint32_t t, size_t n, int32_t n_costs, uint32_t values)
{
    s->n = n;
    s->n_costs = n_costs;
    for (uint32_t i = 0; i < n * (size_t)n_costs; i++)
        s->cost[i] = (double)ec_uniform_below(draw(t, i), values) - (double)(values / 2);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t word = draw(t, 100000 + i);
        s->violation[i] = word % 4 == 0 ? (word >> 8) % 5 : 0;
        s->status[i] = (word >> 12) % 15 == 0;
        if ((word >> 20) % 30 == 0)
            s->cost[i] = word & 1 ? NAN : -INFINITY;
    }
}

static bool not_above(const set *s, size_t a, size_t b)
{
    for (int32_t k = 0; k < s->n_costs; k++)
        if (!(s->cost[(size_t)k * s->n + a] <= s->cost[(size_t)k * s->n + b]))
            return false;
    return true;
}

static int class_of(const set *s, size_t i)
{
    for (int32_t k = 0; k < s->n_costs; k++)
        if (!isfinite(s->cost[(size_t)k * s->n + i]))
            return 2;
    return s->status[i] ? 2 : s->violation[i] > 0 ? 1 : 0;
}

/* Ranks by their definition: fronts are taken off one after another. */
static void plain_ranks(const set *s, uint32_t *rank)
{
    enum { OPEN = 1 << 30, COPY };
    uint32_t next = 0;
    bool any = true, copies = false;

    for (size_t i = 0; i < s->n; i++) {
        rank[i] = OPEN;
        for (size_t j = 0; j < i && class_of(s, i) == 0; j++)
            if (class_of(s, j) == 0 && not_above(s, i, j) && not_above(s, j, i))
                rank[i] = COPY;
        copies = copies || rank[i] == COPY;
    }
    for (; any; next += any) {
        bool leaves[N_MAX] = {false};
        any = false;
        for (size_t i = 0; i < s->n; i++) {
            leaves[i] = rank[i] == OPEN && class_of(s, i) == 0;
            for (size_t j = 0; j < s->n && leaves[i]; j++)
                if (j != i && rank[j] == OPEN && class_of(s, j) == 0 && not_above(s, j, i))
                    leaves[i] = false;
            any = any || leaves[i];
        }
        for (size_t i = 0; i < s->n; i++)
            rank[i] = leaves[i] ? next : rank[i];
    }
    for (size_t i = 0; i < s->n; i++)
        rank[i] = rank[i] == COPY ? next : rank[i];
    next += copies;
    for (double v = 1; v < 5; v++) {
        any = false;
        for (size_t i = 0; i < s->n; i++)
            if (class_of(s, i) == 1 && s->violation[i] == v) {
                rank[i] = next;
                any = true;
            }
        next += any;
    }
    for (size_t i = 0; i < s->n; i++)
        rank[i] = class_of(s, i) == 2 ? next : rank[i];
}

static void rank_set(const set *s, int threads, uint32_t *rank, double *crowding)
{
    ec_pareto *pareto = NULL;
    ec_pareto_scores scores = {s->cost, s->n, s->violation, s->status};

    assert_int_equal(ec_pareto_create(s->n, s->n_costs, threads, &pareto), EC_OK);
    ec_pareto_rank(pareto, &scores, s->n, rank, crowding);
    ec_pareto_destroy(&pareto);
    assert_null(pareto);
}

static void ranks_are_those_of_the_definition(void **state)
{
    static set s;
    static uint32_t rank[N_MAX], wanted[N_MAX];

    (void)state;
    for (uint32_t t = 0; t < 90; t++) {
        static const uint32_t values[] = {3, 20, 1u << 30};
        fill_set(&s, t, 1 + draw(t, 99999) % 150, 1 + (int32_t)(t % 5), values[t / 5 % 3]);
        rank_set(&s, 1, rank, NULL);
        plain_ranks(&s, wanted);
        assert_memory_equal(rank, wanted, s.n * sizeof *rank);
    }
    ec_pareto *none = NULL;
    assert_int_equal(ec_pareto_create(0, 2, 1, &none), EC_OK);
    ec_pareto_rank(none, &(ec_pareto_scores){s.cost, 0, NULL, NULL}, 0, rank, NULL);
    ec_pareto_destroy(&none);
}

/* Above the size from which threads share the work, and with more designs than a block. */
static void ranks_of_many_are_those_of_the_definition(void **state)
{
    static set s;
    static uint32_t rank[N_MAX], again[N_MAX], wanted[N_MAX];
    static double crowding[N_MAX], crowding_again[N_MAX];

    (void)state;
    for (int32_t n_costs = 2; n_costs <= 4; n_costs++) {
        fill_set(&s, 200, N_MAX, n_costs, 1u << 30);
        rank_set(&s, 1, rank, crowding);
        rank_set(&s, 3, again, crowding_again);
        assert_memory_equal(rank, again, sizeof rank);
        assert_memory_equal(crowding, crowding_again, sizeof crowding);
        plain_ranks(&s, wanted);
        assert_memory_equal(rank, wanted, sizeof rank);
    }
}

static void crowding_is_the_distance_of_the_neighbours(void **state)
{
    /* a front of five and one behind it; the copy of design 1 is crowded by nobody */
    set s = {.n = 7, .n_costs = 2};
    static const double cost[2][7] = {{0, 1, 4, 8, 10, 9, 1}, {10, 6, 4, 1, 0, 9, 6}};
    uint32_t rank[7], order[7];
    double crowding[7];
    ec_pareto *pareto = NULL;

    (void)state;
    memcpy(s.cost, cost, sizeof cost);
    rank_set(&s, 1, rank, crowding);
    static const uint32_t wanted[7] = {0, 0, 0, 0, 0, 1, 2};
    assert_memory_equal(rank, wanted, sizeof rank);
    assert_true(crowding[0] == INFINITY && crowding[4] == INFINITY);
    assert_near(crowding[1], 0.4 + 0.6, 1e-15);
    assert_near(crowding[2], 0.7 + 0.5, 1e-15);
    assert_near(crowding[3], 0.6 + 0.4, 1e-15);
    assert_true(crowding[6] == 0);
    assert_int_equal(ec_pareto_create(7, 2, 1, &pareto), EC_OK);
    ec_pareto_order(pareto, rank, crowding, 7, order);
    static const uint32_t best_first[7] = {0, 4, 2, 1, 3, 5, 6};
    assert_memory_equal(order, best_first, sizeof order);
    ec_pareto_destroy(&pareto);
}

/* ---- hypervolume ---- */

static void volumes_of_boxes(void **state)
{
    static const double reference[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const double two[] = {0.25, 0.5, 0.5, 0.25, 0.5, 0.5, 0.25, 0.5, 2, 0, 0, 1};

    (void)state;
    assert_near(ec_hypervolume(two, 6, 2, reference), 0.75 * 0.5 + 0.5 * 0.25, 1e-15);
    assert_near(ec_hypervolume(two, 0, 2, reference), 0, 0);
    assert_near(ec_hypervolume(two, 6, 1, reference), 0.75, 0);
    for (int32_t m = 3; m <= 16; m++) {
        /* point k is 0 but for its k-th cost, 1/2: all share the box of edges 1/2 and each adds
         * one half of the unit cube: the union is 1 - 2^-m */
        double points[16 * 16] = {0};
        for (int32_t k = 0; k < m; k++)
            points[k * m + k] = 0.5;
        double volume = ec_hypervolume(points, (size_t)m, m, reference);
        assert_near(volume, 1 - pow(0.5, m), 1e-12);
    }
    double bad[] = {0.5, NAN, 0.1, 0.1};
    assert_true(isnan(ec_hypervolume(bad, 2, 2, reference)));
    double nowhere[] = {NAN, 1};
    assert_true(isnan(ec_hypervolume(two, 6, 2, nowhere)));
}

/* Points on a lattice: the volume is a count of cells. */
static void volumes_of_lattices(void **state)
{
    enum { CELLS = 6, N = 30 };

    (void)state;
    for (int32_t m = 2; m <= 5; m++) {
        double points[N * 5], reference[5] = {CELLS, CELLS, CELLS, CELLS, CELLS};
        size_t cells = 1, inside = 0;
        for (uint32_t i = 0; i < (uint32_t)(N * m); i++)
            points[i] = ec_uniform_below(draw(300 + (uint32_t)m, i), CELLS + 1);
        for (int32_t k = 0; k < m; k++)
            cells *= CELLS;
        for (size_t c = 0; c < cells; c++) {
            bool dominated = false;
            for (size_t i = 0; i < N && !dominated; i++) {
                size_t rest = c;
                dominated = true;
                for (int32_t k = 0; k < m; k++, rest /= CELLS)
                    dominated =
                        dominated && points[i * (size_t)m + (size_t)k] <= (double)(rest % CELLS);
            }
            inside += dominated;
        }
        assert_near(ec_hypervolume(points, N, m, reference), (double)inside, 1e-9);
    }
}

/* The limit of steps is met by 4 and 5 costs of moderate sets and said by NaN beyond. */
static void large_sets_have_a_limit(void **state)
{
    enum { N = 600 };
    static double points[N * 8];
    static const double reference[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    (void)state;
    for (int32_t m = 3; m <= 8; m++) {
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t k = 0; k < (size_t)m; k++)
                sum += points[i * (size_t)m + k] =
                    ec_uniform(draw(400, (uint32_t)(i * (size_t)m + k)));
            for (size_t k = 0; k < (size_t)m; k++)
                points[i * (size_t)m + k] /= sum;
        }
        bool known = !isnan(ec_hypervolume(points, N, m, reference));
        assert_int_equal(known, m <= 4);
        if (m <= 5)
            assert_true(ec_hypervolume(points, 60, m, reference) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_those_of_the_definition),
        cmocka_unit_test(ranks_of_many_are_those_of_the_definition),
        cmocka_unit_test(crowding_is_the_distance_of_the_neighbours),
        cmocka_unit_test(volumes_of_boxes),
        cmocka_unit_test(volumes_of_lattices),
        cmocka_unit_test(large_sets_have_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
