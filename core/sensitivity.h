/* sensitivity.h: which variables a result depends on, from a sweep of designs made for the question.
 *
 * Factors are the genes of independent variables, stretched to the unit interval: reals and integers,
 * bits without a sum, choices that may be alike. Effects are per whole range of a factor.
 *
 *   morris  trajectories of D + 1 designs on a grid of levels, each step moves one factor by
 *           levels / (2 (levels - 1)). mu: mean of the elementary effects (change per range), mu_star:
 *           of their magnitudes, sigma: their standard deviation (M. D. Morris, Technometrics 33,
 *           1991; mu_star: Campolongo, Cariboni and Saltelli, Environ. Modell. Softw. 22, 2007)
 *   sobol   N blocks of D + 2 designs A, B and A with one column of B, from Sobol points (Saltelli et
 *           al., Comput. Phys. Commun. 181, 2010). First-order and total indices (ibid., table 2, b and f):
 *           S1 = E f_B (f_AB - f_A) / V with the mean of f taken off, ST = E(f_A - f_AB)^2 / 2V; 95 %
 *           confidence half widths from bootstrap over blocks
 *
 * A block (trajectory) with a design that failed, or was not run, is left out.
 */
#ifndef EC_SENSITIVITY_H
#define EC_SENSITIVITY_H

#include "sweep.h"

EC_C_BEGIN

typedef enum ec_sensitivity_method {
    EC_SENSITIVITY_SOBOL,
    EC_SENSITIVITY_MORRIS
} ec_sensitivity_method;

typedef struct ec_sensitivity_info {
    ec_sensitivity_method method;
    size_t points;            /* sobol: N, best a power of two; 0: 1024 */
    size_t trajectories;      /* morris; 0: 20 */
    int32_t levels;           /* morris: even, 2 to 1000; 0: 4 */
    int32_t n_variables;      /* that vary */
    const int32_t *variables; /* NULL: all */
    uint64_t seed;
} ec_sensitivity_info;

/* The designs, block after block. Errors: variables whose elements depend on each other. */
EC_API int ec_sensitivity_plan(const ec_job *job, const ec_sensitivity_info *info,
                               ec_sweep_plan **plan);
EC_API size_t ec_sensitivity_rows(const ec_job *job, const ec_sensitivity_info *info);

enum { EC_SENSITIVITY_MEASURES = 4 };

typedef struct ec_sensitivity {
    ec_sensitivity_method method;
    int32_t n_factors, n_outputs, n_measures;
    char **factor;   /* "width", "x[3]" */
    int32_t *output; /* columns of the sweep */
    char **output_name;
    const char
        *measure[EC_SENSITIVITY_MEASURES];  /* "S1", "S1_conf", "ST", "ST_conf"; "mu", "mu_star",
                                                    "sigma" */
    double *value[EC_SENSITIVITY_MEASURES]; /* [n_outputs][n_factors]; NaN: no value */
    size_t blocks, dropped;                 /* of all, and those with a design that failed */
} ec_sensitivity;

/* From the sweep of that plan. */
EC_API int ec_sensitivity_create(const ec_sensitivity_info *info, const ec_sweep_plan *plan,
                                 const ec_sweep *sweep, ec_sensitivity **sensitivity);
EC_API void ec_sensitivity_destroy(ec_sensitivity **sensitivity);
/* Tables for people, malloc'ed; and folder/NAME_indices.csv: output, factor and the measures. */
EC_API int ec_sensitivity_summary(const ec_sensitivity *sensitivity, const ec_sweep *sweep,
                                  char **text);
EC_API int ec_sensitivity_write(const ec_sensitivity *sensitivity, const char *folder,
                                const char *name);

EC_C_END
#endif
