/* backends_de.c: differential evolution gives the same bits on every backend.
 *
 * Scores are given: a hash of generation and candidate, with failures, NaN and violations among
 * them. For the same scores every proposed design, all statistics and at the end the whole state
 * are compared byte for byte with a run on the plain CPU (one thread, baseline ISA), once launched
 * eagerly and once replayed from captures where the backend has them. */
#include "backends.h"

#include "core/detmath.h"
#include "method_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GENERATIONS = 50, GROUP_GENES = 3 };

typedef struct de_setup {
    const char *method;
    size_t genes, population, groups, evaluations, generations;
    const ec_method_setting *settings;
    size_t n_start;
    int n_generations; /* to run */
    bool integral;
} de_setup;

static bool asks_for(const de_setup *setup, const char *key)
{
    for (const ec_method_setting *s = setup->settings; s && s->key; s++)
        if (strcmp(s->key, key) == 0)
            return true;
    return false;
}

/* ---- given scores ---- */

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* Costs fall by `slope` a generation, so that trials go on to succeed, and tie now and then. */
static void given_scores(uint32_t generation, size_t n, double slope, double *cost,
                         double *violation, uint8_t *status)
{
    for (uint32_t c = 0; c < n; c++) {
        uint32_t h = mix(generation * 0x9e3779b9u + mix(c + 1));
        uint32_t kind = h & 31u, value = mix(h);
        cost[c] = (double)(value >> 20) / 64.0 - slope * generation;
        violation[c] = kind >= 6 && kind < 14 ? (double)(value & 0xffu) / 16.0 : 0.0;
        status[c] = kind == 0 ? EC_CANDIDATE_EVALUATOR : 0;
        if (kind == 1)
            cost[c] = NAN;
        if (kind == 2)
            cost[c] = -INFINITY;
        if (kind == 3)
            violation[c] = NAN;
        if (kind == 4)
            cost[c] = -0.0;
        if (kind == 5)
            violation[c] = -1.0;
    }
}

/* ---- one optimizer with its scores on one backend ---- */

typedef struct de_run {
    ec_backend *backend;
    const ec_optimizer_def *def;
    ec_optimizer *optimizer;
    ec_gene *genes;
    double *start;
    void *cost, *violation, *status; /* on the backend */
    double *host_cost, *host_violation;
    uint8_t *host_status;
    size_t room;
    double slope;
    ec_array X, XG;
    size_t n;
} de_run;

static void de_run_close(de_run *run)
{
    if (run->optimizer)
        run->def->destroy(&run->optimizer);
    run->backend->ops->release(run->backend, run->cost);
    run->backend->ops->release(run->backend, run->violation);
    run->backend->ops->release(run->backend, run->status);
    free(run->host_cost);
    free(run->host_violation);
    free(run->host_status);
    free(run->genes);
    free(run->start);
}

static int de_run_open(de_run *run, const de_setup *setup, ec_backend *backend)
{
    size_t genes = setup->genes + GROUP_GENES;
    double options[EC_METHOD_OPTIONS_MAX];

    memset(run, 0, sizeof *run);
    run->backend = backend;
    run->def = ec_optimizer_find(setup->method);
    run->slope = asks_for(setup, "restart") ? 0.1 : 2; /* or some generations find nothing better */
    EC_CHECK(run->def != NULL, "no method %s", setup->method);
    run->genes = (ec_gene *)calloc(genes, sizeof *run->genes);
    run->start = (double *)calloc(setup->n_start * setup->genes + 1, sizeof *run->start);
    EC_CHECK(run->genes && run->start, "memory");
    for (size_t i = 0; i < genes; i++) {
        run->genes[i].min = -1.0 - (double)i / 7.0;
        run->genes[i].max = i % 5 == 4 ? run->genes[i].min : 3.0 / (double)(i + 1);
        if (setup->integral) {
            run->genes[i].min = -0.5;
            run->genes[i].max = i % 5 == 4 ? -0.5 : 0.5 + (double)(i % 4);
            run->genes[i].integral = true;
        }
    }
    for (size_t i = 0; i < setup->n_start * setup->genes; i++)
        run->start[i] = (double)(i % 11) / 3.0 - 2.0;
    ec_optimizer_info info;
    memset(&info, 0, sizeof info);
    info.genes = run->genes;
    info.n_genes = setup->genes;
    info.group_genes = setup->groups ? run->genes + setup->genes : NULL;
    info.n_group_genes = setup->groups ? GROUP_GENES : 0;
    info.groups = setup->groups;
    info.population = setup->population;
    info.seed = 0x123456789abcdefu;
    info.island = 3;
    info.evaluations = setup->evaluations;
    info.generations = setup->generations;
    EC_CHECK(ec_method_options(run->def, setup->settings, options), "options of %s", setup->method);
    info.options = options;
    info.start = run->start;
    info.n_start = setup->n_start;
    EC_CHECK_CALL(run->def->create(run->def, backend, &info, &run->optimizer));
    run->room = ec_lane_ld(run->def->max_population(run->optimizer));
    EC_CHECK_CALL(backend->ops->alloc(backend, run->room * sizeof(double), &run->cost));
    EC_CHECK_CALL(backend->ops->alloc(backend, run->room * sizeof(double), &run->violation));
    EC_CHECK_CALL(backend->ops->alloc(backend, run->room, &run->status));
    run->host_cost = (double *)malloc(run->room * sizeof(double));
    run->host_violation = (double *)malloc(run->room * sizeof(double));
    run->host_status = (uint8_t *)malloc(run->room);
    EC_CHECK(run->host_cost && run->host_violation && run->host_status, "memory");
    return 0;
}

/* Scores of the generation for a whole population; needed before a replay. */
static int de_run_scores(de_run *run, uint32_t generation)
{
    const ec_backend_ops *ops = run->backend->ops;

    given_scores(generation, run->room, run->slope, run->host_cost, run->host_violation,
                 run->host_status);
    EC_CHECK_CALL(ops->upload(run->backend, run->cost, run->host_cost, run->room * sizeof(double)));
    EC_CHECK_CALL(
        ops->upload(run->backend, run->violation, run->host_violation, run->room * sizeof(double)));
    EC_CHECK_CALL(ops->upload(run->backend, run->status, run->host_status, run->room));
    return 0;
}

/* Enqueues a generation; `cut` designs at its end count as not evaluated. */
static int de_run_enqueue(de_run *run, size_t cut)
{
    const int32_t *map;

    EC_CHECK_CALL(run->def->propose(run->optimizer, &run->X, &run->XG, &map, &run->n));
    EC_CHECK(run->n > cut && run->n <= run->room, "n = %zu", run->n);
    ec_scores scores = {.cost = (const double *)run->cost,
                        .violation = (const double *)run->violation,
                        .status = (const uint8_t *)run->status,
                        .ld = run->X.ld};
    EC_CHECK_CALL(run->def->take(run->optimizer, &scores, run->n - cut));
    return 0;
}

/* Rows of lanes [0, n) of a proposed array, in host memory. */
static int fetch(ec_backend *backend, const ec_array *array, size_t n, double *to)
{
    for (size_t g = 0; g < array->elements; g++)
        EC_CHECK_CALL(backend->ops->download(
            backend, to + g * n, (const double *)array->data + g * array->ld, n * sizeof(double)));
    return 0;
}

static int compare_arrays(const char *what, uint32_t generation, const de_run *run,
                          const ec_array *got_array, const de_run *plain,
                          const ec_array *want_array, size_t n)
{
    size_t count = n * want_array->elements;
    double *got = (double *)malloc((count + 1) * sizeof *got);
    double *want = (double *)malloc((count + 1) * sizeof *want);
    int failed = !got || !want || fetch(run->backend, got_array, n, got) ||
                 fetch(plain->backend, want_array, n, want);

    for (size_t i = 0; i < count && !failed; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0) {
            printf("%s: generation %u, %s of candidate %zu, gene %zu: %.17g, not %.17g\n",
                   run->def->name, generation, what, i % n, i / n, got[i], want[i]);
            failed = 1;
        }
    free(got);
    free(want);
    return failed;
}

static int compare_stats(uint32_t generation, const de_run *run, const de_run *plain)
{
    ec_optimizer_stats got, want;

    EC_CHECK_CALL(run->backend->ops->download(run->backend, &got, run->def->stats(run->optimizer),
                                              sizeof got));
    EC_CHECK_CALL(plain->backend->ops->download(plain->backend, &want,
                                                plain->def->stats(plain->optimizer), sizeof want));
    EC_CHECK(memcmp(&got, &want, sizeof got) == 0,
             "%s, generation %u: best %.17g/%.17g (not %.17g/%.17g), spread %.17g (%.17g), failed "
             "%llu (%llu), population %u (%u), feasible %u (%u), evaluations %llu (%llu)",
             run->def->name, generation, got.best_cost, got.best_violation, want.best_cost,
             want.best_violation, got.spread, want.spread, (unsigned long long)got.failed,
             (unsigned long long)want.failed, got.population, want.population, got.feasible,
             want.feasible, (unsigned long long)got.evaluations,
             (unsigned long long)want.evaluations);
    return 0;
}

static int compare_states(de_run *run, de_run *plain)
{
    void *got = NULL, *want = NULL;
    size_t got_bytes, want_bytes, at = 0;

    EC_CHECK_CALL(run->def->save(run->optimizer, &got, &got_bytes));
    EC_CHECK_CALL(plain->def->save(plain->optimizer, &want, &want_bytes));
    bool same = got_bytes == want_bytes && memcmp(got, want, got_bytes) == 0;
    while (!same && at < got_bytes && at < want_bytes &&
           ((const char *)got)[at] == ((const char *)want)[at])
        at++;
    /* what one backend saved, another one loads */
    int loaded = run->def->load(run->optimizer, want, want_bytes);
    free(got);
    free(want);
    EC_CHECK(same, "%s: saved states differ from byte %zu on", run->def->name, at);
    EC_CHECK(loaded == EC_OK, "%s", ec_error_text());
    return 0;
}

/* ---- generations, eager or replayed ---- */

typedef struct recordings {
    ec_capture *capture[64];
    size_t lanes[64];
    int count, replays;
} recordings;

static int replay_generation(de_run *run, recordings *r)
{
    ec_backend *backend = run->backend;
    size_t lanes = ec_lane_ld(run->n);
    int found = 0;

    while (found < r->count && r->lanes[found] != lanes)
        found++;
    if (found < r->count) {
        run->n = run->def->replayed(run->optimizer);
    } else {
        EC_CHECK(r->count < 64, "too many recordings");
        EC_CHECK_CALL(backend->ops->capture_begin(backend));
        int failed = de_run_enqueue(run, 0);
        EC_CHECK_CALL(backend->ops->capture_end(backend, &r->capture[r->count]));
        r->lanes[r->count++] = lanes;
        if (failed)
            return 1;
    }
    EC_CHECK_CALL(backend->ops->replay(backend, r->capture[found]));
    r->replays++;
    return 0;
}

static int run_generations(const de_setup *setup, de_run *run, de_run *plain, recordings *r)
{
    for (uint32_t g = 0; g < (uint32_t)setup->n_generations; g++) {
        size_t cut = g + 1 == (uint32_t)setup->n_generations ? 3 : 0;
        bool replay =
            r && g > 0 && cut == 0 && run->def->capturable && run->def->capturable(run->optimizer);
        if (de_run_scores(run, g) || de_run_scores(plain, g) || de_run_enqueue(plain, cut))
            return 1;
        if (replay ? replay_generation(run, r) : de_run_enqueue(run, cut))
            return 1;
        EC_CHECK(run->n == plain->n, "%s, generation %u: n = %zu, not %zu", run->def->name, g,
                 run->n, plain->n);
        if (compare_arrays("design", g, run, &run->X, plain, &plain->X, plain->n) ||
            compare_stats(g, run, plain))
            return 1;
        if (setup->groups &&
            compare_arrays("group vector", g, run, &run->XG, plain, &plain->XG, setup->groups))
            return 1;
    }
    /* a population that loses more than a bucket each generation is never replayed */
    EC_CHECK(!r || r->replays > 0 || setup->population > 5000 || !run->def->capturable,
             "%s: no generation was replayed", run->def->name);
    uint32_t restarts = plain->def->stats(plain->optimizer)->restarts;
    EC_CHECK(restarts > 0 || !asks_for(setup, "restart"), "%s: no population was drawn anew",
             setup->method);
    return compare_states(run, plain);
}

static int run_both(const de_setup *setup, ec_backend *backend, ec_backend *cpu, recordings *r)
{
    de_run run, plain;

    int failed = de_run_open(&run, setup, backend);
    failed = de_run_open(&plain, setup, cpu) || failed;
    failed = failed || run_generations(setup, &run, &plain, r);
    for (int i = 0; r && i < r->count; i++)
        backend->ops->capture_destroy(backend, &r->capture[i]);
    de_run_close(&run);
    de_run_close(&plain);
    return failed;
}

static int same_bits(ec_backend *backend, const de_setup *setup)
{
    ec_backend_info info = {"cpu", 1, "v1", NULL};
    recordings r;
    ec_backend *cpu;

#if !defined(__x86_64__)
    info.isa = NULL;
#endif
    memset(&r, 0, sizeof r);
    EC_CHECK_CALL(ec_backend_create(&info, &cpu));
    int failed = run_both(setup, backend, cpu, NULL);
    if (!failed && backend->ops->capture_begin)
        failed = run_both(setup, backend, cpu, &r);
    ec_backend_destroy(&cpu);
    return failed;
}

/* ---- cases ---- */

static int case_rand1bin(ec_backend *backend)
{
    de_setup setup = {"rand1bin", 30, 1003, 0, 0, 0, NULL, 5, GENERATIONS, false};
    return same_bits(backend, &setup);
}

static int case_best1bin(ec_backend *backend)
{
    de_setup setup = {"best1bin", 7, 100, 0, 0, 0, NULL, 0, GENERATIONS, false};
    return same_bits(backend, &setup);
}

static int case_jde(ec_backend *backend)
{
    de_setup setup = {"jde", 41, 96, 0, 0, 0, NULL, 200, GENERATIONS, false};
    return same_bits(backend, &setup);
}

/* Other methods under the same scores: ACO_R's kernels, and CMA-ES, whose state lies on the host. */
static int case_acor(ec_backend *backend)
{
    const ec_method_setting small[] = {{"archive", 7}, {"q", 1}, {NULL, 0}};
    de_setup setup = {"acor", 30, 200, 0, 0, 0, NULL, 5, GENERATIONS, false};

    if (same_bits(backend, &setup))
        return 1;
    de_setup few = {"acor", 41, 5, 0, 0, 0, small, 2, GENERATIONS, false};
    return same_bits(backend, &few);
}

static int case_cmaes(ec_backend *backend)
{
    de_setup setup = {"cmaes", 30, 200, 0, 0, 0, NULL, 5, GENERATIONS, false};
    return same_bits(backend, &setup);
}

static int case_current_to_pbest(ec_backend *backend)
{
    de_setup setup = {"current_to_pbest", 12, 333, 0, 0, 0, NULL, 2, GENERATIONS, false};
    return same_bits(backend, &setup);
}

static int case_lshade(ec_backend *backend)
{
    de_setup setup = {"lshade", 32, 512, 0, 0, 2 * GENERATIONS, NULL, 2, GENERATIONS, false};
    return same_bits(backend, &setup);
}

/* Down to four members, counted in evaluations. */
static int case_lshade_to_four(ec_backend *backend)
{
    de_setup setup = {"lshade", 5, 90, 0, 2200, 0, NULL, 0, 44, false};
    return same_bits(backend, &setup);
}

/* More members than one block sorts. */
static int case_lshade_large(ec_backend *backend)
{
    de_setup setup = {"lshade", 6, 10000, 0, 0, 9, NULL, 0, 8, false};
    return same_bits(backend, &setup);
}

static int case_pbest_large(ec_backend *backend)
{
    de_setup setup = {"current_to_pbest", 3, 2500, 0, 0, 0, NULL, 0, 6, false};
    return same_bits(backend, &setup);
}

/* An archive that overflows at once, and one that is absent. */
static int case_archive_sizes(ec_backend *backend)
{
    const ec_method_setting small[] = {{"p", 0.2}, {"archive", 0.1}, {"bounds", 1}, {NULL, 0}};
    const ec_method_setting none[] = {{"p", 0.2}, {"archive", 0}, {"bounds", 2}, {NULL, 0}};
    de_setup setup = {"current_to_pbest", 9, 200, 0, 0, 0, small, 0, GENERATIONS, false};

    if (same_bits(backend, &setup))
        return 1;
    setup.settings = none;
    return same_bits(backend, &setup);
}

static int case_bounds(ec_backend *backend)
{
    for (int rule = 0; rule < 3; rule++) {
        const ec_method_setting settings[] = {{"F", 1.3}, {"CR", 0.8}, {"bounds", rule}, {NULL, 0}};
        de_setup setup = {"rand1bin", 10, 64, 0, 0, 0, settings, 0, GENERATIONS, false};
        if (same_bits(backend, &setup))
            return 1;
    }
    return 0;
}

static int case_groups(ec_backend *backend)
{
    de_setup setup = {"rand1bin", 4, 205, 10, 0, 0, NULL, 3, GENERATIONS, false};
    return same_bits(backend, &setup);
}

/* Everything at once: migrants, populations drawn anew, opposite points, start designs. */
static int islands_of(ec_backend *backend, const char *method, size_t genes, size_t population,
                      size_t evaluations, double islands)
{
    const ec_method_setting settings[] = {{"islands", islands}, {"migrate", 3},
                                          {"restart", 2},       {"restart_spread", 0.3},
                                          {"opposition", 1},    {NULL, 0}};
    de_setup setup = {method, genes,    population, 0,           evaluations,
                      0,      settings, 50,         GENERATIONS, false};

    return same_bits(backend, &setup);
}

static int case_islands(ec_backend *backend)
{
    return islands_of(backend, "rand1bin", 9, 21, 0, 5) ||
           islands_of(backend, "best1bin", 6, 77, 0, 3) ||
           islands_of(backend, "jde", 40, 33, 0, 2) ||
           islands_of(backend, "current_to_pbest", 5, 40, 0, 7) ||
           islands_of(backend, "lshade", 11, 60, 5000, 3) ||
           islands_of(backend, "lshade", 4, 24, 0, 1);
}

/* More members than one block sorts, on each of them. */
static int case_islands_large(ec_backend *backend)
{
    const ec_method_setting settings[] = {{"islands", 3}, {"migrate", 2}, {NULL, 0}};
    de_setup setup = {"lshade", 3, 5003, 0, 0, 9, settings, 0, 8, false};

    return same_bits(backend, &setup);
}

/* All genes integral, with two to five values. */
static int case_integral(ec_backend *backend)
{
    de_setup rand1bin = {"rand1bin", 13, 40, 0, 0, 0, NULL, 0, GENERATIONS, true};
    de_setup lshade = {"lshade", 7, 50, 0, 3000, 0, NULL, 3, GENERATIONS, true};
    de_setup groups = {"rand1bin", 3, 60, 5, 0, 0, NULL, 0, GENERATIONS, true};

    return same_bits(backend, &rand1bin) || same_bits(backend, &lshade) ||
           same_bits(backend, &groups);
}

/* More genes than one block of threads has columns. */
static int case_many_genes(ec_backend *backend)
{
    de_setup setup = {"jde", 1100, 40, 0, 0, 0, NULL, 0, 8, false};
    return same_bits(backend, &setup);
}

const ec_case ec_cases_de[] = {
    {"de/rand1bin", case_rand1bin},
    {"de/best1bin", case_best1bin},
    {"de/jde", case_jde},
    {"de/current_to_pbest", case_current_to_pbest},
    {"acor/bits", case_acor},
    {"cmaes/bits", case_cmaes},
    {"de/lshade", case_lshade},
    {"de/lshade_to_four", case_lshade_to_four},
    {"de/lshade_large", case_lshade_large},
    {"de/pbest_large", case_pbest_large},
    {"de/archive_sizes", case_archive_sizes},
    {"de/bounds", case_bounds},
    {"de/groups", case_groups},
    {"de/islands", case_islands},
    {"de/islands_large", case_islands_large},
    {"de/integral", case_integral},
    {"de/many_genes", case_many_genes},
    {NULL, NULL},
};
