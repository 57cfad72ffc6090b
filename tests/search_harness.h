/* search_harness.h: runs a method on a plain C function, without a graph: for unit tests of
 * optimizers. Costs, violations and statuses come from the function; every proposed design is checked
 * against the bounds and goes into a hash. */
#ifndef EC_SEARCH_HARNESS_H
#define EC_SEARCH_HARNESS_H

#include "method_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEARCH_GENES_MAX = 128 };

typedef struct search_score {
    double cost, violation;
    uint8_t status;
} search_score;
typedef search_score search_function(const double *x, size_t n);

typedef struct search {
    const char *method;
    search_function *f;
    const ec_method_setting *settings; /* NULL: defaults */
    ec_optimizer_info info;            /* genes may be NULL: all within lower .. upper */
    double lower, upper;
    int threads; /* 0: 1 */
    const char *isa;
    size_t save_at; /* generation before which the state goes through save and load */
    double target;  /* hit counts the evaluations until a cost is not above it */
} search;

typedef struct search_result {
    ec_optimizer_stats stats;
    uint64_t path; /* hash over all designs in their order */
    double best[SEARCH_GENES_MAX];
    double cost, lowest; /* of the elite's first, and of all designs seen */
    size_t hit;          /* 0: never */
    size_t largest, found;
} search_result;

static inline void search_reload(ec_backend *backend, const ec_optimizer_info *info,
                                 ec_optimizer **optimizer)
{
    const ec_optimizer_def *def = (*optimizer)->def;
    void *blob;
    size_t bytes;

    assert_int_equal(def->save(*optimizer, &blob, &bytes), EC_OK);
    def->destroy(optimizer);
    assert_null(*optimizer);
    assert_int_equal(def->create(def, backend, info, optimizer), EC_OK);
    assert_int_equal(def->load(*optimizer, blob, bytes), EC_OK);
    free(blob);
}

typedef struct search_scores {
    double *cost, *violation;
    uint8_t *status;
} search_scores;

static inline void search_score_all(const search *s, const ec_optimizer_info *info,
                                    const ec_array *X, size_t n, search_scores *to,
                                    search_result *result)
{
    const double *data = (const double *)X->data;

    for (size_t c = 0; c < n; c++) {
        double x[SEARCH_GENES_MAX];
        for (size_t g = 0; g < info->n_genes; g++) {
            uint64_t bits;
            x[g] = data[g * X->ld + c];
            assert_true(x[g] >= info->genes[g].min && x[g] <= info->genes[g].max);
            memcpy(&bits, &x[g], sizeof bits);
            result->path = (result->path ^ bits ^ bits >> 32) * 0x100000001b3u;
        }
        search_score score = s->f(x, info->n_genes);
        to->cost[c] = score.cost;
        to->violation[c] = score.violation;
        to->status[c] = score.status;
        if (score.status == 0 && score.violation == 0 && score.cost < result->lowest)
            result->lowest = score.cost;
        if (result->hit == 0 && result->lowest <= s->target)
            result->hit = result->stats.evaluations + c + 1;
    }
    result->stats.evaluations += n;
}

/* Until a budget of s->info is used or the method has nothing left to try. */
static inline search_result search_run(const search *s)
{
    const ec_optimizer_def *def = ec_optimizer_find(s->method);
    ec_backend_info backend_info = {"cpu", s->threads ? s->threads : 1, s->isa, NULL};
    ec_optimizer_info info = s->info;
    ec_gene genes[SEARCH_GENES_MAX];
    double options[EC_METHOD_OPTIONS_MAX];
    ec_backend *backend;
    ec_optimizer *optimizer;
    search_result result = {.path = 0xcbf29ce484222325u, .lowest = INFINITY};
    size_t generation = 0;

    assert_non_null(def);
    assert_true(ec_method_options(def, s->settings, options));
    for (size_t g = 0; g < info.n_genes; g++)
        genes[g] = (ec_gene){.min = s->lower, .max = s->upper};
    info.genes = info.genes ? info.genes : genes;
    info.options = options;
    assert_int_equal(ec_backend_create(&backend_info, &backend), EC_OK);
    if (def->create(def, backend, &info, &optimizer) != EC_OK)
        fail_msg("%s: %s", s->method, ec_error_text());
    size_t room = ec_lane_ld(def->max_population(optimizer)), done = 0;
    search_scores scores = {(double *)calloc(room, sizeof(double)),
                            (double *)calloc(room, sizeof(double)), (uint8_t *)calloc(room, 1)};
    for (; (!info.generations || generation < info.generations) &&
           (!info.evaluations || done < info.evaluations);
         generation++) {
        ec_array X;
        size_t n;
        if (s->save_at && generation == s->save_at)
            search_reload(backend, &info, &optimizer);
        assert_int_equal(def->propose(optimizer, &X, NULL, NULL, &n), EC_OK);
        if (n == 0)
            break;
        assert_true(n <= def->max_population(optimizer));
        if (info.evaluations && n > info.evaluations - done)
            n = info.evaluations - done;
        search_score_all(s, &info, &X, n, &scores, &result);
        ec_scores given = {.cost = scores.cost,
                           .violation = scores.violation,
                           .status = scores.status,
                           .ld = room};
        assert_int_equal(def->take(optimizer, &given, n), EC_OK);
        done += n;
        result.largest = n > result.largest ? n : result.largest;
    }
    result.stats = *def->stats(optimizer);
    assert_int_equal(result.stats.evaluations, done);
    assert_int_equal(result.stats.generation, generation);
    assert_int_equal(def->elite(optimizer, 1, result.best, &result.cost, NULL, NULL, &result.found),
                     EC_OK);
    free(scores.cost);
    free(scores.violation);
    free(scores.status);
    def->destroy(&optimizer);
    ec_backend_destroy(&backend);
    return result;
}

/* ---- functions ---- */

static inline search_score search_sphere(const double *x, size_t n)
{
    search_score s = {0, 0, 0};

    for (size_t i = 0; i < n; i++)
        s.cost += (x[i] - 0.5) * (x[i] - 0.5);
    return s;
}

static inline search_score search_rosenbrock(const double *x, size_t n)
{
    search_score s = {0, 0, 0};

    for (size_t i = 0; i + 1 < n; i++) {
        double t = x[i + 1] - x[i] * x[i], u = 1 - x[i];
        s.cost += 100 * t * t + u * u;
    }
    return s;
}

/* Costs in multiples of 2^-20, where adding 100 is exact. */
static inline search_score search_dyadic(const double *x, size_t n)
{
    search_score s = search_rosenbrock(x, n);

    s.cost = floor(s.cost * 1048576.0) / 1048576.0;
    return s;
}

static inline search_score search_dyadic_100(const double *x, size_t n)
{
    search_score s = search_dyadic(x, n);

    s.cost += 100;
    return s;
}

static inline search_score search_half_nan(const double *x, size_t n)
{
    search_score s = search_sphere(x, n);

    s.cost = x[0] < 0 ? (double)NAN : s.cost;
    return s;
}

/* Everything wrong that there is, by the cell of the first gene; the optimum 0.01 lies on the limit
 * x0 >= 0.6. */
static inline search_score search_hostile(const double *x, size_t n)
{
    search_score s = search_sphere(x, n);

    if (x[0] < -3)
        s.cost = -INFINITY;
    else if (x[0] < -2)
        s.status = EC_CANDIDATE_EVALUATOR;
    else if (x[0] < -1)
        s.violation = NAN;
    else if (x[0] < 0)
        s.violation = INFINITY;
    else if (x[0] < 0.6)
        s.violation = 0.6 - x[0];
    return s;
}

static inline search_score search_nan(const double *x, size_t n)
{
    search_score s = {NAN, 0, 0};

    (void)x;
    (void)n;
    return s;
}

static inline search_score search_flat(const double *x, size_t n)
{
    search_score s = {1, 0, 0};

    (void)x;
    (void)n;
    return s;
}

/* The lowest corner of the box is the optimum of half of the genes; the others want 0.5. */
static inline search_score search_corner(const double *x, size_t n)
{
    search_score s = {0, 0, 0};

    for (size_t i = 0; i < n; i++)
        s.cost += i % 2 ? (x[i] - 0.5) * (x[i] - 0.5) : (double)(i + 1) * x[i];
    return s;
}

#endif
