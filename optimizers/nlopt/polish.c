/* polish.c: the epigraph form in rounds: pieces are made at the design, the problem is solved inside
 * a region about it (by SLSQP; many genes by steps, or L-BFGS without rows), the outcome is scored as
 * the job defines it at final fidelity, and the pieces are made again there. */
#include "polish.h"
#include "job_internal.h"
#include "polish_round.h"
#include "wall_clock.h"

#include <nlopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EVALUATIONS_DEFAULT = 1500, /* and, where slopes are differences, those of so many slopes: */
    SLOPES_DEFAULT = 300,
    ROUND_EVALUATIONS = 200,
    ROUNDS_MAX = 24,
    STEP_ROUNDS_MAX = 200,
    SLSQP_MAX = 40 /* genes that move; more are polished by steps */
};

static const double least_gain = 1e-9; /* of the cost, in its unit: 1e-8 to 1e-7 dB for a level */
static const double least_steps_gain = 1e-6; /* of a round of steps, of its unit */
static const double first_region = 0.25;     /* trust region: share of a gene's range */
static const double least_region = 2e-4;
static const double first_radius = 0.02;                     /* of the first step */
static const double first_margin = 1e-9, last_margin = 1e-5; /* kept from the limits */

/* ---- progress ---- */

static const double tell_seconds = 2; /* between two lines of the log */

/* Only the thread that called ec_polish writes; the others count. */
typedef struct polish_progress {
    ec_log *log;
    int32_t n, done; /* designs; those that are finished */
    double best, violation;
    double start, told;
    bool differences; /* the log says so */
    atomic_ullong evaluations;
} polish_progress;

static void tell(polish_progress *p)
{
    double t = ec_wall_seconds();
    char violation[60] = "";

    if (t - p->told < tell_seconds)
        return;
    p->told = t;
    if (p->violation > 0)
        snprintf(violation, sizeof violation, " (infeasible, violation %.3g)", p->violation);
    ec_log_write(p->log, EC_LOG_INFO,
                 "polish: %d of %d designs finished, %llu evaluations, best %.8g%s, %.0f s",
                 (int)p->done, (int)p->n, (unsigned long long)atomic_load(&p->evaluations), p->best,
                 violation, t - p->start);
}

/* ---- scores as the job defines them ---- */

typedef struct judge {
    ec_backend *backend;
    ec_executor *executor;
    ec_array X, XG;
    int32_t *group_map; /* NULL without groups */
    uint8_t *status;
    int32_t n_outputs, n_genes, n_group_genes;
    size_t n;
} judge;

static void judge_release(judge *j)
{
    if (!j->backend)
        return;
    ec_executor_destroy(&j->executor);
    ec_array_release(j->backend, &j->X);
    ec_array_release(j->backend, &j->XG);
    j->backend->ops->release(j->backend, j->group_map);
    j->backend->ops->release(j->backend, j->status);
    ec_backend_destroy(&j->backend);
}

static int judge_create(judge *j, ec_job *job, ec_log *log, int32_t n, int threads)
{
    ec_backend_info backend = {.name = "cpu", .threads = threads, .log = log};
    ec_expr outputs[2];

    memset(j, 0, sizeof *j);
    j->n = (size_t)n;
    j->n_genes = job->n_genes;
    j->n_group_genes = job->n_group_genes;
    j->n_outputs = job->n_constraints > 0 ? 2 : 1;
    outputs[0] = ec_job_cost(job, 0);
    outputs[1] = job->n_constraints > 0 ? ec_job_violation(job) : 0;
    for (int32_t i = 0; i < j->n_outputs; i++)
        if (outputs[i] < 0)
            return outputs[i];
    int status = ec_backend_create(&backend, &j->backend);
    if (status < 0)
        return status;
    ec_executor_info executor = {
        .outputs = outputs,
        .n_outputs = j->n_outputs,
        .max_candidates = j->n,
        .max_groups = j->n_group_genes > 0 ? j->n : 0,
        .fidelity = EC_REFINE,
    };
    status = ec_executor_create(job->graph, j->backend, &executor, &j->executor);
    if (status == EC_OK && j->n_group_genes > 0)
        status = ec_polish_groups(j->backend, j->n_group_genes, j->n, &j->XG, &j->group_map);
    if (status == EC_OK)
        status =
            ec_array_create(j->backend, &j->X, EC_F64, EC_AXIS_CANDIDATE, 1, &j->n_genes, j->n, 1);
    if (status == EC_OK)
        status = j->backend->ops->alloc(j->backend, ec_lane_ld(j->n), (void **)&j->status);
    return status;
}

/* Genes of design i; of the lanes behind the last one as well. */
static void fill_judge(judge *j, size_t i, const double *genes)
{
    double *X = (double *)j->X.data, *XG = (double *)j->XG.data;
    size_t end = i + 1 < j->n ? i + 1 : j->X.ld;

    for (int32_t g = 0; g < j->n_genes; g++)
        for (size_t c = i; c < end; c++)
            X[(size_t)g * j->X.ld + c] = genes[g];
    for (int32_t g = 0; g < j->n_group_genes; g++)
        for (size_t c = i; c < end; c++)
            XG[(size_t)g * j->XG.ld + c] = genes[j->n_genes + g];
}

/* Scores all designs in one batch. */
static int judge_run(judge *j, double *cost, double *violation, uint8_t *status_bytes)
{
    bool grouped = j->n_group_genes > 0;
    int status = ec_executor_run(j->executor, &j->X, grouped ? &j->XG : NULL, j->group_map,
                                 j->status, j->n, grouped ? j->n : 0);

    if (status < 0)
        return status;
    memcpy(cost, ec_executor_output(j->executor, 0)->data, j->n * sizeof *cost);
    memset(violation, 0, j->n * sizeof *violation);
    if (j->n_outputs > 1)
        memcpy(violation, ec_executor_output(j->executor, 1)->data, j->n * sizeof *violation);
    memcpy(status_bytes, j->status, j->n);
    return EC_OK;
}

/* ---- one design ---- */

typedef struct polished {
    double *genes;          /* the design; spaced genes in ascending order */
    double *trial;          /* what a round came up with */
    double cost, violation; /* at final fidelity, of genes */
    uint8_t status;
    double region, margin;
    double unit;   /* of the cost: its largest slope over the range of a gene */
    double radius; /* of its steps' trust region, share of a gene's range */
    bool active, has_trial, by_steps;
    int32_t evaluations;
    judge judge; /* of steps */
    ec_backend *backend;
    ec_polish_problem *problem;
} polished;

/* Genes of a design, its group's behind its own. */
static size_t width_of(const ec_job *job)
{
    return (size_t)job->n_genes + (size_t)job->n_group_genes;
}

static int class_of(double cost, double violation, uint8_t status)
{
    if (status || !isfinite(cost) || !isfinite(violation))
        return 2;
    return violation > 0 ? 1 : 0;
}

/* Genes of spaced variables in ascending order: the same design, and the order in which its
 * positions depend on them without a jump. */
static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void sort_spaced(const ec_job *job, double *genes)
{
    for (int32_t v = 0; v < job->n_variables; v++) {
        const ec_variable *variable = &job->variables[v]->variable;
        double *first = genes + (variable->group ? job->n_genes : 0) + variable->first_gene;
        if (variable->kind == EC_VARIABLE_SPACED && variable->n_genes > 1)
            qsort(first, (size_t)variable->n_genes, sizeof *genes, compare_doubles);
    }
}

/* ---- SLSQP ---- */

/* What a point that cannot be evaluated is worth: NLopt never sees a NaN. */
static const double bad_value = 1e6;

typedef struct sqp {
    ec_polish_round *round;
    nlopt_opt opt;
} sqp;

static void evaluate(const sqp *s, const double *y, bool slopes)
{
    ec_polish_round_evaluate(s->round, y, slopes);
    if (s->round->ended)
        nlopt_force_stop(s->opt);
}

static double objective(unsigned n, const double *y, double *gradient, void *data)
{
    const sqp *s = (const sqp *)data;
    const ec_polish_round *round = s->round;
    ec_polish_row cost = round->problem->rows[0];

    evaluate(s, y, gradient != NULL);
    cost.scale = round->unit;
    if (gradient) {
        memset(gradient, 0, sizeof *gradient * n);
        if (round->good)
            ec_polish_round_slopes(round, &cost, 0, gradient);
    }
    return round->good ? round->problem->value[0] / round->unit : bad_value;
}

static void rows(const ec_polish_round *s, bool equality, double *result, unsigned n,
                 double *gradient)
{
    const ec_polish_problem *p = s->problem;
    size_t k = 0;

    for (int32_t r = 1; r < p->n_rows; r++) {
        const ec_polish_row *row = &p->rows[r];
        if (row->equality != equality)
            continue;
        for (int32_t e = row->first; e < row->first + row->elements; e++, k++) {
            result[k] = s->good ? ec_polish_round_row(s, row, e) : bad_value;
            if (gradient && s->good)
                ec_polish_round_slopes(s, row, e, gradient + k * n);
            else if (gradient)
                memset(gradient + k * n, 0, sizeof *gradient * n);
        }
    }
}

static void equalities(unsigned m, double *result, unsigned n, const double *y, double *gradient,
                       void *data)
{
    const sqp *s = (const sqp *)data;

    (void)m;
    evaluate(s, y, gradient != NULL);
    rows(s->round, true, result, n, gradient);
}

static void inequalities(unsigned m, double *result, unsigned n, const double *y, double *gradient,
                         void *data)
{
    const sqp *s = (const sqp *)data;
    const ec_polish_round *round = s->round;
    size_t k = (size_t)(round->n_inequalities - round->n_order);

    (void)m;
    evaluate(s, y, gradient != NULL);
    rows(round, false, result, n, gradient);
    for (int32_t i = 0; i < round->n_order; i++, k++) {
        result[k] = y[round->order[i]] - y[round->order[i] + 1];
        if (!gradient)
            continue;
        memset(gradient + k * n, 0, sizeof *gradient * n);
        gradient[k * n + (size_t)round->order[i]] = 1;
        gradient[k * n + (size_t)round->order[i] + 1] = -1;
    }
}

static bool configure(sqp *s, int32_t most)
{
    const ec_polish_round *round = s->round;
    int32_t largest =
        round->n_inequalities > round->n_equalities ? round->n_inequalities : round->n_equalities;
    double *tolerance = (double *)malloc(sizeof *tolerance * ((size_t)largest + 1));
    bool ok = tolerance && s->opt;

    for (int32_t i = 0; i < largest && ok; i++)
        tolerance[i] = 1e-10;
    ok = ok && nlopt_set_lower_bounds(s->opt, round->low) > 0 &&
         nlopt_set_upper_bounds(s->opt, round->high) > 0 &&
         nlopt_set_min_objective(s->opt, objective, s) > 0 && nlopt_set_maxeval(s->opt, most) > 0 &&
         nlopt_set_xtol_rel(s->opt, 1e-11) > 0 && nlopt_set_ftol_abs(s->opt, 0.1 * least_gain) > 0;
    if (ok && round->n_inequalities > 0)
        ok = nlopt_add_inequality_mconstraint(s->opt, (unsigned)round->n_inequalities, inequalities,
                                              s, tolerance) > 0;
    if (ok && round->n_equalities > 0)
        ok = nlopt_add_equality_mconstraint(s->opt, (unsigned)round->n_equalities, equalities, s,
                                            tolerance) > 0;
    if (ok && round->deadline < INFINITY)
        ok = nlopt_set_maxtime(s->opt, fmax(round->deadline - ec_wall_seconds(), 1e-3)) > 0;
    free(tolerance);
    return ok;
}

static void run_nlopt(ec_polish_round *round, nlopt_algorithm algorithm, int32_t most)
{
    sqp s = {round, nlopt_create(algorithm, (unsigned)round->n)};
    double value;

    /* Every end but a feasible record is worth the same: SLSQP often stops with "roundoff limited" at
     * the solution. */
    if (configure(&s, most))
        nlopt_optimize(s.opt, round->y, &value);
    nlopt_destroy(s.opt);
}

/* ---- a round ---- */

typedef struct listener {
    polish_progress *progress;
    const volatile int *interrupt;
    bool tells; /* on the thread that writes */
    judge *judge;
} listener;

static bool heard(void *user)
{
    const listener *l = (const listener *)user;

    atomic_fetch_add(&l->progress->evaluations, 1);
    if (l->tells)
        tell(l->progress);
    return l->interrupt && *l->interrupt;
}

static bool judged(void *user, const double *genes, double *cost, double *violation)
{
    const listener *l = (const listener *)user;
    uint8_t status;

    fill_judge(l->judge, 0, genes);
    return judge_run(l->judge, cost, violation, &status) == EC_OK &&
           class_of(*cost, *violation, status) < 2;
}

/* One round on one design; safe beside the rounds of other designs. */
static void solve_round(const ec_job *job, polished *design, const ec_polish_info *info,
                        double deadline, polish_progress *progress, bool tells)
{
    listener ears = {progress, info->interrupt, tells, &design->judge};
    ec_polish_round s;
    int32_t most = info->max_evaluations > 0 && info->max_evaluations < ROUND_EVALUATIONS
                       ? info->max_evaluations
                       : ROUND_EVALUATIONS;

    design->has_trial = false;
    if (ec_polish_round_create(&s, job, design->problem, design->genes, design->region) == EC_OK) {
        s.heard = heard;
        s.user = &ears;
        s.deadline = deadline;
        s.judged = judged;
        s.radius = design->radius;
        design->unit = s.unit;
        design->by_steps =
            design->judge.executor && s.problem->n_free > SLSQP_MAX && s.n_equalities == 0;
        if (!design->by_steps)
            run_nlopt(&s, NLOPT_LD_SLSQP, most);
        else if (s.problem->n_rows == 1 && s.n_order == 0)
            run_nlopt(&s, NLOPT_LD_LBFGS, most); /* smooth, without limits */
        else
            ec_polish_round_steps(&s, most);
        design->radius = s.radius;
        if (s.has_best) {
            ec_polish_round_decode(&s, s.best);
            memcpy(design->trial, s.genes, width_of(job) * sizeof(double));
            design->has_trial = true;
        }
        design->evaluations += s.evaluations + (int32_t)design->problem->evaluations;
    }
    ec_polish_round_release(&s);
}

/* ---- verdicts ---- */

/* Takes the trial where it is better, and sets the next round's region. */
static void judge_trial(polished *d, double cost, double violation, uint8_t status, size_t width,
                        int32_t max_evaluations)
{
    int old_class = class_of(d->cost, d->violation, d->status);
    int new_class = class_of(cost, violation, status);
    bool better =
        new_class < old_class ||
        (new_class == old_class && new_class < 2 &&
         (new_class == 1 && violation != d->violation ? violation < d->violation : cost < d->cost));
    double gain = new_class < old_class ? INFINITY
                  : new_class == 1      ? d->violation - violation
                                        : d->cost - cost;

    bool gained = gain > (d->by_steps ? least_steps_gain : least_gain) * d->unit;
    if (d->has_trial && better) {
        memcpy(d->genes, d->trial, sizeof(double) * width);
        d->cost = cost;
        d->violation = violation;
        d->status = status;
    }
    if (d->has_trial && better && gained) {
        d->region = fmin(2 * d->region, first_region);
    } else if (d->has_trial && old_class == 0 && new_class == 1 && d->margin < last_margin) {
        d->margin *= 100; /* rounding pushed it over a limit of the job */
    } else if (d->by_steps) {
        d->active = false;
    } else {
        /* Solved, or the pieces do not tell the truth that far away: closer. */
        d->region /= 8;
        d->active = d->region >= least_region;
    }
    if (d->evaluations >= max_evaluations)
        d->active = false;
}

/* ---- all designs ---- */

/* Whether the job's goals or limits need a function of the user's. */
static bool needs_user(const ec_job *job)
{
    int32_t n = job->n_objectives + job->n_constraints, count = ec_graph_count(job->graph);
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * ((size_t)n + 1));
    bool *needed = (bool *)malloc((size_t)count + 1);
    bool found = !exprs || !needed; /* one thread is always right */

    for (int32_t i = 0; i < n && !found; i++)
        exprs[i] = i < job->n_objectives ? job->objectives[i].expr
                                         : job->constraints[i - job->n_objectives].expr;
    if (!found)
        ec_graph_reach(job->graph, n, exprs, needed);
    for (int32_t i = 0; i < count && !found; i++) {
        const ec_node *node = ec_graph_node(job->graph, i);
        found = needed[i] && node->op == EC_OP_CALL_OUTPUT &&
                (node->call->def->flags & EC_EVALUATOR_USERS) != 0;
    }
    free(exprs);
    free(needed);
    return found;
}

static void polished_release(polished *d)
{
    ec_polish_problem_destroy(&d->problem);
    judge_release(&d->judge);
    ec_backend_destroy(&d->backend);
    free(d->genes);
    free(d->trial);
}

static int polished_create(polished *d, ec_job *job, const double *genes, const double *group_genes,
                           ec_log *log)
{
    size_t n_genes = (size_t)job->n_genes, n_group_genes = (size_t)job->n_group_genes;
    ec_backend_info backend = {.name = "cpu", .threads = 1, .log = log};

    d->genes = (double *)malloc(sizeof(double) * width_of(job));
    d->trial = (double *)malloc(sizeof(double) * width_of(job));
    if (!d->genes || !d->trial)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    memcpy(d->genes, genes, sizeof(double) * n_genes);
    if (n_group_genes > 0)
        memcpy(d->genes + n_genes, group_genes, sizeof(double) * n_group_genes);
    sort_spaced(job, d->genes);
    d->region = first_region;
    d->margin = first_margin;
    d->radius = first_radius;
    d->active = true;
    int status = ec_backend_create(&backend, &d->backend);
    return status < 0 || width_of(job) <= SLSQP_MAX ? status
                                                    : judge_create(&d->judge, job, log, 1, 1);
}

/* The k-th name of a list, from its start again behind the last. */
static void device_of(const char *list, int32_t k, char *name, size_t size)
{
    const char *at = list;

    for (; k > 0; k--) {
        const char *comma = strchr(at, ',');
        at = comma ? comma + 1 : list;
    }
    snprintf(name, size, "%.*s", (int)strcspn(at, ","), at);
}

/* Makes a problem whose slopes are differences anew on a device, which takes a batch of them at once;
 * where that has no room for it the problem stays on the CPU. */
static int move_to_device(ec_job *job, polished *d, const char *device, ec_polish_notes *notes,
                          ec_log *log)
{
    ec_backend_info info = {.name = device, .log = log};
    ec_backend *backend = NULL;
    ec_polish_problem *moved = NULL;

    if (ec_backend_create(&info, &backend) < 0)
        return EC_OK;
    int status = ec_polish_problem_create(job, backend, d->genes, d->margin, notes, &moved);
    if (status < 0) {
        ec_backend_destroy(&backend);
        return status == EC_ERR_MEMORY ? EC_OK : status;
    }
    ec_polish_problem_destroy(&d->problem);
    ec_backend_destroy(&d->backend);
    d->backend = backend;
    d->problem = moved;
    return EC_OK;
}

/* The next round's problems. One after another: each adds to the graph. Those that come after the
 * deadline are left out. */
static int make_problems(ec_job *job, polished *designs, int32_t n, ec_polish_notes *notes,
                         int threads, const char *devices, double deadline,
                         polish_progress *progress, int32_t *n_active)
{
    int32_t sharing = 0;

    *n_active = 0;
    for (int32_t i = 0; i < n; i++)
        sharing += designs[i].active;
    for (int32_t i = 0; i < n; i++) {
        polished *d = &designs[i];
        ec_polish_problem_destroy(&d->problem);
        d->has_trial = false;
        if (!d->active || ec_wall_seconds() >= deadline)
            continue;
        tell(progress);
        int status =
            ec_polish_problem_create(job, d->backend, d->genes, d->margin, notes, &d->problem);
        if (status >= 0 && devices && !d->problem->gradients && d->backend->host_memory) {
            char device[16];
            device_of(devices, i, device, sizeof device);
            status = move_to_device(job, d, device, notes, progress->log);
        }
        if (status < 0)
            return status;
        if (!d->problem->gradients && !progress->differences)
            ec_log_write(progress->log, EC_LOG_INFO,
                         "polish: slopes by differences of %d evaluations",
                         (int)(2 * (d->problem->n_free + d->problem->n_cuts)));
        progress->differences = !d->problem->gradients;
        /* A batch of differences is work for all threads that no other design has. */
        if (d->backend->host_memory)
            d->backend->threads =
                !d->problem->gradients && threads > sharing ? threads / sharing : 1;
        ++*n_active;
    }
    return EC_OK;
}

/* Designs are taken one by one by threads of their own, each with a backend of its own, so any number
 * of them run side by side. */
typedef struct round_work {
    const ec_job *job;
    const ec_polish_info *info;
    polished *designs;
    int32_t n;
    double deadline;
    polish_progress *progress;
    atomic_int next;
} round_work;

static void share_round(round_work *work, bool tells)
{
    for (int32_t i; (i = atomic_fetch_add(&work->next, 1)) < work->n;)
        if (work->designs[i].problem)
            solve_round(work->job, &work->designs[i], work->info, work->deadline, work->progress,
                        tells);
}

static void *work_on_round(void *data)
{
    share_round((round_work *)data, false);
    return NULL;
}

static void run_round(round_work *work, int threads)
{
    enum { THREADS_MAX = 64 };
    pthread_t thread[THREADS_MAX];
    int started = 0;

    atomic_init(&work->next, 0);
    while (started + 1 < threads && started < THREADS_MAX &&
           pthread_create(&thread[started], NULL, work_on_round, work) == 0)
        started++;
    share_round(work, true);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

/* Designs that are finished, and the best one as the script sees it. */
static void count_progress(const ec_job *job, const polished *designs, int32_t n,
                           polish_progress *p)
{
    const polished *best = NULL;

    p->done = 0;
    for (int32_t i = 0; i < n; i++) {
        const polished *d = &designs[i];
        int c = class_of(d->cost, d->violation, d->status);
        p->done += !d->active;
        int least = best ? class_of(best->cost, best->violation, best->status) : 2;
        if (c < least || (best && c == least &&
                          (c == 1 ? d->violation < best->violation : d->cost < best->cost)))
            best = d;
    }
    p->best = !best ? NAN : job->objectives[0].maximize ? -best->cost : best->cost;
    p->violation = best ? best->violation : 0;
}

/* Scores each design's trial, or its genes where it has none. */
static int score(judge *j, const polished *designs, int32_t n, double *cost, double *violation,
                 uint8_t *status)
{
    for (int32_t i = 0; i < n; i++)
        fill_judge(j, (size_t)i, designs[i].has_trial ? designs[i].trial : designs[i].genes);
    return judge_run(j, cost, violation, status);
}

/* Evaluations that a design's slopes may take without a number of the user's. */
static int32_t slopes_default(const ec_polish_problem *p)
{
    return p->gradients ? 0 : SLOPES_DEFAULT * 2 * (p->n_free + p->n_cuts);
}

static int polish_rounds(ec_job *job, const ec_polish_info *info, polished *designs, int32_t n,
                         judge *j, int threads, double deadline)
{
    ec_polish_notes notes = {{0}, 0};
    polish_progress progress = {
        .log = info->log, .n = n, .start = ec_wall_seconds(), .told = ec_wall_seconds()};
    double *cost = (double *)malloc(sizeof *cost * 2 * (size_t)n), *violation = cost + n;
    uint8_t *bytes = (uint8_t *)malloc((size_t)n);
    int32_t n_active = n,
            most = info->max_evaluations > 0 ? info->max_evaluations : EVALUATIONS_DEFAULT;
    char limit[40] = "";

    atomic_init(&progress.evaluations, 0);
    if (deadline < INFINITY)
        snprintf(limit, sizeof limit, ", %.3g s", deadline - ec_wall_seconds());
    ec_log_write(info->log, EC_LOG_INFO, "%s: polishing %d design%s, at most %d evaluations each%s",
                 ec_job_name(job), (int)n, n == 1 ? "" : "s", (int)most, limit);
    int status = cost && bytes ? score(j, designs, n, cost, violation, bytes)
                               : ec_fail(EC_ERR_MEMORY, "polish: no memory");

    for (int32_t i = 0; i < n && status == EC_OK; i++) {
        designs[i].cost = cost[i];
        designs[i].violation = violation[i];
        designs[i].status = bytes[i];
        designs[i].active = class_of(cost[i], violation[i], bytes[i]) < 2;
    }
    int rounds = width_of(job) > SLSQP_MAX ? STEP_ROUNDS_MAX : ROUNDS_MAX;
    for (int round = 0; round < rounds && status == EC_OK; round++) {
        count_progress(job, designs, n, &progress);
        if (info->interrupt && *info->interrupt)
            break;
        status =
            make_problems(job, designs, n, &notes, threads, needs_user(job) ? NULL : info->device,
                          deadline, &progress, &n_active);
        if (status < 0 || n_active == 0)
            break;
        round_work work = {.job = job,
                           .info = info,
                           .designs = designs,
                           .n = n,
                           .deadline = deadline,
                           .progress = &progress};
        run_round(&work, threads < n_active ? threads : n_active);
        status = score(j, designs, n, cost, violation, bytes);
        for (int32_t i = 0; i < n && status == EC_OK; i++) {
            polished *d = &designs[i];
            if (!d->problem)
                continue;
            judge_trial(d, cost[i], violation[i], bytes[i], width_of(job),
                        most + (info->max_evaluations > 0 ? 0 : slopes_default(d->problem)));
            ec_log_write(info->log, EC_LOG_DEBUG,
                         "polish: round %d, design %d: %.10g (trial %.10g), %d pieces, %d "
                         "evaluations, region %.2g",
                         round + 1, (int)i + 1, d->cost, cost[i], (int)d->problem->n_elements - 1,
                         (int)d->evaluations, d->region);
        }
    }
    count_progress(job, designs, n, &progress);
    if (info->finished)
        *info->finished = progress.done;
    if (info->out_of_time)
        *info->out_of_time = status == EC_OK && progress.done < n && ec_wall_seconds() >= deadline;
    free(cost);
    free(bytes);
    return status;
}

int ec_polish(ec_job *job, const ec_polish_info *info, int32_t n_designs, double *genes,
              double *group_genes, uint64_t *evaluations)
{
    double deadline = info->seconds > 0 ? ec_wall_seconds() + info->seconds : INFINITY;
    polished *designs =
        (polished *)calloc((size_t)(n_designs > 0 ? n_designs : 1), sizeof *designs);
    size_t n_genes = (size_t)job->n_genes, n_group_genes = (size_t)job->n_group_genes;
    int threads = info->threads;
    judge j;

    if (evaluations)
        *evaluations = 0;
    if (info->out_of_time)
        *info->out_of_time = false;
    if (info->finished)
        *info->finished = 0;
    if (!designs)
        return ec_fail(EC_ERR_MEMORY, "polish: no memory");
    if (threads <= 0)
        threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    threads = threads < 1 || needs_user(job) ? 1 : threads;
    memset(&j, 0, sizeof j);
    int status = n_designs < 1 || job->n_objectives != 1 || width_of(job) == 0
                     ? ec_fail(EC_ERR_UNSUPPORTED, "polish: one objective and a design are needed")
                     : EC_OK;
    for (int32_t i = 0; i < n_designs && status == EC_OK; i++)
        status = polished_create(&designs[i], job, genes + (size_t)i * n_genes,
                                 n_group_genes > 0 ? group_genes + (size_t)i * n_group_genes : NULL,
                                 info->log);
    if (status == EC_OK)
        status = judge_create(&j, job, info->log, n_designs, threads);
    if (status == EC_OK)
        status = polish_rounds(job, info, designs, n_designs, &j, threads, deadline);
    /* What was reached before an error is good as well. */
    for (int32_t i = 0; i < n_designs && designs[i].genes; i++) {
        memcpy(genes + (size_t)i * n_genes, designs[i].genes, sizeof *genes * n_genes);
        if (n_group_genes > 0)
            memcpy(group_genes + (size_t)i * n_group_genes, designs[i].genes + n_genes,
                   sizeof *genes * n_group_genes);
        if (evaluations)
            *evaluations += (uint64_t)designs[i].evaluations;
    }
    for (int32_t i = 0; i < n_designs; i++)
        polished_release(&designs[i]);
    free(designs);
    judge_release(&j);
    /* A search that went well does not fail for its polish. */
    bool expected = status == EC_ERR_NO_GRADIENT || status == EC_ERR_UNSUPPORTED;
    if (status < 0)
        ec_log_write(info->log, expected ? EC_LOG_INFO : EC_LOG_WARNING, "polish: ended: %s",
                     ec_error_text());
    return EC_OK;
}
