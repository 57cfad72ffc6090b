/* solve_front.c: several objectives: the front that a look sees, its hypervolume, and the front of
 * the result at final fidelity with the values of its members. */
#include "solve_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- checks and memory ---- */

int ec_solve_front_check(const ec_job *job, const ec_solve_info *info)
{
    int n = (int)job->n_objectives;

    if (n == 1 && info->n_reference == 0)
        return EC_OK;
    if (n == 1)
        return ec_fail(EC_ERR_ARGUMENT,
                       "solve: reference is for several objectives, job '%s' has "
                       "one",
                       job->name);
    if (n > EC_OBJECTIVES_MAX)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "solve: job '%s' has %d objectives; at most %d are "
                       "allowed",
                       job->name, n, EC_OBJECTIVES_MAX);
    if (!isnan(info->target))
        return ec_fail(
            EC_ERR_ARGUMENT,
            "solve: target is for one objective, job '%s' has %d; a limit of one of them is "
            "a constraint (subject_to)",
            job->name, n);
    if (info->polish)
        return ec_fail(
            EC_ERR_ARGUMENT,
            "solve: polish follows the gradient of one objective, job '%s' has %d; polish "
            "one of them in a search of its own, with limits on the others",
            job->name, n);
    if (info->stagnation && n > 3)
        return ec_fail(EC_ERR_ARGUMENT,
                       "solve: stagnation looks at the hypervolume, which is known for up to 3 "
                       "objectives, job '%s' has %d; give evaluations, generations or seconds",
                       job->name, n);
    if (info->n_reference != 0 && info->n_reference != n)
        return ec_fail(EC_ERR_ARGUMENT,
                       "solve: reference has %d numbers, job '%s' has %d objectives",
                       (int)info->n_reference, job->name, n);
    for (int32_t i = 0; i < info->n_reference; i++)
        if (!isfinite(info->reference[i]))
            return ec_fail(EC_ERR_RANGE, "solve: reference %d (%g) must be a finite number",
                           (int)i + 1, info->reference[i]);
    return EC_OK;
}

/* A cost with the sign of objective k, or back. */
static double signed_as(const ec_solve_run *run, size_t k, double cost)
{
    return run->job->objectives[k].maximize ? -cost : cost;
}

int ec_solve_front_create(ec_solve_run *run)
{
    ec_front_list *front = &run->front;
    ec_front_progress *progress = &front->progress;
    size_t n = run->max_population, costs = run->n_objectives;
    int threads = run->backend->threads > 0 ? run->backend->threads : 1;

    front->capacity =
        run->info->keep > 0 && (size_t)run->info->keep < n ? (size_t)run->info->keep : n;
    front->genes = (double *)malloc(sizeof(double) * n * run->width);
    front->cost = (double *)malloc(sizeof(double) * n * costs);
    front->violation = (double *)malloc(sizeof(double) * n);
    front->work_cost = (double *)malloc(sizeof(double) * n * costs);
    front->crowding = (double *)malloc(sizeof(double) * n);
    front->rank = (uint32_t *)malloc(sizeof(uint32_t) * n);
    front->order = (uint32_t *)malloc(sizeof(uint32_t) * n);
    if (!front->genes || !front->cost || !front->violation || !front->work_cost ||
        !front->crowding || !front->rank || !front->order)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for a front of %zu designs", n);
    progress->referenced = run->info->n_reference > 0;
    for (size_t k = 0; k < costs && progress->referenced; k++)
        progress->reference[k] = signed_as(run, k, run->info->reference[k]);
    progress->volume = NAN;
    return ec_pareto_create(n, (int32_t)costs, threads, &front->pareto);
}

void ec_solve_front_release(ec_solve_run *run)
{
    ec_front_list *front = &run->front;

    ec_pareto_destroy(&front->pareto);
    free(front->genes);
    free(front->cost);
    free(front->violation);
    free(front->work_cost);
    free(front->crowding);
    free(front->rank);
    free(front->order);
    memset(front, 0, sizeof *front);
}

/* ---- looks ---- */

/* Puts n designs (rows of costs) into the order of ranks and crowding; returns how many are feasible
 * and not dominated: the first ones. */
static size_t order_designs(ec_solve_run *run, const double *cost, const double *violation,
                            const uint8_t *status, size_t n)
{
    ec_front_list *front = &run->front;
    size_t costs = run->n_objectives, members = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < costs; k++)
            front->work_cost[k * n + i] = cost[i * costs + k];
    ec_pareto_scores scores = {front->work_cost, n, violation, status};
    ec_pareto_rank(front->pareto, &scores, n, front->rank, front->crowding);
    ec_pareto_order(front->pareto, front->rank, front->crowding, n, front->order);
    while (members < n) {
        size_t i = front->order[members];
        ec_score score = {cost[i * costs], violation[i], status[i]};
        if (front->rank[i] != 0 || ec_score_class(&score) != 0)
            break;
        members++;
    }
    return members;
}

static bool has_failed(const ec_solve_run *run, const double *cost, double violation,
                       uint8_t status)
{
    bool failed = status || !isfinite(violation);

    for (size_t k = 0; k < run->n_objectives; k++)
        failed = failed || !isfinite(cost[k]);
    return failed;
}

/* A tenth of its range beyond the worst of each cost, unless the caller named a point. */
static void set_reference(ec_solve_run *run, size_t n)
{
    ec_front_progress *progress = &run->front.progress;
    double low[EC_OBJECTIVES_MAX];

    for (size_t i = 0; i < n; i++) {
        const double *cost = run->elite_cost + i * run->n_objectives;
        if (has_failed(run, cost, run->elite_violation[i], run->elite_status[i]))
            continue;
        for (size_t k = 0; k < run->n_objectives; k++) {
            bool first = !progress->referenced;
            low[k] = first || cost[k] < low[k] ? cost[k] : low[k];
            progress->reference[k] =
                first || cost[k] > progress->reference[k] ? cost[k] : progress->reference[k];
        }
        progress->referenced = true;
    }
    for (size_t k = 0; k < run->n_objectives && progress->referenced; k++)
        progress->reference[k] += 0.1 * (progress->reference[k] - low[k]);
}

static double front_volume(const ec_solve_run *run, const double *cost, size_t n)
{
    const ec_front_progress *progress = &run->front.progress;

    if (!progress->referenced)
        return 0;
    return ec_hypervolume(cost, n, (int32_t)run->n_objectives, progress->reference);
}

/* Whether the hypervolume has not grown for too long, seen from one kept generation to the next. */
static bool stagnates(ec_solve_run *run, uint32_t generation)
{
    ec_front_progress *progress = &run->front.progress;

    if (!progress->compared ||
        progress->volume - progress->best_volume > run->info->stagnation_tolerance) {
        progress->best_volume = progress->volume;
        progress->grown = generation;
        progress->compared = true;
    }
    return run->info->stagnation > 0 && generation - progress->grown >= run->info->stagnation;
}

int ec_solve_front_look(ec_solve_run *run, size_t found, bool kept, ec_history_row *row,
                        int32_t *flag)
{
    ec_front_list *front = &run->front;
    size_t costs = run->n_objectives, width = run->width;
    size_t members =
        order_designs(run, run->elite_cost, run->elite_violation, run->elite_status, found);

    if (!front->progress.referenced)
        set_reference(run, found);
    row->front = (uint32_t)members;
    front->n = members;
    if (members == 0 && found > 0) { /* the one that comes closest, if it did not fail */
        size_t i = front->order[0];
        front->n = has_failed(run, run->elite_cost + i * costs, run->elite_violation[i],
                              run->elite_status[i])
                       ? 0
                       : 1;
    }
    for (size_t m = 0; m < front->n; m++) {
        size_t i = front->order[m];
        memcpy(front->genes + m * width, run->elite_genes + i * width, width * sizeof(double));
        memcpy(front->cost + m * costs, run->elite_cost + i * costs, costs * sizeof(double));
        front->violation[m] = run->elite_violation[i];
    }
    front->progress.volume = front_volume(run, front->cost, members);
    row->hypervolume = front->progress.volume;
    /* the last members of a long front, the crowded ones, are not scored at final fidelity */
    front->n = front->n < front->capacity ? front->n : front->capacity;
    if (!kept || !stagnates(run, row->generation) || *flag)
        return EC_OK;
    *flag = EC_STOP_STAGNATION;
    return run->backend->ops->upload(run->backend, run->flag, flag, sizeof *flag);
}

/* ---- the front of the result ---- */

/* Scores of the last front at final fidelity, rows as in run->front. */
typedef struct final_scores {
    double *cost, *violation;
    uint8_t *status;
    size_t *member; /* of the result's front, sorted by the first cost: rows of the last front */
    size_t n;
    bool known; /* else they are those of the search */
} final_scores;

static int scores_create(const ec_solve_run *run, final_scores *s)
{
    size_t n = run->front.n + 1;

    s->cost = (double *)calloc(n * run->n_objectives, sizeof *s->cost);
    s->violation = (double *)calloc(n, sizeof *s->violation);
    s->status = (uint8_t *)calloc(n, 1);
    s->member = (size_t *)calloc(n, sizeof *s->member);
    return s->cost && s->violation && s->status && s->member
               ? EC_OK
               : ec_fail(EC_ERR_MEMORY, "solve: no memory for a front of %zu designs", n);
}

static void scores_release(final_scores *s)
{
    free(s->cost);
    free(s->violation);
    free(s->status);
    free(s->member);
}

/* Which designs make the front, by the scores; sorted by the first cost, then the others. */
static void choose_members(ec_solve_run *run, final_scores *s)
{
    size_t costs = run->n_objectives;

    s->n = order_designs(run, s->cost, s->violation, s->status, run->front.n);
    for (size_t m = 0; m < s->n; m++) {
        size_t i = run->front.order[m], place = m;
        const double *cost = s->cost + i * costs;
        for (; place > 0; place--) {
            const double *other = s->cost + s->member[place - 1] * costs;
            size_t k = 0;
            while (k < costs && cost[k] == other[k])
                k++;
            if (k == costs || cost[k] > other[k])
                break;
            s->member[place] = s->member[place - 1];
        }
        s->member[place] = i;
    }
}

/* The member nearest to the ideal point, each cost scaled to its range over the front. */
static size_t find_knee(const ec_solve_run *run, const final_scores *s)
{
    size_t costs = run->n_objectives, knee = 0;
    double nearest = INFINITY, low[EC_OBJECTIVES_MAX], high[EC_OBJECTIVES_MAX];

    for (size_t k = 0; k < costs; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
        for (size_t m = 0; m < s->n; m++) {
            double x = s->cost[s->member[m] * costs + k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
    }
    for (size_t m = 0; m < s->n; m++) {
        double sum = 0;
        for (size_t k = 0; k < costs; k++) {
            double x = s->cost[s->member[m] * costs + k], range = 0.5 * high[k] - 0.5 * low[k];
            double share = range > 0 ? (0.5 * x - 0.5 * low[k]) / range : 0;
            sum += share * share;
        }
        if (sum < nearest) {
            nearest = sum;
            knee = m;
        }
    }
    return knee;
}

static int front_create(const ec_solve_run *run, ec_front *front, size_t n)
{
    const ec_job *job = run->job;
    size_t rows = n + 1;
    bool good = true;

    front->genes = (double *)calloc(rows * run->width, sizeof(double));
    front->objective_final = (double *)calloc(rows * run->n_objectives, sizeof(double));
    front->objective_search = (double *)calloc(rows * run->n_objectives, sizeof(double));
    front->constraint = (double *)calloc(rows * ((size_t)job->n_constraints + 1), sizeof(double));
    front->variable = (double **)calloc((size_t)job->n_variables + 1, sizeof(double *));
    front->record = (double **)calloc((size_t)job->n_records + 1, sizeof(double *));
    good = front->genes && front->objective_final && front->objective_search && front->constraint &&
           front->variable && front->record;
    for (int32_t i = 0; i < job->n_variables && good; i++) {
        size_t length = (size_t)run->result->variable_length[i];
        front->variable[i] = (double *)calloc(rows * length, sizeof(double));
        good = front->variable[i] != NULL;
    }
    for (int32_t i = 0; i < job->n_records && good; i++) {
        size_t length = (size_t)run->result->record_length[i];
        front->record[i] = (double *)calloc(rows * length, sizeof(double));
        good = front->record[i] != NULL;
    }
    return good ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory for a front of %zu designs", n);
}

/* Values of one kind at the members; those that an evaluator cannot score are NaN. */
static int evaluate_members(ec_solve_run *run, ec_backend *backend, int32_t n_exprs,
                            const ec_expr *exprs, double *const *out)
{
    const ec_front *front = &run->result->front;
    size_t n = (size_t)front->n;
    uint8_t *status_bytes = (uint8_t *)malloc(n + 1), failed = 0;
    int status = status_bytes ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory for the front");

    if (status == EC_OK && n_exprs > 0)
        status =
            ec_solve_final_values(run, backend, front->genes, n, n_exprs, exprs, out, status_bytes);
    for (size_t i = 0; i < n && status == EC_OK && n_exprs > 0; i++)
        failed |= (uint8_t)(status_bytes[i] & ~EC_CANDIDATE_NOT_FINITE);
    /* The status is that of all of them: each by itself says whose it is. */
    for (int32_t e = 0; failed && n_exprs > 1 && e < n_exprs && status == EC_OK; e++)
        status = evaluate_members(run, backend, 1, exprs + e, out + e);
    if (failed && n_exprs == 1 && status == EC_OK) {
        size_t length = (size_t)ec_result_value_length(run->job->graph, exprs[0]);
        for (size_t i = 0; i < n * length; i++)
            out[0][i] = status_bytes[i / length] & ~EC_CANDIDATE_NOT_FINITE ? NAN : out[0][i];
    }
    free(status_bytes);
    return status;
}

/* One number a constraint in columns to rows of the front. */
static int evaluate_constraints(ec_solve_run *run, ec_backend *backend)
{
    const ec_job *job = run->job;
    ec_front *front = &run->result->front;
    size_t n = (size_t)front->n, count = (size_t)job->n_constraints;
    double *column = (double *)malloc(sizeof *column * (n + 1));
    int status = column ? EC_OK : ec_fail(EC_ERR_MEMORY, "solve: no memory for the front");

    for (size_t j = 0; j < count && status == EC_OK; j++) {
        ec_expr margin = ec_job_margin(run->job, &job->constraints[j]);
        status = margin < 0 ? margin : evaluate_members(run, backend, 1, &margin, &column);
        for (size_t i = 0; i < n && status == EC_OK; i++)
            front->constraint[i * count + j] = column[i];
    }
    free(column);
    return status;
}

/* Variables, constraints and records of the members; the latter two only when `scored`. */
static int fill_members(ec_solve_run *run, ec_backend *backend, bool scored)
{
    const ec_job *job = run->job;
    ec_front *front = &run->result->front;
    size_t n = (size_t)front->n, count = (size_t)(job->n_variables + job->n_records);
    ec_expr *exprs = (ec_expr *)malloc(sizeof *exprs * (count + 1));

    if (!exprs)
        return ec_fail(EC_ERR_MEMORY, "solve: no memory for the front");
    for (int32_t i = 0; i < job->n_variables; i++)
        exprs[i] = job->variables[i]->variable.value;
    for (int32_t i = 0; i < job->n_records; i++)
        exprs[job->n_variables + i] = job->records[i].expr;
    for (size_t i = 0; i < n * (size_t)job->n_constraints; i++)
        front->constraint[i] = NAN;
    for (int32_t i = 0; i < job->n_records; i++)
        for (size_t k = 0; k < n * (size_t)run->result->record_length[i]; k++)
            front->record[i][k] = NAN;
    int status = evaluate_members(run, backend, job->n_variables, exprs, front->variable);
    if (status == EC_OK && scored)
        status = evaluate_constraints(run, backend);
    if (status == EC_OK && scored)
        status =
            evaluate_members(run, backend, job->n_records, exprs + job->n_variables, front->record);
    free(exprs);
    return status;
}

/* The result's front from its members' scores. */
static int fill_front(ec_solve_run *run, ec_backend *backend, const final_scores *s, size_t knee)
{
    ec_front *front = &run->result->front;
    size_t costs = run->n_objectives, width = run->width;

    int status = front_create(run, front, s->n);
    if (status < 0)
        return status;
    front->n = (int32_t)s->n;
    front->best = (int32_t)knee;
    if (s->n == 0)
        return EC_OK;
    double *rows = front->objective_final; /* costs at first */
    for (size_t m = 0; m < s->n; m++) {
        memcpy(front->genes + m * width, run->front.genes + s->member[m] * width,
               width * sizeof(double));
        memcpy(rows + m * costs, s->cost + s->member[m] * costs, costs * sizeof(double));
    }
    front->hypervolume = front_volume(run, rows, s->n);
    for (size_t m = 0; m < s->n; m++)
        for (size_t k = 0; k < costs; k++) {
            double search = run->front.cost[s->member[m] * costs + k];
            front->objective_search[m * costs + k] = signed_as(run, k, search);
            front->objective_final[m * costs + k] =
                s->known ? signed_as(run, k, rows[m * costs + k]) : NAN;
        }
    status = fill_members(run, backend, s->known);
    if (status == EC_STOPPED) {
        run->result->stop = EC_STOP_INTERRUPT;
        status = EC_OK;
    } else if (status < 0) {
        ec_solve_note_error(run, status);
        status = EC_OK;
    }
    return status;
}

/* The design in row i of the last front becomes the result's. */
static int take_winner(ec_solve_run *run, ec_backend *backend, const final_scores *s, size_t i)
{
    ec_result *result = run->result;
    double objective[EC_OBJECTIVES_MAX];

    for (size_t k = 0; k < run->n_objectives; k++)
        objective[k] = signed_as(run, k, run->front.cost[i * run->n_objectives + k]);
    result->found = true;
    result->status = s->status[i];
    result->violation = s->violation[i];
    memcpy(result->genes, run->front.genes + i * run->width, run->width * sizeof(double));
    return ec_solve_fill_values(run, backend, objective, !s->known);
}

/* Scores the last front again at final fidelity and keeps those that no other dominates there. */
int ec_solve_choose_front(ec_solve_run *run, ec_backend *backend)
{
    ec_front_list *front = &run->front;
    size_t n = front->n, knee = 0;
    final_scores s = {NULL, NULL, NULL, NULL, 0, false};

    for (size_t k = 0; k < run->n_objectives; k++)
        run->result->front.reference[k] =
            front->progress.referenced ? signed_as(run, k, front->progress.reference[k]) : NAN;
    if (n == 0)
        return EC_OK;
    int status = scores_create(run, &s);
    ec_solve_begin_end(run);
    if (status == EC_OK) {
        int scored =
            ec_solve_score_final(run, backend, front->genes, n, s.cost, s.violation, s.status);
        s.known = scored == EC_OK;
        if (scored < 0)
            ec_solve_note_error(run, scored);
        if (scored == EC_STOPPED)
            run->result->stop = EC_STOP_INTERRUPT;
    }
    if (status == EC_OK && !s.known) {
        memcpy(s.cost, front->cost, n * run->n_objectives * sizeof(double));
        memcpy(s.violation, front->violation, n * sizeof(double));
        memset(s.status, 0, n);
    }
    if (status == EC_OK) {
        choose_members(run, &s);
        knee = s.n > 0 ? find_knee(run, &s) : 0;
        status = take_winner(run, backend, &s, s.n > 0 ? s.member[knee] : front->order[0]);
    }
    if (status == EC_OK)
        status = fill_front(run, backend, &s, knee);
    scores_release(&s);
    return status;
}

/* ---- a member as a result ---- */

static double *copy_row(const double *rows, size_t row, size_t width)
{
    double *copy = (double *)calloc(width + 1, sizeof *copy);

    if (copy && width > 0)
        memcpy(copy, rows + row * width, width * sizeof *copy);
    return copy;
}

/* Row `row` of n columns of the given lengths; ends with a NULL. */
static bool copy_columns(double *const *columns, const int32_t *lengths, size_t row, int32_t n,
                         double ***to, int32_t **to_lengths)
{
    *to = (double **)calloc((size_t)n + 1, sizeof **to);
    *to_lengths = (int32_t *)calloc((size_t)n + 1, sizeof **to_lengths);
    if (!*to || !*to_lengths)
        return false;
    for (int32_t i = 0; i < n; i++) {
        (*to_lengths)[i] = lengths[i];
        (*to)[i] = copy_row(columns[i], row, (size_t)lengths[i]);
        if (!(*to)[i])
            return false;
    }
    return true;
}

int ec_result_member(const ec_result *result, int32_t i, ec_result **member)
{
    const ec_front *front = &result->front;
    size_t row = (size_t)i;

    if (i < 0 || i >= front->n)
        return ec_fail(EC_ERR_ARGUMENT, "front: there is no member %d of %d", (int)i + 1,
                       (int)front->n);
    ec_result *r = (ec_result *)malloc(sizeof *r);
    if (!r)
        return ec_fail(EC_ERR_MEMORY, "front: no memory for a member");
    *r = *result;
    memset(&r->front, 0, sizeof r->front);
    r->history = NULL;
    r->failures = NULL;
    r->failure_genes = r->failure_values = NULL;
    r->n_history = r->n_failures = 0;
    r->status = 0;
    r->violation = 0;
    r->genes = copy_row(front->genes, row, (size_t)r->n_genes);
    r->group_genes = copy_row(NULL, 0, 0);
    r->objective_final = copy_row(front->objective_final, row, (size_t)r->n_objectives);
    r->objective_search = copy_row(front->objective_search, row, (size_t)r->n_objectives);
    r->constraint = copy_row(front->constraint, row, (size_t)r->n_constraints);
    r->variable = r->record = NULL;
    r->variable_length = r->record_length = NULL;
    bool good =
        r->genes && r->group_genes && r->objective_final && r->objective_search && r->constraint;
    good = good && copy_columns(front->variable, result->variable_length, row, r->n_variables,
                                &r->variable, &r->variable_length);
    good = good && copy_columns(front->record, result->record_length, row, r->n_records, &r->record,
                                &r->record_length);
    if (!good) {
        ec_result_destroy(&r);
        return ec_fail(EC_ERR_MEMORY, "front: no memory for a member");
    }
    *member = r;
    return EC_OK;
}
