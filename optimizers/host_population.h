/* host_population.h: for methods whose state lives in host memory (EC_OPTIMIZER_ON_HOST): the
 * designs of a generation and their scores, in host memory, and their copies on the backend.
 *
 * A generation: the method writes its designs into X (gene g of candidate c at X[g * ld + c]) and
 * calls ec_host_population_propose; take calls ec_host_population_fetch, after which cost,
 * violation, status (and the gradients, where they were asked for) can be read, and at its end
 * ec_host_population_stats. On the CPU backend nothing is copied but the statistics.
 *
 * A generation that is proposed after the stop flag was set is not taken: fetch says so.
 */
#ifndef EC_HOST_POPULATION_H
#define EC_HOST_POPULATION_H

#include "optimizer.h"

EC_C_BEGIN

typedef struct ec_host_population {
    ec_backend *backend;
    size_t genes, capacity;
    size_t ld; /* capacity rounded up to a strip, or what resize has made it */
    size_t objectives, limits;
    double *X; /* [genes] over candidates; padding lanes repeat the last design */
    /* of the last fetch, [objectives], 1, 1, [genes], [limits], [limits][genes] over candidates */
    const double *cost, *violation;
    const uint8_t *status;
    const double *cost_gradient, *limit, *limit_gradient;
    ec_optimizer_stats stats; /* the method's; put on the backend by ec_host_population_stats */

    /* private */
    double *device_X;
    ec_optimizer_stats *device_stats;
    const int32_t *stop;
    double *staged; /* copies of the scores on another backend than the CPU */
    uint8_t *staged_status;
    size_t staged_rows;
} ec_host_population;

/* capacity: the largest generation. The population has to be released whatever is returned. */
int ec_host_population_create(ec_host_population *population, ec_backend *backend,
                              const ec_optimizer_info *info, size_t capacity);
void ec_host_population_release(ec_host_population *population);
/* Before the designs of a generation are written: packs the arrays for generations of n <= capacity,
 * so that a method whose population grows uploads what it uses. */
void ec_host_population_resize(ec_host_population *population, size_t n);
/* Uploads the first n <= capacity designs of X and describes them in *array. */
int ec_host_population_propose(ec_host_population *population, size_t n, ec_array *array);
/* Waits for the scores of n designs and brings them to the host. *stopped: the stop flag was set
 * before these designs were evaluated, so the scores mean nothing and take has to do nothing. */
int ec_host_population_fetch(ec_host_population *population, const ec_scores *scores, size_t n,
                             bool *stopped);
/* Puts `stats` where the stop rules read it. */
int ec_host_population_stats(ec_host_population *population);
/* Threads for work on the host: those of a CPU backend, all that there are beside a GPU. */
int ec_host_threads(const ec_backend *backend);
/* Class of candidate c of the last fetch: 0 feasible, 1 infeasible, 2 failed. */
int ec_host_population_class(const ec_host_population *population, size_t c);

EC_C_END
#endif
