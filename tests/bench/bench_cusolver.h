/* bench_cusolver.h: cuSOLVER's batched Jacobi singular values as a peer, loaded when there is one: the
 * library is not needed to build. */
#ifndef EC_BENCH_CUSOLVER_H
#define EC_BENCH_CUSOLVER_H

#include "core/backend.h"

typedef struct bench_cusolver bench_cusolver;

/* Values of `batch` matrices of n x n (at most 32), one after another, ec_c64; NULL, and why in text,
 * when the library or one of its functions is missing. */
bench_cusolver *bench_cusolver_create(ec_backend *backend, int n, int batch, const ec_c64 *matrices,
                                      char *text, size_t size);
void bench_cusolver_destroy(bench_cusolver **peer);
/* Enqueues a copy of the matrices, which it overwrites, and the decomposition. */
int bench_cusolver_run(bench_cusolver *peer);
/* Largest singular value of the first matrix, after a run. */
int bench_cusolver_first(bench_cusolver *peer, float *value);

#endif
