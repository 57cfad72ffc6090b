#include "bench_cusolver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* cusolverDn.h in what is used of it: handles are pointers, enumerations ints, 0 is success, and
 * CUSOLVER_EIG_MODE_NOVECTOR is 0. */
typedef int create_call(void **handle);
typedef int destroy_call(void *handle);
typedef int stream_call(void *handle, void *stream);
typedef int size_call(void *handle, int mode, int m, int n, const void *a, int lda, const float *s,
                      const void *u, int ldu, const void *v, int ldv, int *size, void *info,
                      int batch);
typedef int run_call(void *handle, int mode, int m, int n, void *a, int lda, float *s, void *u,
                     int ldu, void *v, int ldv, void *work, int size, int *status, void *info,
                     int batch);

struct bench_cusolver {
    ec_backend *backend;
    void *library, *handle, *info;
    destroy_call *destroy, *destroy_info;
    run_call *run;
    int n, batch, work_size;
    void *original, *matrix, *values, *u, *v, *work, *status;
};

static void *find(bench_cusolver *p, const char *name, const char **missing)
{
    void *symbol = dlsym(p->library, name);
    if (!symbol)
        *missing = name;
    return symbol;
}

static bool start(bench_cusolver *p, const ec_c64 *matrices, const char **reason)
{
    const ec_backend_ops *ops = p->backend->ops;
    create_call *create = (create_call *)find(p, "cusolverDnCreate", reason);
    create_call *create_info = (create_call *)find(p, "cusolverDnCreateGesvdjInfo", reason);
    stream_call *stream = (stream_call *)find(p, "cusolverDnSetStream", reason);
    size_call *work_size = (size_call *)find(p, "cusolverDnCgesvdjBatched_bufferSize", reason);
    size_t n = (size_t)p->n, batch = (size_t)p->batch, bytes = n * n * batch * sizeof(ec_c64);

    p->destroy = (destroy_call *)find(p, "cusolverDnDestroy", reason);
    p->destroy_info = (destroy_call *)find(p, "cusolverDnDestroyGesvdjInfo", reason);
    p->run = (run_call *)find(p, "cusolverDnCgesvdjBatched", reason);
    if (*reason)
        return false;
    *reason = "it cannot be set up";
    if (create(&p->handle) || create_info(&p->info) || stream(p->handle, p->backend->stream))
        return false;
    *reason = "no memory on the device";
    if (ops->alloc(p->backend, bytes, &p->original) < 0 ||
        ops->alloc(p->backend, bytes, &p->matrix) < 0 ||
        ops->alloc(p->backend, n * batch * sizeof(float), &p->values) < 0 ||
        ops->alloc(p->backend, bytes, &p->u) < 0 || ops->alloc(p->backend, bytes, &p->v) < 0 ||
        ops->alloc(p->backend, batch * sizeof(int), &p->status) < 0 ||
        ops->upload(p->backend, p->original, matrices, bytes) < 0)
        return false;
    if (work_size(p->handle, 0, p->n, p->n, p->matrix, p->n, p->values, p->u, p->n, p->v, p->n,
                  &p->work_size, p->info, p->batch) ||
        ops->alloc(p->backend, (size_t)p->work_size * sizeof(ec_c64), &p->work) < 0)
        return false;
    return true;
}

bench_cusolver *bench_cusolver_create(ec_backend *backend, int n, int batch, const ec_c64 *matrices,
                                      char *text, size_t size)
{
    static const char *const names[] = {"libcusolver.so", "libcusolver.so.12", "libcusolver.so.11"};
    const char *reason = NULL;
    bench_cusolver *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->backend = backend;
    p->n = n;
    p->batch = batch;
    for (size_t i = 0; i < sizeof names / sizeof *names && !p->library; i++)
        p->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!p->library)
        reason = "libcusolver.so cannot be loaded";
    if (p->library && start(p, matrices, &reason))
        return p;
    snprintf(text, size, "%s", reason);
    bench_cusolver_destroy(&p);
    return NULL;
}

void bench_cusolver_destroy(bench_cusolver **peer)
{
    bench_cusolver *p = *peer;

    if (!p)
        return;
    void *blocks[] = {p->original, p->matrix, p->values, p->u, p->v, p->work, p->status};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        p->backend->ops->release(p->backend, blocks[i]);
    if (p->info)
        p->destroy_info(p->info);
    if (p->handle)
        p->destroy(p->handle);
    if (p->library)
        dlclose(p->library);
    free(p);
    *peer = NULL;
}

int bench_cusolver_run(bench_cusolver *p)
{
    size_t bytes = (size_t)(p->n * p->n) * (size_t)p->batch * sizeof(ec_c64);
    int status = p->backend->ops->copy(p->backend, p->matrix, p->original, bytes);

    if (status < 0)
        return status;
    return p->run(p->handle, 0, p->n, p->n, p->matrix, p->n, p->values, p->u, p->n, p->v, p->n,
                  p->work, p->work_size, p->status, p->info, p->batch)
               ? ec_fail(EC_ERR_DEVICE, "cusolverDnCgesvdjBatched failed")
               : EC_OK;
}

int bench_cusolver_first(bench_cusolver *p, float *value)
{
    return p->backend->ops->download(p->backend, value, p->values, sizeof *value);
}
