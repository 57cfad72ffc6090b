/* nlopt_algorithms.c: see nlopt_algorithms.h. */
#include "nlopt_algorithms.h"

#include <stdlib.h>
#include <string.h>

/* Kept from inequality limits, in units of their scale, so that rounding does not leave the best
 * design just outside; what a search counts as met. */
static const double margin_tolerance = 1e-10;

#define ENTRY(name, word, options, traits, help) {#name, word, help, traits},
static const ec_nlopt_algorithm algorithms[] = {EC_NLOPT_LIST(ENTRY)};
#undef ENTRY
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

const ec_nlopt_algorithm *ec_nlopt_algorithm_at(size_t i)
{
    return i < ALGORITHMS ? &algorithms[i] : NULL;
}

const ec_nlopt_algorithm *ec_nlopt_algorithm_find(const char *word)
{
    for (size_t i = 0; i < ALGORITHMS; i++)
        if (strcmp(algorithms[i].word, word) == 0)
            return &algorithms[i];
    return NULL;
}

static nlopt_algorithm number_of(const ec_nlopt_algorithm *algorithm)
{
    return nlopt_algorithm_from_string(algorithm->name);
}

ec_nlopt_way ec_nlopt_way_of(const ec_nlopt_setup *s)
{
    uint32_t traits = s->algorithm->traits;
    uint32_t wanted = (s->n_inequalities > 0 ? EC_NLOPT_INEQUALITIES : 0u) |
                      (s->n_equalities > 0 ? EC_NLOPT_EQUALITIES : 0u);

    if ((traits & wanted) == wanted)
        return EC_NLOPT_ITSELF;
    if (traits & EC_NLOPT_GLOBAL)
        return EC_NLOPT_CANNOT;
    return traits & EC_NLOPT_INEQUALITIES ? EC_NLOPT_LAGRANGIAN_EQ : EC_NLOPT_LAGRANGIAN;
}

static bool set_stops(nlopt_opt opt, const ec_nlopt_setup *s)
{
    bool ok = nlopt_set_xtol_rel(opt, s->xtol) > 0 && nlopt_set_xtol_abs1(opt, s->xtol) > 0 &&
              nlopt_set_ftol_rel(opt, s->ftol) > 0;

    if (ok && s->step > 0)
        ok = nlopt_set_initial_step1(opt, s->step) > 0;
    return ok && nlopt_set_vector_storage(opt, s->storage) > 0;
}

static bool set_local(nlopt_opt opt, const ec_nlopt_setup *s, const ec_nlopt_algorithm *local)
{
    nlopt_opt inner = nlopt_create(number_of(local), (unsigned)s->n);
    bool ok = inner && set_stops(inner, s) && nlopt_set_local_optimizer(opt, inner) > 0;

    nlopt_destroy(inner);
    return ok;
}

static bool set_limits(nlopt_opt opt, const ec_nlopt_setup *s, void *user)
{
    size_t most = s->n_inequalities > s->n_equalities ? s->n_inequalities : s->n_equalities;
    double *tolerance = (double *)malloc(sizeof *tolerance * (most + 1));
    bool ok = tolerance != NULL;

    for (size_t i = 0; i < most && ok; i++)
        tolerance[i] = margin_tolerance;
    if (ok && s->n_inequalities > 0)
        ok = nlopt_add_inequality_mconstraint(opt, (unsigned)s->n_inequalities, s->inequalities,
                                              user, tolerance) > 0;
    if (ok && s->n_equalities > 0)
        ok = nlopt_add_equality_mconstraint(opt, (unsigned)s->n_equalities, s->equalities, user,
                                            tolerance) > 0;
    free(tolerance);
    return ok;
}

nlopt_opt ec_nlopt_open(const ec_nlopt_setup *s, void *user)
{
    ec_nlopt_way way = ec_nlopt_way_of(s);
    nlopt_algorithm number = way == EC_NLOPT_LAGRANGIAN      ? NLOPT_AUGLAG
                             : way == EC_NLOPT_LAGRANGIAN_EQ ? NLOPT_AUGLAG_EQ
                                                             : number_of(s->algorithm);
    const ec_nlopt_algorithm *local = way == EC_NLOPT_ITSELF ? s->local : s->algorithm;
    nlopt_opt opt = nlopt_create(number, (unsigned)s->n);

    bool ok = opt && nlopt_set_lower_bounds1(opt, 0) > 0 && nlopt_set_upper_bounds1(opt, 1) > 0 &&
              nlopt_set_min_objective(opt, s->objective, user) > 0 && set_stops(opt, s) &&
              nlopt_set_maxeval(opt, s->maxeval) > 0 && nlopt_set_population(opt, s->points) > 0;
    if (ok && local)
        ok = set_local(opt, s, local);
    if (ok)
        ok = set_limits(opt, s, user);
    if (ok)
        return opt;
    nlopt_destroy(opt);
    return NULL;
}

static double one_try(unsigned n, const double *y, double *gradient, void *user)
{
    int *tried = (int *)user;

    (void)y;
    (*tried)++;
    if (gradient)
        memset(gradient, 0, sizeof *gradient * n);
    return 0;
}

bool ec_nlopt_is_built(const ec_nlopt_algorithm *algorithm)
{
    ec_nlopt_setup setup = {
        .algorithm = algorithm, .n = 2, .xtol = 1e-2, .maxeval = 1, .objective = one_try};
    int tried = 0;
    double y[2] = {0.5, 0.5}, value;

    if ((int)number_of(algorithm) < 0)
        return false;
    if (!(algorithm->traits & EC_NLOPT_OPTIONAL))
        return true;
    nlopt_opt opt = ec_nlopt_open(&setup, &tried);
    if (opt)
        nlopt_optimize(opt, y, &value);
    nlopt_destroy(opt);
    return tried > 0;
}

ec_nlopt_end ec_nlopt_end_of(nlopt_result result)
{
    switch (result) {
    case NLOPT_ROUNDOFF_LIMITED:
        return EC_NLOPT_ROUNDOFF;
    case NLOPT_MAXEVAL_REACHED:
        return EC_NLOPT_MAXEVAL;
    case NLOPT_FORCED_STOP:
    case NLOPT_MAXTIME_REACHED:
        return EC_NLOPT_STOPPED;
    default:
        return result > 0 ? EC_NLOPT_CONVERGED : EC_NLOPT_FAILED;
    }
}

const char *ec_nlopt_end_text(ec_nlopt_end end)
{
    static const char *const texts[EC_NLOPT_ENDS] = {"converged", "limited by rounding",
                                                     "at search_evaluations", "failed", "stopped"};

    return (unsigned)end < EC_NLOPT_ENDS ? texts[end] : "unknown";
}
