/* flip.c: iterated local search on the binary, integer and choice genes of several designs at once.
 *
 * Each design climbs by itself: its neighbours (flip_moves.h) are scored in a random order, a batch at
 * a time, at search fidelity; it moves to the best one of the first batch that has a better one. Where
 * no neighbour is better, the point is scored at final fidelity, takes the place of the design if it
 * is better there, and a few random moves from the design begin the next climb (Lourenco, Martin and
 * Stuetzle, "Iterated local search", Handbook of Metaheuristics, 2003). The batches of all designs go
 * to the backend as one.
 *
 * Small batches and small kicks are measured choices. Thinned arrays of 200 elements, 3 million
 * evaluations of one design, the level on 800 directions: -23.33 dB on average with batches of 64 and two
 * random moves on average; -23.28 with batches of 256 and four moves; -23.2 with whole neighbourhoods.
 * A GPU scores a larger batch in the same time.
 */
#include "flip_moves.h"
#include "optimizers/host_population.h"
#include "polish.h"
#include "random.h"
#include "score_internal.h"
#include "wall_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 64, /* neighbours of a design that are scored at a time */
    BATCH_CUDA = 512,
    KICK_MAX = 32, /* moves of a kick */
    ORDER = 0xf0,  /* purposes of random numbers */
    KICK = 0xf1
};
static const double tell_seconds = 2; /* between two lines of the log */

/* ---- scores of a batch ---- */

typedef struct scorer {
    ec_backend *backend;
    ec_executor *executor;
    ec_host_population X, XG; /* genes; group genes, of which every design brings its own */
    int32_t *map;
    uint8_t *status;
    size_t n_genes, n_group;
    bool violations;
} scorer;

static void scorer_release(scorer *s)
{
    if (!s->backend)
        return;
    ec_executor_destroy(&s->executor);
    ec_host_population_release(&s->X);
    ec_host_population_release(&s->XG);
    s->backend->ops->release(s->backend, s->map);
    s->backend->ops->release(s->backend, s->status);
}

/* Candidate i is the only one of group i. */
static int create_groups(scorer *s, size_t capacity)
{
    ec_optimizer_info info = {.n_genes = s->n_group};
    size_t lanes = ec_lane_ld(capacity);
    int32_t *identity = (int32_t *)malloc(sizeof *identity * lanes);

    if (!identity)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    for (size_t i = 0; i < lanes; i++)
        identity[i] = (int32_t)(i < capacity ? i : capacity - 1);
    int status = ec_host_population_create(&s->XG, s->backend, &info, capacity);
    if (status == EC_OK)
        status = s->backend->ops->alloc(s->backend, sizeof *s->map * lanes, (void **)&s->map);
    if (status == EC_OK)
        status = s->backend->ops->upload(s->backend, s->map, identity, sizeof *s->map * lanes);
    free(identity);
    return status;
}

static int scorer_create(scorer *s, ec_job *job, ec_backend *backend, const ec_polish_info *info,
                         ec_fidelity fidelity, size_t capacity, const ec_interrupt *interrupt)
{
    ec_expr outputs[2] = {ec_job_cost(job, 0), job->n_constraints > 0 ? ec_job_violation(job) : 0};
    ec_optimizer_info genes = {.n_genes = (size_t)job->n_genes};
    ec_executor_info executor = {
        .outputs = outputs,
        .n_outputs = job->n_constraints > 0 ? 2 : 1,
        .max_candidates = capacity,
        .max_groups = job->n_group_genes > 0 ? capacity : 0,
        .fidelity = fidelity,
        .memory_budget = info->memory_budget,
        .interrupt = interrupt,
    };

    s->backend = backend;
    s->n_genes = genes.n_genes;
    s->n_group = (size_t)job->n_group_genes;
    s->violations = executor.n_outputs > 1;
    for (int32_t i = 0; i < executor.n_outputs; i++)
        if (outputs[i] < 0)
            return outputs[i];
    int status = ec_executor_create(job->graph, backend, &executor, &s->executor);
    if (status == EC_OK)
        status = ec_host_population_create(&s->X, backend, &genes, capacity);
    if (status == EC_OK && s->n_group > 0)
        status = create_groups(s, capacity);
    if (status == EC_OK)
        status = backend->ops->alloc(backend, ec_lane_ld(capacity), (void **)&s->status);
    return status;
}

/* A row of genes, group genes behind, as candidates [first, first + count). */
static void place(scorer *s, size_t first, size_t count, const double *row)
{
    for (size_t g = 0; g < s->n_genes; g++)
        for (size_t c = first; c < first + count; c++)
            s->X.X[g * s->X.ld + c] = row[g];
    for (size_t g = 0; g < s->n_group; g++)
        for (size_t c = first; c < first + count; c++)
            s->XG.X[g * s->XG.ld + c] = row[s->n_genes + g];
}

/* Genes [gene, gene + count) of one candidate. */
static void place_genes(scorer *s, size_t candidate, size_t gene, size_t count, const double *genes)
{
    for (size_t g = gene; g < gene + count; g++)
        if (g < s->n_genes)
            s->X.X[g * s->X.ld + candidate] = genes[g - gene];
        else
            s->XG.X[(g - s->n_genes) * s->XG.ld + candidate] = genes[g - gene];
}

/* Scores the first n candidates. */
static int score(scorer *s, size_t n, ec_score *scores)
{
    ec_array X, XG;
    bool stopped;

    int status = ec_host_population_propose(&s->X, n, &X);
    if (status == EC_OK && s->n_group > 0)
        status = ec_host_population_propose(&s->XG, n, &XG);
    if (status != EC_OK)
        return status;
    if (s->n_group > 0)
        XG.axes = EC_AXIS_GROUP;
    status = ec_executor_run(s->executor, &X, s->n_group > 0 ? &XG : NULL, s->map, s->status, n,
                             s->n_group > 0 ? n : 0);
    if (status != EC_OK)
        return status;
    const ec_array *cost = ec_executor_output(s->executor, 0);
    ec_scores given = {.cost = (const double *)cost->data, .status = s->status, .ld = cost->ld};
    if (s->violations)
        given.violation = (const double *)ec_executor_output(s->executor, 1)->data;
    status = ec_host_population_fetch(&s->X, &given, n, &stopped);
    for (size_t i = 0; i < n && status == EC_OK; i++)
        scores[i] = (ec_score){s->X.cost[i], s->violations ? s->X.violation[i] : 0, s->X.status[i]};
    return status;
}

/* ---- the designs ---- */

typedef enum climb_phase {
    CLIMBING,
    ON_TOP, /* no neighbour is better, or the evaluations are used: to be scored at final */
    ENDED
} climb_phase;

typedef struct climb {
    climb_phase phase;
    double *best, *values; /* of the design, and of the point that climbs */
    double *genes;         /* of the point */
    ec_score best_score;   /* at final */
    ec_score score;        /* of the point at search, once it is known */
    bool scored;
    uint64_t *count, neighbours, tried; /* of the point */
    uint32_t key[4];                    /* of the order in which they are tried */
    uint32_t pass; /* orders and kicks so far: the random numbers' generation */
    int32_t evaluations;
    size_t first, lanes; /* of the batch */
} climb;

typedef struct flip {
    ec_job *job;
    const ec_polish_info *info;
    ec_flip_space space;
    climb *climbs;
    int32_t n, most; /* evaluations of a design */
    size_t batch;
    scorer search, final;
    ec_score *scores;
    double *trial_values, *trial_genes;
    double start, deadline, told;
} flip;

static bool is_interrupted(void *user)
{
    const flip *f = (const flip *)user;

    return f->info->interrupt && *f->info->interrupt;
}

static bool is_ended(void *user)
{
    const flip *f = (const flip *)user;

    return is_interrupted(user) || ec_wall_seconds() >= f->deadline;
}

static ec_random_stream stream(const flip *f, const climb *c, uint32_t purpose)
{
    return ec_random_make(f->info->seed, c->pass, purpose, f->info->round);
}

static uint64_t below(const uint32_t words[2], uint64_t n)
{
    uint64_t k = (uint64_t)(ec_uniform_53(words[0], words[1]) * (double)n);

    return k < n ? k : n - 1;
}

/* Place k in a random order of 0 .. n - 1, which no list holds: a Feistel network permutes the numbers of
 * an even number of bits, in which n lie; those beyond n are walked on from (Black and Rogaway 2002). */
static uint64_t shuffled(const uint32_t key[4], uint64_t n, uint64_t k)
{
    int half = 1;

    while (n > (uint64_t)1 << (2 * half))
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = k >> half, right = k & mask;
        for (int round = 0; round < 4; round++) {
            uint64_t mixed = (right + key[round]) * 0x9E3779B97F4A7C15u;
            uint64_t next = left ^ ((mixed ^ mixed >> 32) * 0xD2511F53u >> 24 & mask);
            left = right;
            right = next;
        }
        k = left << half | right;
    } while (k >= n);
    return k;
}

/* From here the neighbours of the point are tried, all of them unless a better one is found. */
static void begin_pass(const flip *f, climb *c)
{
    ec_random_stream random = stream(f, c, ORDER);

    c->neighbours = ec_flip_count(&f->space, c->values, true, c->count);
    c->tried = 0;
    ec_random_words(&random, 0, (uint32_t)(c - f->climbs), c->key);
    c->pass++;
}

/* The neighbour that is tried as number k. */
static ec_flip_move neighbour(const flip *f, const climb *c, uint64_t k)
{
    return ec_flip_find(&f->space, c->values, c->count, shuffled(c->key, c->neighbours, k));
}

/* Back to the design, and some random moves away from it: one, two with the probability 1/2, three
 * with 1/4 ... Most moves of many bits are swaps; every fourth kick has none, so that it may also turn
 * several zeros into ones. */
static void kick(const flip *f, climb *c)
{
    ec_random_stream random = stream(f, c, KICK);
    uint32_t words[4], candidate = (uint32_t)(c - f->climbs);
    int moves = 1;

    memcpy(c->values, c->best, sizeof *c->values * f->space.n_values);
    ec_flip_encode(&f->space, c->values, c->genes);
    ec_random_words(&random, 0, candidate, words);
    while (moves < KICK_MAX && words[0] >> (moves - 1) & 1)
        moves++;
    bool swaps = words[1] % 4 > 0;
    for (int i = 1; i <= moves; i++) {
        uint64_t n = ec_flip_count(&f->space, c->values, swaps, c->count);
        ec_random_words(&random, (uint32_t)i, candidate, words);
        ec_flip_move move = ec_flip_find(&f->space, c->values, c->count, below(words, n));
        ec_flip_apply(&f->space, &move, c->values, c->genes);
    }
    c->scored = false;
    c->phase = CLIMBING;
    begin_pass(f, c);
}

/* Puts a design's next batch behind the first `first` candidates: the point itself while it has no
 * score, then neighbours. */
static void place_batch(flip *f, climb *c, size_t first)
{
    uint64_t left = c->neighbours - c->tried, own = c->scored ? 0 : 1;
    int32_t budget = f->most - c->evaluations - 1; /* one is kept for the score at final */
    size_t lanes = f->batch;

    lanes = left + own < lanes ? (size_t)(left + own) : lanes;
    lanes = budget < (int64_t)lanes ? (size_t)(budget > 0 ? budget : 0) : lanes;
    c->first = first;
    c->lanes = lanes;
    place(&f->search, first, lanes, c->genes);
    for (size_t i = (size_t)own; i < lanes; i++) {
        ec_flip_move move = neighbour(f, c, c->tried + i - own);
        const ec_flip_variable *variable = &f->space.variables[move.variable];
        memcpy(f->trial_values, c->values, sizeof *c->values * f->space.n_values);
        ec_flip_apply(&f->space, &move, f->trial_values, f->trial_genes);
        place_genes(&f->search, first + i, variable->gene,
                    (size_t)variable->entry->variable.n_genes, f->trial_genes + variable->gene);
    }
}

/* Moves the point to the best neighbour of its batch, if that is better. */
static void take_batch(const flip *f, climb *c)
{
    const ec_score *scores = f->scores + c->first;
    size_t own = c->scored ? 0 : 1, best = c->lanes;

    c->evaluations += (int32_t)c->lanes;
    if (c->lanes == 0) {
        c->phase = ON_TOP;
        return;
    }
    if (own)
        c->score = scores[0];
    c->scored = true;
    for (size_t i = own; i < c->lanes; i++)
        if (ec_score_better(&scores[i], best < c->lanes ? &scores[best] : &c->score))
            best = i;
    if (best < c->lanes) {
        ec_flip_move move = neighbour(f, c, c->tried + best - own);
        ec_flip_apply(&f->space, &move, c->values, c->genes);
        c->score = scores[best];
        begin_pass(f, c);
    } else {
        c->tried += c->lanes - own;
    }
    if (c->tried == c->neighbours || f->most - c->evaluations <= 1)
        c->phase = ON_TOP;
}

/* Scores those that are on top at final fidelity; a better one replaces its design. */
static int judge(flip *f)
{
    size_t n = 0;

    for (int32_t i = 0; i < f->n; i++)
        if (f->climbs[i].phase == ON_TOP)
            place(&f->final, n++, 1, f->climbs[i].genes);
    int status = n > 0 ? score(&f->final, n, f->scores) : EC_OK;
    if (status != EC_OK)
        return status;
    n = 0;
    for (int32_t i = 0; i < f->n; i++) {
        climb *c = &f->climbs[i];
        if (c->phase != ON_TOP)
            continue;
        if (ec_score_better(&f->scores[n], &c->best_score)) {
            c->best_score = f->scores[n];
            memcpy(c->best, c->values, sizeof *c->best * f->space.n_values);
        }
        n++;
        c->evaluations++;
        c->phase = ENDED;
    }
    return EC_OK;
}

/* ---- the search ---- */

static void tell(flip *f)
{
    const climb *best = &f->climbs[0];
    uint64_t evaluations = 0;
    double t = ec_wall_seconds();

    if (t - f->told < tell_seconds)
        return;
    f->told = t;
    for (int32_t i = 0; i < f->n; i++) {
        const climb *c = &f->climbs[i];
        evaluations += (uint64_t)c->evaluations;
        if (ec_score_better(&c->best_score, &best->best_score))
            best = c;
    }
    ec_log_write(f->info->log, EC_LOG_INFO,
                 "polish: local search, %llu evaluations, best %.8g%s, %.0f s",
                 (unsigned long long)evaluations,
                 f->job->objectives[0].maximize ? -best->best_score.cost : best->best_score.cost,
                 ec_score_class(&best->best_score) == 1 ? " (infeasible)" : "", t - f->start);
}

/* One batch of every design that climbs; *n is the number of candidates. */
static int step(flip *f, size_t *n)
{
    *n = 0;
    for (int32_t i = 0; i < f->n; i++) {
        climb *c = &f->climbs[i];
        if (c->phase != CLIMBING)
            continue;
        place_batch(f, c, *n);
        *n += c->lanes;
    }
    int status = *n > 0 ? score(&f->search, *n, f->scores) : EC_OK;
    for (int32_t i = 0; i < f->n && status == EC_OK; i++)
        if (f->climbs[i].phase == CLIMBING)
            take_batch(f, &f->climbs[i]);
    return status;
}

static void begin_climbs(flip *f)
{
    for (int32_t i = 0; i < f->n; i++) {
        climb *c = &f->climbs[i];
        if (c->phase == ENDED && c->evaluations < f->most && c->neighbours > 0)
            kick(f, c);
    }
}

static int run(flip *f)
{
    size_t n = 1;
    int status = EC_OK;

    /* The designs as they are, at final. */
    for (int32_t i = 0; i < f->n; i++)
        f->climbs[i].phase = ON_TOP;
    status = judge(f);
    for (int32_t i = 0; i < f->n && status == EC_OK; i++) {
        climb *c = &f->climbs[i];
        begin_pass(f, c);
        c->phase = c->neighbours > 0 ? CLIMBING : ENDED;
    }
    while (status == EC_OK && n > 0) {
        status = is_ended(f) ? EC_STOPPED : step(f, &n);
        if (status == EC_OK)
            status = judge(f);
        if (status == EC_OK)
            begin_climbs(f);
        tell(f);
    }
    if (status != EC_STOPPED || is_interrupted(f))
        return status;
    /* Out of time: what was reached on the way up counts as well. */
    for (int32_t i = 0; i < f->n; i++)
        if (f->climbs[i].phase == CLIMBING && f->climbs[i].scored)
            f->climbs[i].phase = ON_TOP;
    status = judge(f);
    return status == EC_OK ? EC_STOPPED : status;
}

/* ---- from designs and back ---- */

/* The designs' values, as the graph decodes them. */
static int read_values(const flip *f, ec_backend *backend, climb *c)
{
    int32_t n = f->space.n_variables;
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * (size_t)n);
    double **out = (double **)malloc(sizeof *out * (size_t)n);
    int status = exprs && out ? EC_OK : ec_fail(EC_ERR_MEMORY, "polish: no memory");

    for (int32_t v = 0; v < n && status == EC_OK; v++) {
        exprs[v] = f->space.variables[v].entry->variable.value;
        out[v] = c->values + f->space.variables[v].value;
    }
    if (status == EC_OK)
        status = ec_evaluate_once(f->job->graph, backend, EC_SEARCH, n, exprs, c->genes,
                                  (size_t)f->job->n_genes, c->genes + f->job->n_genes,
                                  (size_t)f->job->n_group_genes, out, NULL, NULL);
    free(exprs);
    free(out);
    return status;
}

static int create_climb(const flip *f, ec_backend *backend, climb *c, const double *genes,
                        const double *group_genes)
{
    size_t n_genes = (size_t)f->job->n_genes, n_group = (size_t)f->job->n_group_genes;
    size_t n_values = f->space.n_values;

    c->best = (double *)malloc(sizeof(double) * n_values);
    c->values = (double *)malloc(sizeof(double) * n_values);
    c->genes = (double *)malloc(sizeof(double) * f->space.n_genes);
    c->count = (uint64_t *)malloc(sizeof *c->count * (size_t)f->space.n_variables);
    if (!c->best || !c->values || !c->genes || !c->count)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    memcpy(c->genes, genes, sizeof(double) * n_genes);
    if (n_group > 0)
        memcpy(c->genes + n_genes, group_genes, sizeof(double) * n_group);
    c->best_score = (ec_score){.cost = NAN};
    int status = read_values(f, backend, c);
    if (status == EC_OK)
        memcpy(c->best, c->values, sizeof(double) * n_values);
    return status;
}

static int create(flip *f, ec_backend *backend, const double *genes, const double *group_genes,
                  const ec_interrupt *ended, const ec_interrupt *interrupted)
{
    size_t n = (size_t)f->n, lanes = n * f->batch;

    int status = ec_flip_space_create(&f->space, f->job);
    if (status < 0)
        return status;
    f->climbs = (climb *)calloc(n, sizeof *f->climbs);
    f->scores = (ec_score *)malloc(sizeof *f->scores * lanes);
    f->trial_values = (double *)malloc(sizeof(double) * (f->space.n_values + 1));
    f->trial_genes = (double *)malloc(sizeof(double) * (f->space.n_genes + 1));
    if (!f->climbs || !f->scores || !f->trial_values || !f->trial_genes)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory for %zu designs", lanes);
    for (size_t i = 0; i < n && status == EC_OK; i++)
        status = create_climb(f, backend, &f->climbs[i], genes + i * (size_t)f->job->n_genes,
                              group_genes ? group_genes + i * (size_t)f->job->n_group_genes : NULL);
    if (status == EC_OK)
        status = scorer_create(&f->search, f->job, backend, f->info, EC_SEARCH, lanes, ended);
    if (status == EC_OK)
        status = scorer_create(&f->final, f->job, backend, f->info, EC_REFINE, n, interrupted);
    return status;
}

static void release(flip *f)
{
    scorer_release(&f->search);
    scorer_release(&f->final);
    for (int32_t i = 0; f->climbs && i < f->n; i++) {
        free(f->climbs[i].best);
        free(f->climbs[i].values);
        free(f->climbs[i].genes);
        free(f->climbs[i].count);
    }
    free(f->climbs);
    free(f->scores);
    free(f->trial_values);
    free(f->trial_genes);
    ec_flip_space_release(&f->space);
}

/* Genes of the best values; a design that nothing is better than keeps its own. */
static void write_back(const flip *f, double *genes, double *group_genes, uint64_t *evaluations)
{
    size_t n_genes = (size_t)f->job->n_genes, n_group = (size_t)f->job->n_group_genes;

    for (int32_t i = 0; i < f->n; i++) {
        climb *c = &f->climbs[i];
        *evaluations += (uint64_t)c->evaluations;
        ec_flip_encode(&f->space, c->best, c->genes);
        memcpy(genes + (size_t)i * n_genes, c->genes, sizeof *genes * n_genes);
        if (n_group > 0)
            memcpy(group_genes + (size_t)i * n_group, c->genes + n_genes, sizeof *genes * n_group);
    }
}

/* ---- the public functions ---- */

bool ec_polish_has_real(const ec_job *job)
{
    for (int32_t v = 0; v < job->n_variables; v++)
        if (job->variables[v]->variable.n_genes > 0 && !ec_flip_moves(&job->variables[v]->variable))
            return true;
    return false;
}

bool ec_polish_has_discrete(const ec_job *job)
{
    for (int32_t v = 0; v < job->n_variables; v++)
        if (ec_flip_moves(&job->variables[v]->variable))
            return true;
    return false;
}

int ec_polish_discrete(ec_job *job, ec_backend *backend, const ec_polish_info *info,
                       int32_t n_designs, double *genes, double *group_genes, uint64_t *evaluations)
{
    flip f = {.job = job, .info = info, .n = n_designs};
    ec_interrupt ended = {is_ended, &f}, interrupted = {is_interrupted, &f};
    char limit[40] = "";
    uint64_t used = 0;
    int32_t finished = 0;

    if (n_designs < 1 || job->n_objectives != 1 || !ec_polish_has_discrete(job) ||
        (info->max_evaluations <= 0 && !(info->seconds > 0)))
        return ec_fail(EC_ERR_ARGUMENT, "polish: a design, one objective, discrete genes, and "
                                        "evaluations or seconds are needed");
    f.most = info->max_evaluations > 0 ? info->max_evaluations : INT32_MAX;
    f.batch = backend->is_cuda ? BATCH_CUDA : BATCH;
    f.start = f.told = ec_wall_seconds();
    f.deadline = info->seconds > 0 ? f.start + info->seconds : INFINITY;
    int status = create(&f, backend, genes, group_genes, &ended, &interrupted);
    if (f.deadline < INFINITY)
        snprintf(limit, sizeof limit, ", %.3g s", info->seconds);
    if (status == EC_OK) {
        ec_log_write(info->log, EC_LOG_INFO,
                     "%s: local search on %zu discrete genes of %d design%s, at most %d "
                     "evaluations each%s",
                     ec_job_name(job), f.space.n_values, (int)n_designs, n_designs == 1 ? "" : "s",
                     (int)f.most, limit);
        status = run(&f);
        /* What was reached before an error is good as well. */
        write_back(&f, genes, group_genes, &used);
    }
    for (int32_t i = 0; i < n_designs && f.climbs; i++)
        finished += f.climbs[i].phase == ENDED &&
                    (f.climbs[i].evaluations >= f.most || f.climbs[i].neighbours == 0);
    if (evaluations)
        *evaluations = used;
    if (info->finished)
        *info->finished = finished;
    if (info->out_of_time)
        *info->out_of_time = status == EC_STOPPED && !is_interrupted(&f);
    release(&f);
    /* A search that went well does not fail for its polish. */
    if (status < 0)
        ec_log_write(info->log, EC_LOG_WARNING, "polish: ended: %s", ec_error_text());
    return EC_OK;
}
