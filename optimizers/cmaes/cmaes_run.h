/* cmaes_run.h: one run of CMA-ES: a normal distribution that learns from ranked designs.
 *
 * Coordinates. Each free gene has one, in which its box is [0, 1]; a design is m + sigma A y with
 * y ~ N(0, C), whatever its cost. A real gene's coordinate may lie anywhere: it is mapped into the
 * box by Hansen's boundary transformation (linear in the middle, quadratic within 0.05 of a bound,
 * periodic outside: ec_cmaes_to_gene), so bounds are reached exactly and no penalty is needed. An
 * integral gene's coordinate is clamped, and its mean and A keep a least probability of leaving
 * the cell of the mean, so that it never freezes.
 *
 * Sources. Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv 1604.00772 (2016): weights
 * eq. 49-53 with the negative ones of active CMA, rates eq. 55-58, updates eq. 38-47. The
 * factor of C is Cholesky's rather than the root from an eigen decomposition: Krause, Arbones
 * and Igel, NIPS 2016 (the path of sigma then lives in coordinates that turn slowly with the
 * factor). Stop rules: Hansen, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function
 * testbed", GECCO 2009. Integral genes: Hamano, Saito, Nomura and Shirakawa, "CMA-ES with Margin",
 * GECCO 2022. Injected designs: Hansen, arXiv 1110.4181 (2011).
 *
 * Invariants. Sums have a fixed order, whatever the threads, and all functions are detmath's: a
 * run gives the same bits everywhere. No number of the state is ever a NaN or infinite.
 */
#ifndef EC_CMAES_RUN_H
#define EC_CMAES_RUN_H

#include "optimizer.h"
#include "random.h"

EC_C_BEGIN

enum {
    EC_CMAES_GENES_MAX = 2048, /* free genes: C has their square */
    EC_CMAES_HISTORY = 2048    /* generations of a run that its stop rules look back at */
};

/* The free genes. */
typedef struct ec_cmaes_space {
    uint32_t n;
    uint32_t integral;     /* how many of them */
    uint32_t *gene;        /* [n] its place in a design */
    uint32_t *cells;       /* [n] values of an integral gene, 0 for a real one */
    double *lower, *range; /* [n] */
} ec_cmaes_space;

double ec_cmaes_to_gene(const ec_cmaes_space *space, uint32_t i, double coordinate);
/* The coordinate of a gene within its bounds. */
double ec_cmaes_to_coordinate(const ec_cmaes_space *space, uint32_t i, double gene);

/* Weights and rates of a population of lambda in n dimensions. */
typedef struct ec_cmaes_rules {
    uint32_t lambda, mu;
    double mu_eff, c_sigma, c_c, c_1, c_mu, damping;
    double expected_norm; /* of a standard normal vector */
    uint32_t gap;         /* generations between two factorisations of C */
    double *weight;       /* [lambda], best first; negative ones behind mu */
} ec_cmaes_rules;

/* weight has room for lambda; active: with negative weights. */
void ec_cmaes_rules_set(ec_cmaes_rules *rules, uint32_t n, uint32_t lambda, bool active);

/* Why a run is over. */
typedef enum ec_cmaes_end {
    EC_CMAES_GOES_ON,
    EC_CMAES_TOLERANCE,  /* the best costs of some generations differ by less than the tolerance */
    EC_CMAES_WORSE,      /* the same for 1e-3 of what they lie above the best one of earlier runs */
    EC_CMAES_STEP,       /* all steps are far below the first ones */
    EC_CMAES_CONDITION,  /* C is no longer positive definite to working precision */
    EC_CMAES_FLAT,       /* equal costs in a third of the generations */
    EC_CMAES_STAGNATION, /* neither best nor median cost has become better for long */
    EC_CMAES_DIVERGED,   /* the distribution is far wider than the box */
    EC_CMAES_FAILED,     /* all designs of ten generations failed */
    EC_CMAES_LONG        /* more generations or evaluations than a run should take */
} ec_cmaes_end;
const char *ec_cmaes_end_name(int end);

/* Numbers of a run that a saved state holds. */
typedef struct ec_cmaes_numbers {
    double sigma, sigma_start;
    uint64_t evaluations, evaluations_max; /* of the run; 0: no limit */
    uint32_t lambda;
    uint32_t generation; /* takes of the run */
    uint32_t factored;   /* generation of the factor */
    uint32_t history;    /* generations in the history */
    uint32_t history_class;
    uint32_t all_failed; /* generations in a row */
    uint32_t end;
    uint32_t reserved;
} ec_cmaes_numbers;

typedef struct ec_cmaes_run {
    const ec_cmaes_space *space;
    bool active;
    double tolerance;
    int threads;
    ec_cmaes_rules rules; /* of numbers.lambda */
    ec_cmaes_numbers numbers;
    double *mean;                /* [n] */
    double *C;                   /* [n][n], upper triangle */
    double *factor;              /* [n][n], upper triangle: C = factor^T factor, when it was made */
    double *scale;               /* [n] A */
    double *path_sigma, *path_c; /* [n] */
    double *best_cost, *median_cost; /* [EC_CMAES_HISTORY], generation g at g % EC_CMAES_HISTORY */
    uint8_t *equal;                  /* [EC_CMAES_HISTORY] best costs of a generation were equal */
    /* work of a generation */
    double *Z, *Y;     /* [lambda][n] standard normal, and with the covariance C */
    double *norm2;     /* [lambda] of Z */
    double *mean_step; /* [n] */
    double *z_step;    /* [n] */
} ec_cmaes_run;

/* Starts over at a mean (coordinates, [n]); a lambda above the allocated one is not allowed. */
void ec_cmaes_run_begin(ec_cmaes_run *run, uint32_t lambda, double sigma, const double *mean,
                        uint64_t evaluations_max);
/* After a saved state was put back: what follows from it. */
void ec_cmaes_run_resume(ec_cmaes_run *run);

/* Draws Y and writes the free genes of lambda designs: gene g of design c at X[g * ld + c]. */
void ec_cmaes_run_sample(ec_cmaes_run *run, const ec_random_stream *stream, double *X, size_t ld);
/* Design c is at these coordinates ([n]) instead: Y that leads there from the mean, shortened so
 * that the run survives it. Only in a run's first generation, where C is the unit matrix. */
void ec_cmaes_run_inject(ec_cmaes_run *run, uint32_t c, const double *coordinate);

/* Learns from a generation: rank has the designs from best to worst, of which the first `good` did
 * not fail; class and cost of the best and of the median design (violation where the class is 1).
 * With good = 0 the distribution stays. Afterwards numbers.end says whether the run is over. */
typedef struct ec_cmaes_outcome {
    const uint32_t *rank; /* [lambda] */
    uint32_t good;
    uint32_t best_class, median_class;
    double best, median;
    bool equal;   /* the best is no better than the design at a quarter of the ranking */
    double known; /* best cost of earlier runs, if best_class is theirs too; else infinite */
} ec_cmaes_outcome;
void ec_cmaes_run_learn(ec_cmaes_run *run, const ec_cmaes_outcome *outcome);

/* ---- linear algebra, upper triangles of row-major n x n matrices ---- */

/* U with C = U^T U in the place of C; false when C is not positive definite. Same bits for any
 * number of threads. */
bool ec_cmaes_factor(double *C, uint32_t n, int threads);
/* z with U^T z = y; y is destroyed. */
void ec_cmaes_solve(const double *U, uint32_t n, double *y, double *z);

EC_C_END
#endif
