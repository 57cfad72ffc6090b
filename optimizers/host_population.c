/* host_population.c: see host_population.h. */
#include "host_population.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

int ec_host_population_create(ec_host_population *p, ec_backend *backend,
                              const ec_optimizer_info *info, size_t capacity)
{
    memset(p, 0, sizeof *p);
    p->backend = backend;
    p->genes = info->n_genes;
    p->capacity = capacity;
    p->ld = ec_lane_ld(capacity);
    p->objectives = info->n_objectives > 0 ? info->n_objectives : 1;
    p->limits = info->n_limits;
    p->stats.best_cost = p->stats.best_violation = INFINITY;
    p->stats.best_class = 2;
    size_t bytes = sizeof(double) * p->genes * p->ld;
    int status = backend->ops->alloc(backend, bytes, (void **)&p->device_X);
    if (status == EC_OK)
        status = backend->ops->alloc(backend, sizeof p->stats, (void **)&p->device_stats);
    if (status != EC_OK)
        return status;
    if (!backend->host_memory) {
        p->staged_rows = p->objectives + 1 + p->limits;
        p->X = (double *)malloc(bytes);
        p->staged = (double *)malloc(sizeof(double) * p->staged_rows * p->ld);
        p->staged_status = (uint8_t *)malloc(p->ld);
        if (!p->X || !p->staged || !p->staged_status)
            return ec_fail(EC_ERR_MEMORY, "no memory for %zu designs", capacity);
    } else {
        p->X = p->device_X;
    }
    memset(p->X, 0, bytes);
    return ec_host_population_stats(p);
}

void ec_host_population_release(ec_host_population *p)
{
    ec_backend *backend = p->backend;

    if (!backend)
        return;
    if (!backend->host_memory)
        free(p->X);
    free(p->staged);
    free(p->staged_status);
    backend->ops->release(backend, p->device_X);
    backend->ops->release(backend, p->device_stats);
    memset(p, 0, sizeof *p);
}

void ec_host_population_resize(ec_host_population *p, size_t n)
{
    p->ld = ec_lane_ld(n < p->capacity ? n : p->capacity);
}

int ec_host_population_propose(ec_host_population *p, size_t n, ec_array *array)
{
    int32_t shape = (int32_t)p->genes;
    size_t lanes = ec_lane_ld(n);

    if (n == 0 || n > p->capacity || n > p->ld)
        return ec_fail(EC_ERR_INTERNAL, "a generation of %zu designs, room is for %zu", n,
                       p->capacity < p->ld ? p->capacity : p->ld);
    for (size_t g = 0; g < p->genes; g++)
        for (size_t c = n; c < lanes; c++)
            p->X[g * p->ld + c] = p->X[g * p->ld + n - 1];
    ec_array_describe(array, EC_F64, EC_AXIS_CANDIDATE, 1, &shape, p->ld, 1);
    array->data = p->device_X;
    array->lanes = n;
    if (p->X == p->device_X)
        return EC_OK;
    return p->backend->ops->upload(p->backend, p->device_X, p->X,
                                   sizeof(double) * p->genes * p->ld);
}

/* Rows of a score array: where the backend's memory is the host's they are read in place. */
static int fetch_rows(ec_host_population *p, const double *from, size_t rows, size_t ld, size_t n,
                      double *to, const double **at)
{
    ec_backend *backend = p->backend;
    int status = EC_OK;

    *at = NULL;
    if (!from || rows == 0)
        return EC_OK;
    *at = backend->host_memory && ld == p->ld ? from : to;
    if (*at == from)
        return EC_OK;
    if (ld == p->ld)
        return backend->ops->download(backend, to, from, sizeof(double) * ((rows - 1) * ld + n));
    for (size_t r = 0; r < rows && status == EC_OK; r++)
        status = backend->ops->download(backend, to + r * p->ld, from + r * ld, sizeof(double) * n);
    return status;
}

/* Room for `rows` rows of scores. */
static int make_room(ec_host_population *p, size_t rows)
{
    if (rows <= p->staged_rows)
        return EC_OK;
    double *grown = (double *)realloc(p->staged, sizeof(double) * rows * ec_lane_ld(p->capacity));
    if (!grown)
        return ec_fail(EC_ERR_MEMORY, "no memory for the scores of %zu designs", p->capacity);
    p->staged = grown;
    p->staged_rows = rows;
    return EC_OK;
}

int ec_host_population_fetch(ec_host_population *p, const ec_scores *scores, size_t n,
                             bool *stopped)
{
    ec_backend *backend = p->backend;
    size_t limits = scores->limit ? p->limits : 0;
    size_t slopes = scores->cost_gradient ? p->genes : 0;
    size_t limit_slopes = scores->limit_gradient ? p->limits * p->genes : 0;
    size_t rows = p->objectives + 1 + limits + slopes + limit_slopes;
    int32_t flag = 0;

    *stopped = false;
    if (n > p->capacity)
        return ec_fail(EC_ERR_ARGUMENT, "%zu scores for %zu designs", n, p->capacity);
    int status = EC_OK;
    if (p->stop)
        status = backend->ops->download(backend, &flag, p->stop, sizeof flag);
    *stopped = flag != 0;
    if (status != EC_OK || flag)
        return status;
    if (!backend->host_memory || (scores->ld != p->ld && scores->ld != 0))
        status = make_room(p, rows);
    size_t ld = scores->ld ? scores->ld : p->ld;
    double *to = p->staged;
    const struct {
        const double *from;
        size_t rows;
        const double **at;
    } parts[] = {{scores->cost, p->objectives, &p->cost},
                 {scores->violation, 1, &p->violation},
                 {scores->limit, limits, &p->limit},
                 {scores->cost_gradient, slopes, &p->cost_gradient},
                 {scores->limit_gradient, limit_slopes, &p->limit_gradient}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == EC_OK; i++) {
        status = fetch_rows(p, parts[i].from, parts[i].rows, ld, n, to, parts[i].at);
        to = to ? to + parts[i].rows * p->ld : NULL;
    }
    p->status = scores->status;
    if (status == EC_OK && !backend->host_memory) {
        status = backend->ops->download(backend, p->staged_status, scores->status, n);
        p->status = p->staged_status;
    }
    return status;
}

int ec_host_population_stats(ec_host_population *p)
{
    return p->backend->ops->upload(p->backend, p->device_stats, &p->stats, sizeof p->stats);
}

int ec_host_threads(const ec_backend *backend)
{
    int threads = backend->threads;

#ifdef _OPENMP
    threads = backend->is_cuda ? omp_get_max_threads() : threads;
#endif
    return threads > 1 ? threads : 1;
}

int ec_host_population_class(const ec_host_population *p, size_t c)
{
    double violation = p->violation ? p->violation[c] : 0;
    bool finite = isfinite(violation);

    for (size_t k = 0; k < p->objectives; k++)
        finite = finite && isfinite(p->cost[k * p->ld + c]);
    if (p->status[c] || !finite)
        return 2;
    return violation > 0 ? 1 : 0;
}
