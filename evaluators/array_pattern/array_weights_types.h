/* array_weights_types.h: the plain data that the kernels of optimal weights work on (C17 and CUDA).
 *
 * A team (one CPU thread, one CUDA block) owns a workspace and solves one candidate in it. Matrices
 * and vectors are split into real and imaginary parts; rows have the stride of a vector, the
 * elements rounded up to 8, and are zero beyond the elements. Only the lower triangle of R is held.
 */
#ifndef EC_ARRAY_WEIGHTS_TYPES_H
#define EC_ARRAY_WEIGHTS_TYPES_H

#include "array_types.h"

enum {
    EC_WEIGHTS_X,
    EC_WEIGHTS_Y,
    EC_WEIGHTS_Z,
    EC_WEIGHTS_WAVELENGTH,
    EC_WEIGHTS_U0,
    EC_WEIGHTS_V0,
    EC_WEIGHTS_W0,
    EC_WEIGHTS_NULL_U,
    EC_WEIGHTS_NULL_V,
    EC_WEIGHTS_NULL_W,
    EC_WEIGHTS_NOISE_U,
    EC_WEIGHTS_NOISE_V,
    EC_WEIGHTS_NOISE_W,
    EC_WEIGHTS_NOISE_POWER,
    EC_WEIGHTS_START,
    EC_WEIGHTS_INPUTS
};

typedef struct ec_weights_args {
    size_t n, samples;
    ec_pattern_view in[EC_WEIGHTS_INPUTS];
    int32_t method; /* ec_weights_method */
    int32_t elements, nulls, interferers, directions;
    int32_t isotropic; /* the noise is; else white */
    int32_t matrix;    /* R is not the identity */
    int32_t iterations;
    int32_t filled;
    double loading, exclude, flat, side_weight;
    double clip;             /* THINNING: limit of |F| over F(look) */
    const double *u, *v, *w; /* [directions] */
    ec_pattern_target amplitude, phase;
    uint8_t *status;
    const int32_t *stop;
    int32_t teams; /* workspaces there are */
    char *workspace;
    size_t workspace_bytes; /* of one team */
} ec_weights_args;

/* A complex vector of the stride's length, or a matrix of such rows. */
typedef struct ec_weights_rows {
    double *re, *im;
} ec_weights_rows;

typedef struct ec_weights_work {
    int32_t n, stride, constraints; /* look and nulls */
    int32_t sources;                /* rows of phasors: directions, interferers, padding */
    double *x, *y, *z;              /* in wavelengths, about the centroid */
    double u0, v0, w0;
    ec_weights_rows column, trial, best;
    ec_weights_rows fixed;    /* columns of C, conj(e) of the constraints, then b */
    ec_weights_rows solved;   /* L^-1 of them, then orthonormal */
    ec_weights_rows triangle; /* T of the constraints' QR, [constraints][constraints] */
    ec_weights_rows matrix;   /* R, then L */
    ec_weights_rows phasor;   /* e of every source */
    double *q;                /* weight of every source in R */
    double *wanted;           /* D; without a target: 1 in a side-lobe direction */
    double *field;            /* |F| */
} ec_weights_work;

/* Sources are taken four at a time. */
enum { EC_WEIGHTS_TOGETHER = 4 };

EC_FN double *ec_weights_take(double *memory, size_t *at, size_t count)
{
    double *block = memory ? memory + *at : memory;

    *at += count;
    return block;
}

EC_FN ec_weights_rows ec_weights_take_rows(double *memory, size_t *at, size_t rows, int32_t stride)
{
    ec_weights_rows block;

    block.re = ec_weights_take(memory, at, rows * (size_t)stride);
    block.im = ec_weights_take(memory, at, rows * (size_t)stride);
    return block;
}

/* Divides a workspace and returns its size in doubles; memory may be NULL. */
EC_FN size_t ec_weights_lay_out(const ec_weights_args *args, double *memory, ec_weights_work *work)
{
    size_t at = 0;
    size_t n = (size_t)args->elements;

    work->n = args->elements;
    work->stride = (int32_t)ec_round_up(n, 8);
    work->constraints = args->nulls + 1;
    work->sources = (int32_t)ec_round_up((size_t)args->directions + (size_t)args->interferers,
                                         EC_WEIGHTS_TOGETHER);
    size_t stride = (size_t)work->stride, sources = (size_t)work->sources;
    size_t constraints = (size_t)work->constraints;
    work->x = ec_weights_take(memory, &at, stride);
    work->y = ec_weights_take(memory, &at, stride);
    work->z = ec_weights_take(memory, &at, stride);
    work->column = ec_weights_take_rows(memory, &at, 1, work->stride);
    work->trial = ec_weights_take_rows(memory, &at, 1, work->stride);
    work->best = ec_weights_take_rows(memory, &at, 1, work->stride);
    work->fixed = ec_weights_take_rows(memory, &at, constraints + 1, work->stride);
    work->solved = ec_weights_take_rows(memory, &at, constraints + 1, work->stride);
    work->triangle = ec_weights_take_rows(memory, &at, constraints, work->constraints);
    work->matrix = ec_weights_take_rows(memory, &at, args->matrix ? n : 0, work->stride);
    work->phasor = ec_weights_take_rows(memory, &at, sources, work->stride);
    work->q = ec_weights_take(memory, &at, sources);
    work->wanted = ec_weights_take(memory, &at, sources);
    work->field = ec_weights_take(memory, &at, sources);
    return at;
}

#endif
