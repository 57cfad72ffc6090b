/* worker_internal.h: a backend with a host thread of its own: what a backend of several devices has
 * beside its first one (backend.c makes them, executor_team.c gives them work).
 *
 *   ec_worker_begin(worker, work, data);  the worker's thread calls work(data)
 *   ... work of the caller's own ...
 *   status = ec_worker_end(worker);       waits for it; ec_error_text is then the worker's
 *
 * One thread at a time may use a worker. Between end and begin its backend is the caller's.
 */
#ifndef EC_WORKER_INTERNAL_H
#define EC_WORKER_INTERNAL_H

#include "backend.h"

EC_C_BEGIN

/* Takes ownership of the backend, also on failure. threads: of parallel regions in the worker's work
 * that do not say how many they want. */
int ec_worker_create(ec_backend *backend, int threads, ec_worker **worker);
void ec_worker_destroy(ec_worker **worker);
ec_backend *ec_worker_backend(const ec_worker *worker);
void ec_worker_begin(ec_worker *worker, int (*work)(void *data), void *data);
int ec_worker_end(ec_worker *worker);

EC_C_END
#endif
