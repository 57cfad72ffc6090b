/* array_weights_types.h: the plain data that the kernels of optimal weights work on (C17 and CUDA).
 *
 * A team (one CPU thread, one CUDA block) owns a workspace and solves one candidate in it. Matrices
 * and vectors are split into real and imaginary parts; rows have the stride of a vector, the
 * elements rounded up to 8, and are zero beyond the elements. Only the lower triangle of R is held.
 *
 * A row is a(d), so that F(d) = a^T w: first those of the sources of R (directions of the grid, then
 * interferers, then nodes of the noise, each with its parts, up to a multiple of 4), then those of
 * the constraints (the look direction, then the nulls with their parts).
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

/* Complex rows on the backend, as ec_weights_rows. */
typedef struct ec_weights_fields {
    const double *re, *im; /* [rows][stride] */
} ec_weights_fields;

/* Coupled ports: currents i = M a of incident waves a, M linear between frequencies. */
typedef struct ec_weights_ports {
    int32_t count; /* of frequencies; 0: not coupled */
    const double *frequency;
    const double *matrix; /* [count][elements][re, im][stride]: row m is that of current m */
} ec_weights_ports;

/* A grid of directions that is regular, first + k step along u and v, and the transforms from and to
 * its modes. count 0: F is summed directly. */
typedef struct ec_weights_lattice {
    int32_t count[2];
    double centre_u, centre_v, step_u, step_v; /* of the mode 0; from mode to mode */
    const int32_t *mode;                       /* [directions]: each one's mode */
    const ec_nufft_args *to_modes, *to_elements;
    size_t at_point, at_strength, at_mode, at_work, bytes; /* in the workspace behind the rest */
} ec_weights_lattice;

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
    double clip; /* THINNING: limit of |F| over F(look) */
    /* Rows of a direction, each in a polarization: 1, or of elements of their own with all of their
     * field 2, co and cross. */
    int32_t parts, part[2];
    int32_t nodes, node_parts, node_part[2]; /* of the isotropic noise; 0: pairs, or white */
    const double *u, *v, *w;                 /* [directions + nodes] */
    const double *level;     /* |E| of the element in common towards them; NULL: 1 */
    const double *share;     /* [nodes]: weights in R */
    ec_weights_fields field; /* own elements: rows of directions and nodes without phases */
    ec_pattern_gain gain;    /* the element in common */
    ec_pattern_own own;      /* fields in their own size */
    ec_pattern_power power;  /* the kernel over pairs */
    double pair_scale;       /* one over its value at distance 0 */
    ec_weights_ports ports;
    ec_weights_lattice lattice; /* THINNING by FFT */
    ec_pattern_target amplitude, phase;
    /* VJP */
    int32_t vjp;
    ec_pattern_view seed[2];   /* adjoints of amplitude and phase; data NULL: none */
    ec_pattern_target grad[4]; /* of x, y, z, wavelength */
    uint8_t *status;
    const int32_t *stop;
    ec_pattern_watch *watch; /* NULL: nobody asks */
    int32_t teams;           /* workspaces there are */
    char *workspace;
    size_t workspace_bytes; /* of one team */
} ec_weights_args;

/* A complex vector of the stride's length, or a matrix of such rows. */
typedef struct ec_weights_rows {
    double *re, *im;
} ec_weights_rows;

typedef struct ec_weights_work {
    int32_t n, stride, constraints; /* look and nulls, each with its parts */
    int32_t sources;                /* rows of R, padding included */
    double *x, *y, *z;              /* in wavelengths, about the centroid */
    double wavelength, u0, v0, w0;
    ec_weights_rows column, trial, best;
    ec_weights_rows hold;     /* THINNING: the best */
    ec_weights_rows steer;    /* exp(2 pi j r . look) */
    ec_weights_rows fixed;    /* columns of C, conj(a) of the constraints, then b */
    ec_weights_rows solved;   /* L^-1 of them, then orthonormal */
    ec_weights_rows triangle; /* T of the constraints' QR, [constraints + 1][constraints + 1]; last:
                                 what b has along the constraints */
    ec_weights_rows matrix;   /* R, then L */
    ec_weights_rows row;      /* a of every source and constraint */
    ec_weights_rows plain;    /* coupled: the same of the currents and without the look direction */
    ec_weights_rows ports;    /* coupled: M */
    double *q;                /* weight of every source in R */
    double *wanted;           /* D; without a target: 1 in a side-lobe direction */
    double *field;            /* |F| of a direction */
    /* VJP */
    double *place;                        /* u, v, w of every row, [rows][3] */
    ec_weights_rows adjoint;              /* v of array_weights_adjoint.h */
    ec_weights_rows current_v, current_w; /* v and w as currents, with the look direction */
    ec_weights_rows alpha, beta;          /* of every row */
    double *gradient;                     /* [3][stride] */
    char *transform;                      /* THINNING by FFT */
} ec_weights_work;

/* Sources are taken four at a time, in blocks of some tens. */
enum { EC_WEIGHTS_TOGETHER = 4, EC_WEIGHTS_CACHED = 16 };

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

EC_FN int32_t ec_weights_stride(int32_t elements)
{
    return (int32_t)ec_round_up((size_t)elements, 8);
}

/* Divides a workspace and returns its size in doubles; memory may be NULL. */
EC_FN size_t ec_weights_lay_out(const ec_weights_args *args, double *memory, ec_weights_work *work)
{
    size_t at = 0;
    size_t n = (size_t)args->elements, parts = (size_t)args->parts;
    bool stored = args->lattice.count[0] == 0; /* rows of the directions */

    work->n = args->elements;
    work->stride = ec_weights_stride(args->elements);
    work->constraints = args->nulls * args->parts + 1;
    work->sources =
        (int32_t)ec_round_up(((size_t)args->directions + (size_t)args->interferers) * parts +
                                 (size_t)args->nodes * (size_t)args->node_parts,
                             EC_WEIGHTS_TOGETHER);
    size_t stride = (size_t)work->stride, sources = (size_t)work->sources;
    size_t constraints = (size_t)work->constraints;
    size_t rows = constraints + (stored ? sources : 0);
    bool coupled = args->ports.count > 0, vjp = args->vjp != 0;
    work->x = ec_weights_take(memory, &at, stride);
    work->y = ec_weights_take(memory, &at, stride);
    work->z = ec_weights_take(memory, &at, stride);
    work->column = ec_weights_take_rows(memory, &at, 1, work->stride);
    work->trial = ec_weights_take_rows(memory, &at, 1, work->stride);
    work->best = ec_weights_take_rows(memory, &at, 1, work->stride);
    work->hold = ec_weights_take_rows(memory, &at, 1, work->stride);
    work->steer = ec_weights_take_rows(memory, &at, 1, work->stride);
    work->fixed = ec_weights_take_rows(memory, &at, constraints + 1, work->stride);
    work->solved = ec_weights_take_rows(memory, &at, constraints + 1, work->stride);
    work->triangle = ec_weights_take_rows(memory, &at, constraints + 1, work->constraints + 1);
    work->matrix = ec_weights_take_rows(memory, &at, args->matrix ? n : 0, work->stride);
    work->row = ec_weights_take_rows(memory, &at, rows, work->stride);
    work->plain = ec_weights_take_rows(memory, &at, coupled ? rows : 0, work->stride);
    work->ports = ec_weights_take_rows(memory, &at, coupled ? n : 0, work->stride);
    work->q = ec_weights_take(memory, &at, sources);
    work->wanted = ec_weights_take(memory, &at, sources);
    work->field = ec_weights_take(memory, &at, sources);
    work->place = ec_weights_take(memory, &at, vjp ? 3 * rows : 0);
    work->adjoint = ec_weights_take_rows(memory, &at, vjp ? 1 : 0, work->stride);
    work->current_v = ec_weights_take_rows(memory, &at, vjp ? 1 : 0, work->stride);
    work->current_w = ec_weights_take_rows(memory, &at, vjp ? 1 : 0, work->stride);
    work->alpha = ec_weights_take_rows(memory, &at, vjp ? rows : 0, 1);
    work->beta = ec_weights_take_rows(memory, &at, vjp ? rows : 0, 1);
    work->gradient = ec_weights_take(memory, &at, vjp ? 3 * stride : 0);
    at = ec_round_up(at, 8); /* transforms want 64 bytes */
    work->transform = memory ? (char *)(memory + at) : NULL;
    return at + ec_round_up(args->lattice.bytes, 64) / sizeof(double);
}

#endif
