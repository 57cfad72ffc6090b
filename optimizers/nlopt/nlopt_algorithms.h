/* nlopt_algorithms.h: NLopt's algorithms as data, and an optimiser of NLopt made ready to run.
 *
 * Unknowns are y in [0, 1]: the genes that move, each in units of its range. Limits are met where
 * they are <= 0 (an equality: 0).
 */
#ifndef EC_NLOPT_ALGORITHMS_H
#define EC_NLOPT_ALGORITHMS_H

#include "nlopt_list.h"

#include "../../core/base.h"

#include <nlopt.h>

EC_C_BEGIN

typedef struct ec_nlopt_algorithm {
    const char *name, *word, *help; /* "LD_SLSQP", "ld_slsqp" */
    uint32_t traits;                /* EC_NLOPT_* */
} ec_nlopt_algorithm;

/* Of the list, in its order; NULL behind the last one. */
const ec_nlopt_algorithm *ec_nlopt_algorithm_at(size_t i);
const ec_nlopt_algorithm *ec_nlopt_algorithm_find(const char *word);

typedef struct ec_nlopt_setup {
    const ec_nlopt_algorithm *algorithm;
    const ec_nlopt_algorithm *local; /* of one that needs it, else NULL */
    size_t n, n_inequalities, n_equalities;
    double xtol, ftol; /* 0: none */
    double step;       /* first step of derivative-free local algorithms; 0: NLopt's choice */
    int maxeval;       /* of a search; 0: no limit */
    unsigned points;   /* population; 0: NLopt's choice */
    unsigned storage;  /* pairs of vectors */
    nlopt_func objective;
    nlopt_mfunc inequalities, equalities;
} ec_nlopt_setup;

/* How a method meets the limits of a job. */
typedef enum ec_nlopt_way {
    EC_NLOPT_ITSELF,
    EC_NLOPT_LAGRANGIAN,    /* as the local algorithm of NLopt's augmented Lagrangian */
    EC_NLOPT_LAGRANGIAN_EQ, /* the same, but it takes the inequalities by itself */
    EC_NLOPT_CANNOT
} ec_nlopt_way;
ec_nlopt_way ec_nlopt_way_of(const ec_nlopt_setup *setup);

/* An optimiser whose functions get `user`; NULL without memory. */
nlopt_opt ec_nlopt_open(const ec_nlopt_setup *setup, void *user);
/* Whether this build of NLopt has the algorithm: it is run for one evaluation. */
bool ec_nlopt_is_built(const ec_nlopt_algorithm *algorithm);

/* How a search ended, for counting and saying. */
typedef enum ec_nlopt_end {
    EC_NLOPT_CONVERGED,
    EC_NLOPT_ROUNDOFF,
    EC_NLOPT_MAXEVAL,
    EC_NLOPT_FAILED,
    EC_NLOPT_STOPPED,
    EC_NLOPT_ENDS
} ec_nlopt_end;
ec_nlopt_end ec_nlopt_end_of(nlopt_result result);
const char *ec_nlopt_end_text(ec_nlopt_end end); /* "converged" */

EC_C_END
#endif
