/* worker.c: a host thread that waits for work. */
#define _POSIX_C_SOURCE 200809L /* pthread, sigset_t */
#include "worker_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

struct ec_worker {
    ec_backend *backend;
    int threads;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    int (*work)(void *data); /* NULL: idle */
    void *data;
    bool over;
    int status;
    char error[1024];
};

static void *wait_for_work(void *data)
{
    ec_worker *w = (ec_worker *)data;

#ifdef _OPENMP
    omp_set_num_threads(w->threads);
#endif
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->work && !w->over)
            pthread_cond_wait(&w->changed, &w->lock);
        if (!w->work)
            break;
        pthread_mutex_unlock(&w->lock);
        int status = w->work(w->data); /* nobody else touches the two meanwhile */
        pthread_mutex_lock(&w->lock);
        w->status = status;
        if (status < 0)
            snprintf(w->error, sizeof w->error, "%s", ec_error_text());
        w->work = NULL;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Signals stay with the threads of the program. */
static int start_thread(ec_worker *w)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&w->thread, NULL, wait_for_work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int ec_worker_create(ec_backend *backend, int threads, ec_worker **worker)
{
    ec_worker *w = (ec_worker *)calloc(1, sizeof *w);
    bool lock = w && pthread_mutex_init(&w->lock, NULL) == 0;
    bool changed = lock && pthread_cond_init(&w->changed, NULL) == 0;

    if (w) {
        w->backend = backend;
        w->threads = threads;
    }
    if (changed && start_thread(w) == 0) {
        *worker = w;
        return EC_OK;
    }
    if (changed)
        pthread_cond_destroy(&w->changed);
    if (lock)
        pthread_mutex_destroy(&w->lock);
    free(w);
    ec_backend_destroy(&backend);
    return ec_fail(EC_ERR_MEMORY, "backend: no thread can be had for a worker");
}

void ec_worker_destroy(ec_worker **handle)
{
    ec_worker *w = handle ? *handle : NULL;

    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->over = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    ec_backend_destroy(&w->backend);
    free(w);
    *handle = NULL;
}

ec_backend *ec_worker_backend(const ec_worker *worker)
{
    return worker->backend;
}

void ec_worker_begin(ec_worker *w, int (*work)(void *data), void *data)
{
    pthread_mutex_lock(&w->lock);
    w->data = data;
    w->work = work;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

int ec_worker_end(ec_worker *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->work)
        pthread_cond_wait(&w->changed, &w->lock);
    int status = w->status < 0 ? ec_fail(w->status, "%s", w->error) : w->status;
    pthread_mutex_unlock(&w->lock);
    return status;
}
