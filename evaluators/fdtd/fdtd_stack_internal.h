/* fdtd_stack_internal.h: runs the domains of many designs, one for each driven port, in slots that are
 * filled again as domains end.
 *
 * All domains in the slots go on by the same number of steps between two looks. A look takes a
 * domain's running Fourier sums and energy; the domain ends when its pulse is over, its energy has
 * fallen by decay_db below the highest one seen and its waves at the ports no longer change, or at
 * max_steps. Looks come at fixed steps of a domain, so what it gives does not depend on the others. */
#ifndef EC_FDTD_STACK_INTERNAL_H
#define EC_FDTD_STACK_INTERNAL_H

#include "fdtd_far_internal.h"
#include "fdtd_surface_internal.h"
#include "fdtd_wave_internal.h"

EC_C_BEGIN

typedef struct ec_fdtd_stack ec_fdtd_stack;

/* What a domain gave. */
typedef struct ec_fdtd_result {
    int status;     /* EC_OK, or why it has no result (ec_fdtd_result.text) */
    int32_t driven; /* port or EC_FDTD_WAVE */
    int64_t steps;
    double dt;              /* s */
    double decay;           /* energy at the end over the highest, 0 to 1 */
    bool settled;           /* it ended before max_steps */
    ec_c128 *sum;           /* [probe][frequency]: V s and A s */
    double *series;         /* [kept probe][max_steps], or NULL */
    const ec_fdtd_run *run; /* [port] */
    const ec_fdtd_build *build;
    const ec_fdtd_plane_wave *wave; /* where the domain is driven by it, or NULL */
    ec_fdtd_faces faces;            /* n 0: not wanted */
} ec_fdtd_result;

/* A plane across an axis where all components of the fields are wanted: between its two nearest lines and its
 * two nearest middles of cells of the design. */
typedef struct ec_fdtd_level {
    int axis;
    double at; /* m */
} ec_fdtd_level;

/* Where a level's samples are: the lines `line` and line + 1, the cells `cell` and cell + 1 (or twice the
 * same one), and the parts of the second ones, 0 to 1. */
typedef struct ec_fdtd_between {
    int32_t line, cell[2];
    double line_part, cell_part;
} ec_fdtd_between;

/* Which domains a call needs, and what of them. */
typedef struct ec_fdtd_wants {
    int32_t n_driven;      /* what is driven, */
    const int32_t *driven; /* each a port or EC_FDTD_WAVE */
    int32_t n_kept;        /* probes whose whole series is kept */
    const int32_t *kept;
    int32_t n_far; /* frequencies of the config whose far fields are wanted */
    const int32_t *far;
    /* Instead of the box of far fields, at the same frequencies; spots are [level][first, second]
     * [component][node of v][node of u], u, v the other axes ascending: E and H of the component. */
    int32_t n_levels;
    const ec_fdtd_level *level;
} ec_fdtd_wants;

ec_fdtd_between ec_fdtd_level_between(const ec_fdtd_setup *setup, const ec_fdtd_build *build,
                                      const ec_fdtd_level *level);
/* Bytes that a slot takes at most. */
size_t ec_fdtd_slot_bytes(const ec_fdtd_setup *setup, const ec_fdtd_wants *wants);
/* Slots for up to so many domains, within a budget of bytes (0: what the backend has). setup and wants
 * outlive the stack. */
int ec_fdtd_stack_create(ec_backend *backend, const ec_fdtd_setup *setup,
                         const ec_fdtd_wants *wants, size_t domains, size_t budget,
                         ec_fdtd_stack **stack);
void ec_fdtd_stack_destroy(ec_fdtd_stack **stack);
/* Where and how many domains go on together, a sentence's part. */
void ec_fdtd_stack_describe(const ec_fdtd_stack *stack, char *text, size_t size);
/* Runs all domains of n designs; values: [n][n_numbers]. done is called for each domain as it ends, in no
 * fixed order, with what is valid until it returns. A design that cannot be built gives its status
 * for each of its domains. After 10 s, and then from time to time, the backend's log hears how far it is. */
int ec_fdtd_stack_run(ec_fdtd_stack *stack, size_t n, const double *values,
                      void (*done)(void *user, size_t design, int32_t driven,
                                   const ec_fdtd_result *result),
                      void *user, const ec_interrupt *interrupt);

/* Seconds that a step of a domain takes where all slots are busy with this design, by some steps. */
int ec_fdtd_stack_measure(ec_fdtd_stack *stack, const double *values, double *seconds);

EC_C_END
#endif
