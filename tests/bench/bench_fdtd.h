/* bench_fdtd.h: stacks of domains whose steps are timed. */
#ifndef BENCH_FDTD_H
#define BENCH_FDTD_H

#include "core/backend.h"

typedef struct bench_fdtd bench_fdtd;

typedef struct bench_fdtd_case {
    int32_t n[3];      /* cells, absorbing ones included */
    int32_t layers;    /* of all six sides; 0: metal walls */
    int32_t domains;   /* beside each other */
    int32_t steps;     /* of a run */
    int32_t materials; /* boxes of so many materials; 0: a microstrip over a board, with a source */
    bool off_chip;     /* fields in memory */
} bench_fdtd_case;

/* A failure ends the program. */
bench_fdtd *bench_fdtd_create(ec_backend *backend, const bench_fdtd_case *what);
/* All steps of all domains, with what is built before them. */
void bench_fdtd_run(bench_fdtd *f);
void bench_fdtd_destroy(bench_fdtd **f);

#endif
