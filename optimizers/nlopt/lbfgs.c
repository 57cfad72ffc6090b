/* lbfgs.c: projected L-BFGS from many starts: `population` runs side by side, each generation one
 * evaluation with gradient of every run.
 *
 * A run: the direction d comes from the last pairs (s, y) by the two-loop recursion (Nocedal, Math.
 * Comp. 35, 1980), over the variables that are free: not at a bound towards which the cost falls. The
 * point moves along the projection of x + t d onto the box (Bertsekas, SIAM J. Control Optim. 20,
 * 1982: the metric is that of the free variables alone). The step t meets the weak Wolfe conditions
 * by bracketing (Lewis and Overton, Math. Program. 141, 2013), with an interpolated step where the cost
 * rose; that also gets along with kinks. A pair is kept where its curvature is positive. A run that
 * cannot lower its cost forgets its pairs once, then ends; the next start takes its place.
 *
 * No decision compares costs but by their differences, so that adding a constant changes nothing but
 * rounding.
 */
#include "multi_start.h"
#include "optimizers/method_info.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUNS_DEFAULT = 64,
    RUNS_MAX = 1 << 16,
    MEMORY_MAX = 64,
    TRIES_MAX = 25,       /* points of a line search */
    PARALLEL_WORK = 65536 /* runs x variables from which on threads share the work */
};
static const double sufficient = 1e-4, curvature = 0.9; /* Wolfe conditions */
static const double first_move = 0.1;                   /* largest move of a run's first step */
static const double flat_move = 1e-15; /* moves of all variables below it end a run */

typedef enum end {
    END_NONE,
    END_GRADIENT, /* below gtol of its start's */
    END_LOWEST,   /* no step lowers the cost */
    END_MOST,     /* search_evaluations */
    END_FAILED,   /* its start failed */
    ENDS
} end;

/* One run, plain data; its vectors lie in `vectors`. */
typedef struct run {
    uint64_t number, evaluations;
    double cost;                /* at x */
    double slope;               /* d . gradient at x, < 0 */
    double t, low, high;        /* step, and its bracket; high 0: none */
    double low_cost, low_slope; /* where t = low, when low > 0 */
    double first_gradient;      /* largest slope of the start */
    int32_t pairs, newest;      /* kept, place of the last */
    int32_t tries;              /* of this line search */
    int32_t live, started;      /* has a place; x was evaluated */
} run;

typedef struct ec_lbfgs {
    ec_optimizer base;
    ec_multi_start common;
    size_t n, runs;
    int32_t memory;
    uint64_t most, search_evaluations;
    double gtol;
    run *run;
    double *vectors; /* [runs][VECTORS + 2 memory][n] */
    double *scratch; /* [runs][memory] */
    uint32_t *of;    /* runs of the generation's designs */
    uint8_t *ended;  /* [runs] */
    size_t n_of;
    uint64_t started, ends[ENDS];
    ec_log *log;
} ec_lbfgs;

/* x, its gradient, direction, trial, its gradient, the best point of the line search, its gradient;
 * then s and y of each pair. */
enum { X_AT, G_AT, D_AT, TRIAL_AT, TRIAL_G_AT, LOW_AT, LOW_G_AT, VECTORS };

static ec_lbfgs *self(ec_optimizer *optimizer)
{
    return (ec_lbfgs *)optimizer;
}

static const ec_lbfgs *self_const(const ec_optimizer *optimizer)
{
    return (const ec_lbfgs *)optimizer;
}

static double *vector(const ec_lbfgs *o, size_t r, size_t which)
{
    return o->vectors + (r * (VECTORS + 2 * (size_t)o->memory) + which) * o->n;
}

static double *pair(const ec_lbfgs *o, size_t r, int32_t place)
{
    return vector(o, r, VECTORS + 2 * (size_t)place);
}

/* ---- direction ---- */

/* The cost falls beyond the bound that x_i lies at. */
static bool is_held(double x, double g)
{
    return (x <= 0 && g > 0) || (x >= 1 && g < 0);
}

static double largest_free(const ec_lbfgs *o, size_t r)
{
    const double *x = vector(o, r, X_AT), *g = vector(o, r, G_AT);
    double largest = 0;

    for (size_t i = 0; i < o->n; i++)
        if (!is_held(x[i], g[i]))
            largest = fmax(largest, fabs(g[i]));
    return largest;
}

/* Sum of a_i b_i over the free variables. */
static double dot_free(const ec_lbfgs *o, const double *x, const double *g, const double *a,
                       const double *b)
{
    double sum = 0;

    for (size_t i = 0; i < o->n; i++)
        if (!is_held(x[i], g[i]))
            sum += a[i] * b[i];
    return sum;
}

static void add_free(const ec_lbfgs *o, const double *x, const double *g, double factor,
                     const double *a, double *to)
{
    for (size_t i = 0; i < o->n; i++)
        if (!is_held(x[i], g[i]))
            to[i] += factor * a[i];
}

/* The two loops: d becomes the product of the inverse Hessian and d. Returns whether a pair was of
 * use. */
static bool multiply(ec_lbfgs *o, size_t r)
{
    run *s = &o->run[r];
    const double *x = vector(o, r, X_AT), *g = vector(o, r, G_AT);
    double *d = vector(o, r, D_AT), *alpha = o->scratch + r * (size_t)o->memory;
    double scale = 0;

    for (int32_t k = 0; k < s->pairs; k++) {
        int32_t place = (s->newest - k + o->memory) % o->memory;
        const double *step = pair(o, r, place), *change = step + o->n;
        double product = dot_free(o, x, g, step, change);
        double length = dot_free(o, x, g, change, change);
        alpha[k] = 0;
        if (!(product > 1e-12 * length) || length == 0) /* held variables took its curvature */
            continue;
        alpha[k] = dot_free(o, x, g, step, d) / product;
        add_free(o, x, g, -alpha[k], change, d);
        scale = scale > 0 ? scale : product / length;
    }
    if (!(scale > 0))
        return false;
    for (size_t i = 0; i < o->n; i++)
        d[i] *= scale;
    for (int32_t k = s->pairs - 1; k >= 0; k--) {
        int32_t place = (s->newest - k + o->memory) % o->memory;
        const double *step = pair(o, r, place), *change = step + o->n;
        double product = dot_free(o, x, g, step, change);
        double length = dot_free(o, x, g, change, change);
        if (!(product > 1e-12 * length) || length == 0)
            continue;
        double beta = dot_free(o, x, g, change, d) / product;
        add_free(o, x, g, alpha[k] - beta, step, d);
    }
    return true;
}

/* Trial point of the step t; returns the largest move. */
static double set_trial(ec_lbfgs *o, size_t r)
{
    const run *s = &o->run[r];
    const double *x = vector(o, r, X_AT), *d = vector(o, r, D_AT);
    double *trial = vector(o, r, TRIAL_AT), largest = 0;

    for (size_t i = 0; i < o->n; i++) {
        trial[i] = fmin(fmax(x[i] + s->t * d[i], 0), 1);
        largest = fmax(largest, fabs(trial[i] - x[i]));
    }
    return largest;
}

static void steepest(ec_lbfgs *o, size_t r)
{
    const double *x = vector(o, r, X_AT), *g = vector(o, r, G_AT);
    double *d = vector(o, r, D_AT);

    for (size_t i = 0; i < o->n; i++)
        d[i] = is_held(x[i], g[i]) ? 0 : -g[i];
}

/* A new line search from x; false when nothing moves. */
static bool begin_line(ec_lbfgs *o, size_t r)
{
    run *s = &o->run[r];
    const double *x = vector(o, r, X_AT), *g = vector(o, r, G_AT), *d = vector(o, r, D_AT);

    steepest(o, r);
    bool scaled = multiply(o, r);
    s->slope = dot_free(o, x, g, d, g);
    if (!scaled || !(s->slope < 0) || !isfinite(s->slope)) {
        s->pairs = 0;
        scaled = false;
        steepest(o, r);
        s->slope = dot_free(o, x, g, d, g);
    }
    double largest = largest_free(o, r);
    s->t = scaled ? 1 : first_move / largest;
    s->low = s->high = 0;
    s->tries = 0;
    return largest > 0 && isfinite(s->t) && set_trial(o, r) > flat_move;
}

/* ---- line search ---- */

/* Decrease that a step is to bring: of the projected move, by the slopes at x. */
static double expected(const ec_lbfgs *o, size_t r)
{
    const double *x = vector(o, r, X_AT), *g = vector(o, r, G_AT), *y = vector(o, r, TRIAL_AT);
    double sum = 0;

    for (size_t i = 0; i < o->n; i++)
        sum += g[i] * (y[i] - x[i]);
    return sum;
}

/* Slope of the cost along the path at the trial point: clamped variables stand still. */
static double trial_slope(const ec_lbfgs *o, size_t r)
{
    const double *y = vector(o, r, TRIAL_AT), *g = vector(o, r, TRIAL_G_AT),
                 *d = vector(o, r, D_AT);
    double sum = 0;

    for (size_t i = 0; i < o->n; i++)
        if (!(y[i] <= 0 && d[i] < 0) && !(y[i] >= 1 && d[i] > 0))
            sum += g[i] * d[i];
    return sum;
}

/* Next step inside the bracket, where the trial's cost was too high (or failed). */
static double shorter(const run *s, double cost, bool failed)
{
    double from = s->low, width = s->high - s->low;
    double base = s->low > 0 ? s->low_cost : s->cost, slope = s->low > 0 ? s->low_slope : s->slope;
    double curve = cost - base - slope * width; /* of the parabola, times width^2 */
    double part = failed || !(curve > 0) ? 0.5 : -0.5 * slope * width / curve;

    return from + width * fmin(fmax(part, 0.1), failed ? 0.25 : 0.5);
}

/* x moves to the point `point` with gradient `gradient`; the pair is kept. */
static void move_to(ec_lbfgs *o, size_t r, const double *point, const double *gradient, double cost)
{
    run *s = &o->run[r];
    double *x = vector(o, r, X_AT), *g = vector(o, r, G_AT);
    int32_t place = (s->newest + 1) % o->memory;
    double *step = pair(o, r, place), *change = step + o->n;
    double product = 0, length = 0;

    for (size_t i = 0; i < o->n; i++) {
        step[i] = point[i] - x[i];
        change[i] = gradient[i] - g[i];
        product += step[i] * change[i];
        length += change[i] * change[i];
    }
    if (product > 1e-12 * length && length > 0) {
        s->newest = place;
        s->pairs = s->pairs < o->memory ? s->pairs + 1 : o->memory;
    }
    memcpy(x, point, sizeof *x * o->n);
    memcpy(g, gradient, sizeof *g * o->n);
    s->cost = cost;
}

/* No step is left: from the best point of the line search, or without the pairs, or the end. */
static end give_up(ec_lbfgs *o, size_t r)
{
    run *s = &o->run[r];

    if (s->low > 0)
        move_to(o, r, vector(o, r, LOW_AT), vector(o, r, LOW_G_AT), s->low_cost);
    else if (s->pairs == 0)
        return END_LOWEST;
    else
        s->pairs = 0;
    return begin_line(o, r) ? END_NONE : END_LOWEST;
}

/* The trial has been evaluated; makes the next one. */
static end go_on(ec_lbfgs *o, size_t r, double cost, bool failed)
{
    run *s = &o->run[r];
    const double *trial = vector(o, r, TRIAL_AT), *gradient = vector(o, r, TRIAL_G_AT);
    double gain = expected(o, r);
    bool lower = !failed && cost - s->cost <= sufficient * gain && cost < s->cost;

    s->tries++;
    if (lower) {
        double slope = trial_slope(o, r);
        if (slope >= curvature * s->slope || s->tries >= TRIES_MAX) {
            move_to(o, r, trial, gradient, cost);
            if (largest_free(o, r) <= o->gtol * s->first_gradient)
                return END_GRADIENT;
            return begin_line(o, r) ? END_NONE : END_LOWEST;
        }
        s->low = s->t;
        s->low_cost = cost;
        s->low_slope = slope;
        memcpy(vector(o, r, LOW_AT), trial, sizeof *trial * o->n);
        memcpy(vector(o, r, LOW_G_AT), gradient, sizeof *gradient * o->n);
        s->t = s->high > 0 ? 0.5 * (s->low + s->high) : 2 * s->t;
    } else {
        s->high = s->t;
        s->t = shorter(s, cost, failed);
    }
    if (s->tries >= TRIES_MAX || set_trial(o, r) <= flat_move)
        return give_up(o, r);
    return END_NONE;
}

/* The start has been evaluated. */
static end begin_run(ec_lbfgs *o, size_t r, double cost, bool failed)
{
    run *s = &o->run[r];

    if (failed)
        return END_FAILED;
    s->started = 1;
    s->cost = cost;
    memcpy(vector(o, r, X_AT), vector(o, r, TRIAL_AT), sizeof(double) * o->n);
    memcpy(vector(o, r, G_AT), vector(o, r, TRIAL_G_AT), sizeof(double) * o->n);
    s->first_gradient = largest_free(o, r);
    return begin_line(o, r) ? END_NONE : END_GRADIENT;
}

static end advance(ec_lbfgs *o, size_t r, double cost, bool failed)
{
    run *s = &o->run[r];

    s->evaluations++;
    end e = s->started ? go_on(o, r, cost, failed) : begin_run(o, r, cost, failed);
    if (e == END_NONE && o->search_evaluations > 0 && s->evaluations >= o->search_evaluations)
        e = END_MOST;
    return e;
}

/* ---- create, destroy ---- */

static void ec_lbfgs_destroy(ec_optimizer **handle);

static int configure(ec_lbfgs *o, const ec_optimizer_def *def, const ec_optimizer_info *info)
{
    o->runs = info->population ? info->population : RUNS_DEFAULT;
    if (o->runs > RUNS_MAX)
        return ec_fail(EC_ERR_ARGUMENT,
                       "population = %zu is too large for %s; at most %d runs are side by side",
                       o->runs, def->name, (int)RUNS_MAX);
    if (info->n_limits > 0)
        return ec_fail(EC_ERR_UNSUPPORTED,
                       "method '%s' takes no constraints; nlopt_ld_slsqp, nlopt_ld_ccsaq and "
                       "nlopt_ld_auglag do, with gradients too",
                       def->name);
    o->memory = (int32_t)ec_method_option(def, info, "memory");
    o->gtol = ec_method_option(def, info, "gtol");
    o->search_evaluations = (uint64_t)ec_method_option(def, info, "search_evaluations");
    o->most = ec_method_option(def, info, "restarts") != 0 ? UINT64_MAX : o->runs;
    return EC_OK;
}

static int ec_lbfgs_create(const ec_optimizer_def *def, ec_backend *backend,
                           const ec_optimizer_info *info, ec_optimizer **optimizer)
{
    ec_lbfgs *o = (ec_lbfgs *)calloc(1, sizeof *o);

    if (!o)
        return ec_fail(EC_ERR_MEMORY, "no memory for %s", def->name);
    *optimizer = &o->base;
    o->base.def = def;
    o->base.backend = backend;
    o->log = info->log;
    int status = configure(o, def, info);
    if (status == EC_OK)
        status = ec_multi_start_create(&o->common, def, backend, info, o->runs);
    o->n = o->common.n;
    if (o->n == 0) /* every variable is fixed: there is one design */
        o->most = 1;
    o->run = (run *)calloc(o->runs, sizeof *o->run);
    o->of = (uint32_t *)calloc(o->runs, sizeof *o->of);
    o->ended = (uint8_t *)calloc(o->runs, 1);
    size_t vectors = o->runs * (VECTORS + 2 * (size_t)o->memory) * o->n;
    o->vectors = (double *)calloc(vectors + 1, sizeof(double));
    o->scratch = (double *)calloc(o->runs * (size_t)o->memory + 1, sizeof(double));
    if (status == EC_OK && (!o->run || !o->of || !o->ended || !o->vectors || !o->scratch))
        status = ec_fail(EC_ERR_MEMORY, "no memory for %zu runs of %zu variables", o->runs, o->n);
    if (status == EC_OK)
        ec_multi_start_say_integers(def, info);
    else
        ec_lbfgs_destroy(optimizer);
    return status;
}

static void say_ends(const ec_lbfgs *o)
{
    static const char *const texts[ENDS] = {"", "converged", "as low as rounding lets them",
                                            "at search_evaluations", "whose start failed"};

    ec_multi_start_say_ends(&o->common, o->base.def, o->log, "runs", o->started, ENDS, o->ends,
                            texts);
    ec_multi_start_say_slopes(&o->common, o->base.def, o->log);
}

static void ec_lbfgs_destroy(ec_optimizer **handle)
{
    ec_lbfgs *o = handle && *handle ? self(*handle) : NULL;

    if (!o)
        return;
    say_ends(o);
    ec_multi_start_release(&o->common);
    free(o->run);
    free(o->of);
    free(o->ended);
    free(o->vectors);
    free(o->scratch);
    free(o);
    *handle = NULL;
}

/* ---- a generation ---- */

static void start_run(ec_lbfgs *o, size_t r)
{
    run *s = &o->run[r];

    memset(s, 0, sizeof *s);
    s->live = 1;
    s->newest = -1;
    s->number = o->started++;
    ec_multi_start_point(&o->common, s->number, vector(o, r, TRIAL_AT));
}

static int ec_lbfgs_propose(ec_optimizer *optimizer, ec_array *X, ec_array *XG,
                            const int32_t **group_map, size_t *n)
{
    ec_lbfgs *o = self(optimizer);

    (void)XG;
    (void)group_map;
    o->n_of = 0;
    for (size_t r = 0; r < o->runs; r++) {
        if (!o->run[r].live && o->started < o->most)
            start_run(o, r);
        if (!o->run[r].live)
            continue;
        ec_multi_start_set(&o->common, o->n_of, vector(o, r, TRIAL_AT));
        o->of[o->n_of++] = (uint32_t)r;
    }
    *n = o->n_of;
    return *n ? ec_host_population_propose(&o->common.designs, *n, X) : EC_OK;
}

static int ec_lbfgs_take(ec_optimizer *optimizer, const ec_scores *scores, size_t n)
{
    ec_lbfgs *o = self(optimizer);
    ec_multi_start *m = &o->common;
    int threads = ec_host_threads(o->base.backend);
    bool stopped = false;

    int status = ec_multi_start_fetch(m, scores, n, &stopped);
    if (status != EC_OK || stopped)
        return status;
    (void)threads; /* without OpenMP */
    for (size_t c = 0; c < n; c++)
        ec_multi_start_gradient(m, c, vector(o, o->of[c], TRIAL_G_AT));
#pragma omp parallel for num_threads(threads) if (n * o->n > PARALLEL_WORK)
    for (size_t c = 0; c < n; c++)
        o->ended[c] =
            (uint8_t)advance(o, o->of[c], ec_multi_start_cost(m, c), ec_multi_start_failed(m, c));
    for (size_t c = 0; c < n; c++) {
        o->ends[o->ended[c]] += o->ended[c] != END_NONE;
        o->run[o->of[c]].live = o->ended[c] == END_NONE;
    }
    return EC_OK;
}

static size_t ec_lbfgs_max_population(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->runs;
}

static int ec_lbfgs_elite(ec_optimizer *optimizer, size_t k, double *X, double *cost,
                          double *violation, uint8_t *status, size_t *found)
{
    return ec_multi_start_elite(&self(optimizer)->common, k, X, cost, violation, status, found);
}

static const ec_optimizer_stats *ec_lbfgs_stats(const ec_optimizer *optimizer)
{
    return self_const(optimizer)->common.designs.device_stats;
}

static void ec_lbfgs_set_stop_flag(ec_optimizer *optimizer, const int32_t *stop)
{
    self(optimizer)->common.designs.stop = stop;
}

/* ---- save and load ---- */

typedef struct saved {
    uint64_t runs, n, memory, started, ends[ENDS];
} saved;

static size_t vector_bytes(const ec_lbfgs *o)
{
    return sizeof(double) * o->runs * (VECTORS + 2 * (size_t)o->memory) * o->n;
}

static int ec_lbfgs_save(ec_optimizer *optimizer, void **blob, size_t *bytes)
{
    ec_lbfgs *o = self(optimizer);
    saved head = {.runs = o->runs, .n = o->n, .memory = (uint64_t)o->memory, .started = o->started};

    memcpy(head.ends, o->ends, sizeof head.ends);
    *bytes =
        sizeof head + ec_multi_start_bytes(&o->common) + sizeof(run) * o->runs + vector_bytes(o);
    char *to = (char *)malloc(*bytes);
    if (!to)
        return ec_fail(EC_ERR_MEMORY, "no memory for a checkpoint of %zu bytes", *bytes);
    *blob = to;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    ec_multi_start_write(&o->common, to);
    to += ec_multi_start_bytes(&o->common);
    memcpy(to, o->run, sizeof(run) * o->runs);
    memcpy(to + sizeof(run) * o->runs, o->vectors, vector_bytes(o));
    return EC_OK;
}

static int ec_lbfgs_load(ec_optimizer *optimizer, const void *blob, size_t bytes)
{
    ec_lbfgs *o = self(optimizer);
    size_t common = ec_multi_start_bytes(&o->common);
    saved head;

    if (bytes != sizeof head + common + sizeof(run) * o->runs + vector_bytes(o))
        return ec_fail(EC_ERR_FORMAT, "the stored runs are others than this method's");
    memcpy(&head, blob, sizeof head);
    if (head.runs != o->runs || head.n != o->n || head.memory != (uint64_t)o->memory)
        return ec_fail(EC_ERR_FORMAT, "the stored runs are others than this method's");
    const char *from = (const char *)blob + sizeof head;
    int status = ec_multi_start_read(&o->common, from, common);
    if (status != EC_OK)
        return status;
    from += common;
    memcpy(o->run, from, sizeof(run) * o->runs);
    memcpy(o->vectors, from + sizeof(run) * o->runs, vector_bytes(o));
    o->started = head.started;
    memcpy(o->ends, head.ends, sizeof o->ends);
    return EC_OK;
}

/* ---- the method ---- */

static const ec_option_def options[] = {
    {"memory", EC_OPTION_INTEGER, 10, 1, MEMORY_MAX, NULL, "pairs of vectors that a run remembers"},
    {"gtol", EC_OPTION_NUMBER, 1e-9, 0, 1, NULL,
     "a run ends when its slopes have fallen to this share of those at its start"},
    {"search_evaluations", EC_OPTION_INTEGER, 0, 0, 1e9, NULL,
     "evaluations of one run, at most (0: no limit)"},
    {"restarts", EC_OPTION_FLAG, 1, 0, 1, NULL,
     "the next start begins when a run ends; false: `population` runs and no more"},
};

extern const ec_optimizer_def ec_lbfgs_method;
const ec_optimizer_def ec_lbfgs_method = {
    .name = "lbfgs",
    .help =
        "projected L-BFGS from many starts (Nocedal 1980; Bertsekas 1982): `population` runs side "
        "by side (default 64), each generation one evaluation with gradient of every run",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .flags = EC_OPTIMIZER_ON_HOST | EC_OPTIMIZER_GRADIENT | EC_OPTIMIZER_LIMITS,
    .min_population = 1,
    .create = ec_lbfgs_create,
    .destroy = ec_lbfgs_destroy,
    .max_population = ec_lbfgs_max_population,
    .propose = ec_lbfgs_propose,
    .take = ec_lbfgs_take,
    .elite = ec_lbfgs_elite,
    .stats = ec_lbfgs_stats,
    .set_stop_flag = ec_lbfgs_set_stop_flag,
    .save = ec_lbfgs_save,
    .load = ec_lbfgs_load,
};
