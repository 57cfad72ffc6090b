/* test_nsga2.c: NSGA-II on the CPU: the exact fronts of published problems, limits, failures, and the same
 * bits for any number of threads, batch and after save and load.
 *
 * Problems: ZDT1 to ZDT3 (Zitzler, Deb and Thiele, Evol. Comput. 8 (2000), 173-195), DTLZ2 (Deb,
 * Thiele, Laumanns and Zitzler, CEC 2002), and with constraints BNH, SRN, TNK, OSY as in Deb et al.
 * 2002 and Deb, "Multi-Objective Optimization using Evolutionary Algorithms", 2001. */
#include "optimizer.h"
#include "pareto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GENES_MAX = 64, COSTS_MAX = 4, MEMBERS_MAX = 1024 };

typedef struct problem {
    size_t genes, costs;
    double lower[GENES_MAX], upper[GENES_MAX];
    bool integral;
    size_t in_set; /* first genes that are a set of binary ones */
    uint32_t ones; /* of the set */
    bool limits;   /* has constraints */
    void (*score)(const double *x, size_t n, double *cost, double *violation, uint8_t *status);
} problem;

typedef struct run_info {
    const problem *problem;
    size_t population, evaluations;
    uint64_t seed;
    int threads; /* 0: 1 */
    const char *isa;
    size_t save_at; /* generation after which the state goes through save and load */
    const double *start;
    size_t n_start;
    const double *options;
} run_info;

typedef struct run_result {
    ec_optimizer_stats stats;
    uint64_t path; /* hash over every proposed design and its order */
    size_t n;
    double X[MEMBERS_MAX * GENES_MAX], cost[MEMBERS_MAX * COSTS_MAX], violation[MEMBERS_MAX];
    uint8_t status[MEMBERS_MAX];
    size_t n_front; /* the first n_front are feasible and not dominated */
} run_result;

/* ---- a run ---- */

static uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static const ec_optimizer_def *method(void)
{
    const ec_optimizer_def *def = ec_optimizer_find("nsga2");

    assert_non_null(def);
    return def;
}

static void create(const run_info *r, ec_backend *backend, ec_optimizer **optimizer)
{
    const problem *p = r->problem;
    ec_gene genes[GENES_MAX];

    for (size_t g = 0; g < p->genes; g++)
        genes[g] = (ec_gene){.min = p->lower[g], .max = p->upper[g], .integral = p->integral};
    for (size_t g = 0; g < p->in_set; g++)
        genes[g] = (ec_gene){.max = 1, .integral = true, .set = 1, .ones = p->ones};
    ec_optimizer_info info = {.genes = genes,
                              .n_genes = p->genes,
                              .population = r->population,
                              .seed = r->seed,
                              .evaluations = r->evaluations,
                              .n_objectives = p->costs,
                              .start = r->start,
                              .n_start = r->n_start,
                              .options = r->options};
    assert_int_equal(method()->create(method(), backend, &info, optimizer), EC_OK);
}

static void reload(const run_info *r, ec_backend *backend, ec_optimizer **optimizer)
{
    void *blob;
    size_t bytes;

    assert_int_equal(method()->save(*optimizer, &blob, &bytes), EC_OK);
    method()->destroy(optimizer);
    assert_null(*optimizer);
    create(r, backend, optimizer);
    assert_int_equal(method()->load(*optimizer, blob, bytes), EC_OK);
    void *again;
    size_t bytes_again;
    assert_int_equal(method()->save(*optimizer, &again, &bytes_again), EC_OK);
    assert_int_equal(bytes_again, bytes);
    assert_memory_equal(again, blob, bytes);
    free(again);
    free(blob);
}

static void generation(const run_info *r, ec_optimizer *optimizer, size_t left, run_result *result)
{
    static double cost[COSTS_MAX * MEMBERS_MAX], violation[MEMBERS_MAX];
    static uint8_t status[MEMBERS_MAX];
    const problem *p = r->problem;
    ec_array X, XG;
    const int32_t *map;
    size_t n;

    assert_int_equal(method()->propose(optimizer, &X, &XG, &map, &n), EC_OK);
    assert_true(n <= MEMBERS_MAX && X.elements == p->genes);
    n = n < left ? n : left;
    for (size_t c = 0; c < n; c++) {
        double row[GENES_MAX], at[COSTS_MAX];
        for (size_t g = 0; g < p->genes; g++) {
            row[g] = ((const double *)X.data)[g * X.ld + c];
            assert_true(row[g] >= p->lower[g] && row[g] <= p->upper[g]);
        }
        size_t ones = 0;
        for (size_t g = 0; g < p->in_set; g++)
            ones += row[g] > 0.5;
        assert_int_equal(ones, p->ones);
        violation[c] = 0;
        status[c] = 0;
        p->score(row, p->genes, at, &violation[c], &status[c]);
        for (size_t k = 0; k < p->costs; k++)
            cost[k * X.ld + c] = at[k];
        result->path = hash_bytes(result->path, row, p->genes * sizeof *row);
    }
    ec_scores scores = {
        .cost = cost, .violation = p->limits ? violation : NULL, .status = status, .ld = X.ld};
    assert_int_equal(method()->take(optimizer, &scores, n), EC_OK);
}

/* How many of the members, best first, are feasible and not dominated. */
static size_t count_front(const run_result *result, size_t costs)
{
    size_t n = 0;

    for (; n < result->n && !result->status[n] && result->violation[n] == 0; n++)
        for (size_t j = 0; j < result->n; j++) {
            bool above = false, below = false;
            for (size_t k = 0; k < costs; k++) {
                above = above || result->cost[j * costs + k] > result->cost[n * costs + k];
                below = below || result->cost[j * costs + k] < result->cost[n * costs + k];
            }
            if (!result->status[j] && result->violation[j] == 0 && !above && (below || j < n))
                return n; /* dominated, or a copy */
        }
    return n;
}

static void run(const run_info *r, run_result *result)
{
    ec_backend_info backend_info = {
        .name = "cpu", .threads = r->threads ? r->threads : 1, .isa = r->isa};
    ec_backend *backend = NULL;
    ec_optimizer *optimizer = NULL;
    size_t done = 0;

    memset(result, 0, sizeof *result);
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    create(r, backend, &optimizer);
    for (size_t g = 1; done < r->evaluations; g++) {
        generation(r, optimizer, r->evaluations - done, result);
        if (g == r->save_at)
            reload(r, backend, &optimizer);
        result->stats = *method()->stats(optimizer);
        done = result->stats.evaluations;
    }
    assert_int_equal(method()->elite(optimizer, MEMBERS_MAX, result->X, result->cost,
                                     result->violation, result->status, &result->n),
                     EC_OK);
    assert_int_equal(result->n, result->stats.population);
    result->n_front = count_front(result, r->problem->costs);
    method()->destroy(&optimizer);
    ec_backend_destroy(&backend);
}

/* ---- exact fronts ---- */

/* Points of the exact front, rows of costs. */
typedef struct front {
    double point[5000 * 3];
    size_t n;
} front;

/* Share of the exact front's hypervolume, within its range and a tenth more. */
static double volume_share(const front *exact, const double *cost, size_t n, size_t costs)
{
    double reference[3];

    for (size_t k = 0; k < costs; k++) {
        double min = INFINITY, max = -INFINITY;
        for (size_t i = 0; i < exact->n; i++) {
            min = fmin(min, exact->point[i * costs + k]);
            max = fmax(max, exact->point[i * costs + k]);
        }
        reference[k] = max + 0.1 * (max - min);
    }
    return ec_hypervolume(cost, n, (int32_t)costs, reference) /
           ec_hypervolume(exact->point, exact->n, (int32_t)costs, reference);
}

/* Mean distance from the exact front to the nearest member, over the front's ranges (IGD). */
static double mean_distance(const front *exact, const double *cost, size_t n, size_t costs)
{
    double sum = 0, range[3];

    for (size_t k = 0; k < costs; k++) {
        double min = INFINITY, max = -INFINITY;
        for (size_t i = 0; i < exact->n; i++) {
            min = fmin(min, exact->point[i * costs + k]);
            max = fmax(max, exact->point[i * costs + k]);
        }
        range[k] = max - min;
    }
    for (size_t i = 0; i < exact->n; i++) {
        double nearest = INFINITY;
        for (size_t j = 0; j < n; j++) {
            double d = 0;
            for (size_t k = 0; k < costs; k++)
                d += pow((exact->point[i * costs + k] - cost[j * costs + k]) / range[k], 2);
            nearest = fmin(nearest, sqrt(d));
        }
        sum += nearest / (double)exact->n;
    }
    return sum;
}

static void check_front(const char *name, const problem *p, const front *exact, size_t population,
                        size_t evaluations, double share_min, double distance_max)
{
    static run_result result;

    for (uint64_t seed = 1; seed <= 3; seed++) {
        run_info info = {
            .problem = p, .population = population, .evaluations = evaluations, .seed = seed};
        run(&info, &result);
        double share = volume_share(exact, result.cost, result.n_front, p->costs);
        double distance = mean_distance(exact, result.cost, result.n_front, p->costs);
        print_message("%s seed %d: %zu of %zu in the front, hypervolume %.5f, distance %.5f\n",
                      name, (int)seed, result.n_front, result.n, share, distance);
        assert_true(share >= share_min && share <= 1.002); /* the exact one is sampled */
        assert_true(distance <= distance_max);
        assert_int_equal(result.stats.evaluations, evaluations);
        assert_int_equal(result.stats.failed, 0);
    }
}

static problem unit_box(size_t genes, size_t costs)
{
    problem p = {.genes = genes, .costs = costs};

    for (size_t g = 0; g < genes; g++)
        p.upper[g] = 1;
    return p;
}

static double zdt_g(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 1; i < n; i++)
        sum += x[i];
    return 1 + 9 * sum / (double)(n - 1);
}

static void zdt1(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    double g = zdt_g(x, n);

    (void)violation;
    (void)status;
    cost[0] = x[0];
    cost[1] = g * (1 - sqrt(x[0] / g));
}

static void zdt2(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    double g = zdt_g(x, n);

    (void)violation;
    (void)status;
    cost[0] = x[0];
    cost[1] = g * (1 - x[0] / g * (x[0] / g));
}

static void zdt3(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    double g = zdt_g(x, n);

    (void)violation;
    (void)status;
    cost[0] = x[0];
    cost[1] = g * (1 - sqrt(x[0] / g) - x[0] / g * sin(10 * EC_PI * x[0]));
}

static void dtlz2(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    double g = 0;

    (void)violation;
    (void)status;
    for (size_t i = 2; i < n; i++)
        g += (x[i] - 0.5) * (x[i] - 0.5);
    cost[0] = (1 + g) * cos(x[0] * EC_PI / 2) * cos(x[1] * EC_PI / 2);
    cost[1] = (1 + g) * cos(x[0] * EC_PI / 2) * sin(x[1] * EC_PI / 2);
    cost[2] = (1 + g) * sin(x[0] * EC_PI / 2);
}

/* Drops the points that another dominates. */
static void keep_front(front *f, size_t costs)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->n; i++) {
        bool good = true;
        for (size_t j = 0; j < f->n && good; j++) {
            bool above = false, below = false;
            for (size_t k = 0; k < costs; k++) {
                above = above || f->point[j * costs + k] > f->point[i * costs + k];
                below = below || f->point[j * costs + k] < f->point[i * costs + k];
            }
            good = above || !below;
        }
        if (good) /* costs that are compared later lie behind */
            for (size_t k = 0; k < costs; k++)
                f->point[(f->n + 1 + kept) * costs + k] = f->point[i * costs + k];
        kept += good;
    }
    memmove(f->point, f->point + (f->n + 1) * costs, kept * costs * sizeof *f->point);
    f->n = kept;
}

static void zdt_fronts_are_found(void **state)
{
    static front exact;
    enum { N = 500 };

    (void)state;
    for (int which = 1; which <= 3; which++) {
        problem p = unit_box(30, 2);
        p.score = which == 1 ? zdt1 : which == 2 ? zdt2 : zdt3;
        double x[30] = {0}, none;
        uint8_t good;
        exact.n = N;
        for (size_t i = 0; i < N; i++) {
            x[0] = (double)i / (N - 1);
            p.score(x, 30, exact.point + 2 * i, &none, &good);
        }
        keep_front(&exact, 2);
        char name[8];
        snprintf(name, sizeof name, "ZDT%d", which);
        check_front(name, &p, &exact, 100, 25000, 0.985, 0.01);
    }
}

static void dtlz2_sphere_is_found(void **state)
{
    static front exact;
    enum { N = 32 };

    (void)state;
    problem p = unit_box(12, 3);
    p.score = dtlz2;
    double x[12] = {0}, none;
    uint8_t good;
    for (size_t i = 2; i < 12; i++)
        x[i] = 0.5;
    exact.n = N * N;
    for (size_t i = 0; i < N * N; i++) {
        x[0] = (double)(i / N) / (N - 1);
        x[1] = (double)(i % N) / (N - 1);
        dtlz2(x, 12, exact.point + 3 * i, &none, &good);
    }
    check_front("DTLZ2", &p, &exact, 200, 40000, 0.91, 0.06);
}

/* ---- constraints ---- */

static double above_zero(double x)
{
    return x > 0 ? x : 0;
}

static void bnh(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    (void)n;
    (void)status;
    cost[0] = 4 * x[0] * x[0] + 4 * x[1] * x[1];
    cost[1] = pow(x[0] - 5, 2) + pow(x[1] - 5, 2);
    *violation = above_zero(pow(x[0] - 5, 2) + x[1] * x[1] - 25) +
                 above_zero(7.7 - pow(x[0] - 8, 2) - pow(x[1] + 3, 2));
}

static void srn(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    (void)n;
    (void)status;
    cost[0] = pow(x[0] - 2, 2) + pow(x[1] - 1, 2) + 2;
    cost[1] = 9 * x[0] - pow(x[1] - 1, 2);
    *violation = above_zero(x[0] * x[0] + x[1] * x[1] - 225) + above_zero(x[0] - 3 * x[1] + 10);
}

static void tnk(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    (void)n;
    (void)status;
    cost[0] = x[0];
    cost[1] = x[1];
    *violation = above_zero(1 + 0.1 * cos(16 * atan2(x[0], x[1])) - x[0] * x[0] - x[1] * x[1]) +
                 above_zero(pow(x[0] - 0.5, 2) + pow(x[1] - 0.5, 2) - 0.5);
}

static void osy(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    double sum = 0;

    (void)status;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    cost[0] = -(25 * pow(x[0] - 2, 2) + pow(x[1] - 2, 2) + pow(x[2] - 1, 2) + pow(x[3] - 4, 2) +
                pow(x[4] - 1, 2));
    cost[1] = sum;
    *violation =
        (above_zero(2 - x[0] - x[1]) + above_zero(x[0] + x[1] - 6) + above_zero(x[1] - x[0] - 2) +
         above_zero(x[0] - 3 * x[1] - 2)) /
            6 +
        (above_zero(pow(x[2] - 3, 2) + x[3] - 4) + above_zero(4 - pow(x[4] - 3, 2) - x[5])) / 4;
}

/* Scores of a design on the exact front; those that are infeasible are left out. */
static void add_exact(front *f, const problem *p, const double *x)
{
    double violation = 0;
    uint8_t good;

    p->score(x, p->genes, f->point + p->costs * f->n, &violation, &good);
    f->n += violation < 1e-9;
}

static void constrained_fronts_are_found(void **state)
{
    static front exact;
    enum { N = 400 };

    (void)state;
    problem p = {.genes = 2, .costs = 2, .limits = true, .score = bnh, .upper = {5, 3}};
    exact.n = 0;
    for (int i = 0; i < N; i++) { /* x = y up to 3, then y = 3 */
        double x = 5.0 * i / (N - 1);
        add_exact(&exact, &p, (double[]){x, fmin(x, 3)});
    }
    check_front("BNH", &p, &exact, 100, 10000, 0.995, 0.01);

    p = (problem){.genes = 2, .costs = 2, .limits = true, .score = srn};
    for (int i = 0; i < 2; i++) {
        p.lower[i] = -20;
        p.upper[i] = 20;
    }
    exact.n = 0;
    for (int i = 0; i < N; i++) /* x = -2.5, y from 2.5 to the circle */
        add_exact(&exact, &p, (double[]){-2.5, 2.5 + (sqrt(225 - 6.25) - 2.5) * i / (N - 1)});
    check_front("SRN", &p, &exact, 100, 20000, 0.99, 0.01);

    p = (problem){.genes = 2, .costs = 2, .limits = true, .score = tnk, .upper = {EC_PI, EC_PI}};
    exact.n = 0;
    for (int i = 0; i < 2 * N; i++) { /* on the rim of the first constraint */
        double a = EC_PI / 2 * i / (2 * N - 1), r = sqrt(1 + 0.1 * cos(16 * a)) + 1e-12;
        add_exact(&exact, &p, (double[]){r * sin(a), r * cos(a)});
    }
    keep_front(&exact, 2);
    check_front("TNK", &p, &exact, 100, 25000, 0.98, 0.02);
}

static void osyczka_kundu_front_is_found(void **state)
{
    static front exact;
    enum { N = 200 };

    (void)state;
    problem p = {.genes = 6,
                 .costs = 2,
                 .limits = true,
                 .score = osy,
                 .lower = {0, 0, 1, 0, 1, 0},
                 .upper = {10, 10, 5, 6, 5, 10}};
    exact.n = 0;
    for (int i = 0; i < N; i++) { /* the five parts AB, BC, CD, DE, EF */
        double t = (double)i / (N - 1), x = 4.056 + 0.944 * t;
        add_exact(&exact, &p, (double[]){5, 1, 1 + 4 * t, 0, 5, 0});
        add_exact(&exact, &p, (double[]){5, 1, 1 + 4 * t, 0, 1, 0});
        add_exact(&exact, &p, (double[]){x, (x - 2) / 3, 1, 0, 1, 0});
        add_exact(&exact, &p, (double[]){0, 2, 1 + 2.732 * t, 0, 1, 0});
        add_exact(&exact, &p, (double[]){t, 2 - t, 1, 0, 1, 0});
    }
    keep_front(&exact, 2);
    check_front("OSY", &p, &exact, 100, 50000, 0.96, 0.05);
}

/* ---- failures, copies, integers ---- */

static void half_nan(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    zdt1(x, n, cost, violation, status);
    if (x[1] < 0.5)
        cost[1] = NAN;
    if (x[2] < 0.2)
        *status = EC_CANDIDATE_EVALUATOR;
    if (x[3] < 0.1)
        *violation = NAN;
}

static void no_failed_design_survives(void **state)
{
    static run_result result;
    problem p = unit_box(10, 2);

    (void)state;
    p.score = half_nan;
    p.limits = true;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        run_info info = {.problem = &p, .population = 40, .evaluations = 4000, .seed = seed};
        run(&info, &result);
        assert_true(result.stats.failed > 0);
        assert_int_equal(result.n, 40);
        for (size_t i = 0; i < result.n; i++) {
            assert_int_equal(result.status[i], 0);
            assert_true(isfinite(result.cost[2 * i]) && isfinite(result.cost[2 * i + 1]));
        }
        assert_true(result.n_front > 1);
    }
}

static void all_fail(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    (void)x;
    (void)n;
    (void)violation;
    (void)status;
    cost[0] = cost[1] = INFINITY;
}

static void nothing_is_best_when_all_fail(void **state)
{
    static run_result result;
    problem p = unit_box(3, 2);

    (void)state;
    p.score = all_fail;
    run_info info = {.problem = &p, .population = 5, .evaluations = 50, .seed = 1};
    run(&info, &result);
    assert_int_equal(result.stats.best_class, 2);
    assert_int_equal(result.stats.failed, 50);
    assert_int_equal(result.n_front, 0);
    assert_true(result.status[0] != 0);
}

/* Distance of the bits to all ones against that to all zeros: every number of ones is optimal. */
static void ones(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    (void)violation;
    (void)status;
    cost[0] = cost[1] = 0;
    for (size_t i = 0; i < n; i++)
        cost[x[i] >= 0.5 ? 0 : 1] += 1;
}

/* First and last half separately, so that designs off the front exist. */
static void two_halves(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    double zeros_left = 0, ones_right = 0, mixed = 0;

    (void)violation;
    (void)status;
    for (size_t i = 0; i < n / 2; i++) {
        zeros_left += x[i] < 0.5;
        ones_right += x[n / 2 + i] >= 0.5;
        mixed += (x[i] >= 0.5) != (x[n / 2 + i] >= 0.5);
    }
    cost[0] = zeros_left + 3 * mixed;
    cost[1] = ones_right + 3 * mixed;
}

static void integers(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    (void)n;
    (void)violation;
    (void)status;
    /* 2 (k - 20)^2 and 2 (k - 30)^2 with every variable at k; the front is k = 20 ... 30 */
    cost[0] = cost[1] = 0;
    for (size_t i = 0; i < n; i++) {
        double k = rint(x[i]);
        cost[0] += (k - 20) * (k - 20) + fabs(k - rint(x[0]));
        cost[1] += (k - 30) * (k - 30) + fabs(k - rint(x[0]));
    }
}

static void binary_and_integer_fronts_are_whole(void **state)
{
    static run_result result;
    problem p = unit_box(30, 2);

    (void)state;
    p.integral = true;
    p.score = ones;
    run_info info = {.problem = &p, .population = 60, .evaluations = 30000, .seed = 3};
    run(&info, &result);
    assert_int_equal(result.n_front, 31); /* each number of ones once */
    p.score = two_halves;
    run(&info, &result);
    assert_int_equal(result.n_front, 16);
    p = (problem){.genes = 2, .costs = 2, .integral = true, .score = integers};
    for (int i = 0; i < 2; i++) {
        p.lower[i] = -50.5;
        p.upper[i] = 50.5;
    }
    info.evaluations = 6000;
    run(&info, &result);
    size_t equal = 0;
    for (size_t i = 0; i < result.n_front; i++)
        equal += rint(result.X[2 * i]) == rint(result.X[2 * i + 1]);
    assert_int_equal(equal, 11);
}

/* Sums of the ones' places from either end, which together are 75 for every choice of five of 16; the
 * last gene wants 1/2. */
static void places(const double *x, size_t n, double *cost, double *violation, uint8_t *status)
{
    double last = (x[n - 1] - 0.5) * (x[n - 1] - 0.5);

    (void)violation;
    (void)status;
    cost[0] = cost[1] = last;
    for (size_t i = 0; i + 1 < n; i++) {
        if (!(x[i] > 0.5))
            continue;
        cost[0] += (double)i;
        cost[1] += (double)(n - 2 - i);
    }
}

static void sets_keep_their_ones(void **state)
{
    static run_result result, again;
    problem p = unit_box(17, 2);
    double start[17] = {[2] = 1, [7] = 1, [11] = 1, [12] = 0.4, [14] = 0.3, [16] = 0.5};

    (void)state;
    p.score = places;
    p.in_set = 16;
    p.ones = 5;
    run_info info = {.problem = &p, .population = 120, .evaluations = 24000, .seed = 5};
    info.start = start;
    info.n_start = 1;
    run(&info, &result);
    assert_true(result.n_front > 50); /* sums from 10 to 65 */
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < result.n_front; i++) {
        low = fmin(low, result.cost[2 * i]);
        high = fmax(high, result.cost[2 * i]);
        assert_true(result.cost[2 * i] + result.cost[2 * i + 1] < 75 + 1e-3);
    }
    assert_true(low < 10.001 && high > 64.999);
    info.threads = 3;
    info.save_at = 7;
    run(&info, &again);
    assert_true(again.path == result.path);
    /* the start's five largest are its ones */
    info.evaluations = 120;
    run(&info, &result);
    bool found = false;
    for (size_t i = 0; i < result.n; i++) {
        const double *x = result.X + 17 * i;
        found = found || (x[2] > 0.5 && x[7] > 0.5 && x[11] > 0.5 && x[12] > 0.5 && x[14] > 0.5 &&
                          x[16] == 0.5);
    }
    assert_true(found);
    for (uint32_t ones = 0; ones <= 16; ones += 16) { /* nothing to choose */
        p.ones = ones;
        run(&info, &result);
    }
}

static void one_objective(const double *x, size_t n, double *cost, double *violation,
                          uint8_t *status)
{
    (void)violation;
    (void)status;
    *cost = 0;
    for (size_t i = 0; i < n; i++)
        *cost += (x[i] - 0.3) * (x[i] - 0.3);
}

static void one_objective_is_an_elitist_search(void **state)
{
    static run_result result;
    problem p = unit_box(10, 1);

    (void)state;
    p.score = one_objective;
    run_info info = {.problem = &p, .population = 50, .evaluations = 20000, .seed = 1};
    run(&info, &result);
    assert_true(result.cost[0] < 1e-4);
    assert_true(result.stats.best_cost == result.cost[0]);
    for (size_t i = 1; i < result.n; i++)
        assert_true(result.cost[i] >= result.cost[i - 1] || result.cost[i] == result.cost[0]);
}

/* ---- determinism ---- */

static void bits_do_not_depend_on_threads(void **state)
{
    static run_result result, again;
    problem p = unit_box(12, 3);

    (void)state;
    p.score = dtlz2;
    run_info info = {.problem = &p, .population = 601, .evaluations = 6010, .seed = 9};
    run(&info, &result);
    for (int way = 0; way < 3; way++) {
        info.threads = way == 0 ? 3 : 1;
        info.isa = way == 1 ? "v1" : NULL;
        info.save_at = way == 2 ? 4 : 0;
        run(&info, &again);
        assert_true(result.path == again.path);
        assert_memory_equal(result.cost, again.cost, sizeof result.cost);
        assert_memory_equal(&result.stats, &again.stats, sizeof result.stats);
    }
    info.seed = 10;
    run(&info, &again);
    assert_true(result.path != again.path);
}

static void every_population_works(void **state)
{
    static run_result result;
    problem p = unit_box(4, 2);

    (void)state;
    p.score = zdt1;
    for (size_t population = 4; population <= 9; population++)
        for (size_t evaluations = 1; evaluations <= 40; evaluations += 3) {
            run_info info = {.problem = &p,
                             .population = population,
                             .evaluations = evaluations,
                             .seed = population};
            run(&info, &result);
            assert_int_equal(result.stats.evaluations, evaluations);
            assert_int_equal(result.n, evaluations < population ? evaluations : population);
            for (size_t i = 0; i < result.n; i++)
                assert_true(result.status[i] == 0);
        }
}

/* Equal bounds fix a gene; start designs are the first ones, moved into the bounds. */
static void start_designs_and_fixed_genes(void **state)
{
    static run_result result;
    static const double start[] = {0.25, 0.5, 0.125, 7, 0.5, NAN};
    problem p = unit_box(3, 2);

    (void)state;
    p.score = zdt1;
    p.lower[1] = p.upper[1] = 0.5;
    run_info info = {
        .problem = &p, .population = 4, .evaluations = 4, .seed = 1, .start = start, .n_start = 2};
    run(&info, &result);
    int seen = 0;
    for (size_t i = 0; i < result.n; i++) {
        const double *x = result.X + 3 * i;
        assert_true(x[1] == 0.5);
        seen += x[0] == 0.25 && x[2] == 0.125;
        seen += x[0] == 1 && x[2] == 0.5;
    }
    assert_int_equal(seen, 2);
    for (int g = 0; g < 3; g++)
        p.lower[g] = p.upper[g] = 0.5;
    info.n_start = 0;
    info.evaluations = 40;
    run(&info, &result); /* nothing can change */
    assert_int_equal(result.n_front, 1);
}

/* ---- bad input ---- */

static void bad_settings_are_refused(void **state)
{
    ec_backend_info backend_info = {.name = "cpu", .threads = 1};
    ec_backend *backend = NULL;
    ec_optimizer *optimizer = NULL;
    ec_gene gene = {.min = 0, .max = 1}, bad = {.min = 1, .max = 0};
    double options[] = {0.9, 15, 0, 20};

    (void)state;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    ec_optimizer_info good = {.genes = &gene, .n_genes = 1, .n_objectives = 2}, info = good;
    info.population = 3;
    assert_int_equal(method()->create(method(), backend, &info, &optimizer), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "population = 3 is too small"));
    info = good;
    info.genes = &bad;
    assert_int_equal(method()->create(method(), backend, &info, &optimizer), EC_ERR_RANGE);
    info = good;
    info.group_genes = &gene;
    info.n_group_genes = 1;
    assert_int_equal(method()->create(method(), backend, &info, &optimizer), EC_ERR_UNSUPPORTED);
    assert_non_null(strstr(ec_error_text(), "group variables"));
    info = good;
    info.options = options;
    options[1] = -1;
    assert_int_equal(method()->create(method(), backend, &info, &optimizer), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "crossover_eta = -1"));
    info = good;
    info.n_objectives = 17;
    assert_int_equal(method()->create(method(), backend, &info, &optimizer), EC_ERR_UNSUPPORTED);
    assert_null(optimizer);

    void *blob;
    size_t bytes;
    assert_int_equal(method()->create(method(), backend, &good, &optimizer), EC_OK);
    assert_int_equal(method()->save(optimizer, &blob, &bytes), EC_OK);
    assert_int_equal(method()->load(optimizer, blob, bytes - 1), EC_ERR_FORMAT);
    assert_int_equal(method()->load(optimizer, blob, bytes), EC_OK);
    method()->destroy(&optimizer);
    info = good;
    info.population = 50;
    assert_int_equal(method()->create(method(), backend, &info, &optimizer), EC_OK);
    assert_int_equal(method()->load(optimizer, blob, bytes), EC_ERR_FORMAT);
    ((char *)blob)[0] = 'x';
    assert_int_equal(method()->load(optimizer, blob, bytes), EC_ERR_FORMAT);
    free(blob);
    method()->destroy(&optimizer);
    ec_backend_destroy(&backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zdt_fronts_are_found),
        cmocka_unit_test(dtlz2_sphere_is_found),
        cmocka_unit_test(constrained_fronts_are_found),
        cmocka_unit_test(osyczka_kundu_front_is_found),
        cmocka_unit_test(no_failed_design_survives),
        cmocka_unit_test(nothing_is_best_when_all_fail),
        cmocka_unit_test(binary_and_integer_fronts_are_whole),
        cmocka_unit_test(sets_keep_their_ones),
        cmocka_unit_test(one_objective_is_an_elitist_search),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(every_population_works),
        cmocka_unit_test(start_designs_and_fixed_genes),
        cmocka_unit_test(bad_settings_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
