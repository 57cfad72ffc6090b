/* nufft_types.h: a planned NUFFT as plain data, shared by nufft.c and the kernels.
 *
 * The fine grid of a candidate is two planes of reals, real and imaginary parts, so that lanes of
 * neighbouring columns are transformed together without a shuffle. In two dimensions cell (l1, l2)
 * lies at origin + l1 pitch + l2, with a margin of half a window on each side that is folded back
 * (type 1) or filled (type 2) periodically. In one dimension cell l = l1 columns + l2 of the line
 * is seen as a matrix of rows x columns: its FFT is one over the rows, a twist by
 * exp(-2 pi j l2 k1 / grid), and one over the columns, mode k = k1 + rows k2 (Cooley and Tukey,
 * 1965). Both dimensions so share one pipeline.
 */
#ifndef EC_NUFFT_TYPES_H
#define EC_NUFFT_TYPES_H

#include "../../core/kernel.h"

enum {
    EC_NUFFT_STAGES_MAX = 24,
    EC_NUFFT_WIDTH_MAX = 16,
    EC_NUFFT_LANE_BYTES = 64, /* columns that one FFT transforms together */
    EC_NUFFT_MARGIN = 16,     /* cells before and behind a row; half a window, padded */
    EC_NUFFT_BIN_ROWS = 16,   /* of the grid: its two planes stay in the first cache */
    EC_NUFFT_BIN_COLUMNS = 64,
    EC_NUFFT_TILE = 64,   /* columns that are transposed at a time */
    EC_NUFFT_CHUNK = 128, /* points that a direct sum takes at a time */
    EC_NUFFT_TAPER = 24   /* coefficients of 1 / transform of the window */
};

/* FFT of n points over lanes, sign -1: mixed radix, decimation in time, in place. */
typedef struct ec_nufft_fft {
    int32_t n, stages;
    int32_t radix[EC_NUFFT_STAGES_MAX];
    const int32_t *place; /* where input l is put: digits reversed */
    const void *twiddle;  /* stage after stage from the second on: [m][radix - 1] re, im */
} ec_nufft_fft;

typedef struct ec_nufft_axis {
    int32_t modes, first; /* modes first .. first + modes - 1 */
    int32_t grid;
    const void *weight; /* 1 / transform of the window, a mode */
} ec_nufft_axis;

typedef struct ec_nufft_args ec_nufft_args;
typedef struct ec_nufft_io ec_nufft_io;

/* One candidate. Vectors are sets of strengths that share the points. */
struct ec_nufft_io {
    const double *point[2];  /* [points], turns; the second is not read in one dimension */
    const double *target[2]; /* type 3: [targets] */
    const void *in;          /* [vectors][points], type 2: [vectors][modes], complex */
    void *out;               /* [vectors][modes], type 2: [points], type 3: [targets], complex */
    int32_t vectors;
    /* Type 3 by a grid: places of points and targets that several calls share, [place_bytes],
     * aligned to 64 bytes; a call with 0 vectors fills them, others only read them. NULL: they are
     * found anew. */
    void *places;
    /* Of this call's points, 1 to the plan's; vectors of strengths follow each other without a gap.
     * Places hold as many. 0: the plan's. */
    int32_t points;
    /* 1: the places are those of the targets alone, and a call with 0 vectors needs no points. Points
     * are each call's own, no farther from 0 than their span. 0: both are shared. */
    int32_t moving;
};

/* Transforms one candidate; returns bits of EC_CANDIDATE_*. */
typedef uint8_t ec_nufft_function(const ec_nufft_args *args, const ec_nufft_io *io,
                                  void *workspace);

struct ec_nufft_args {
    ec_nufft_function *function; /* of the backend's ISA level */
    int32_t type, dim, double_precision, direct, sign;
    int32_t points, targets;
    int32_t width, padded, coefficients;
    const void *window; /* [coefficients][padded], highest power first, of 2 s - 1, 0 <= s < 1 */
    ec_nufft_axis axis[2];
    ec_nufft_fft fft[2]; /* over rows, over columns */
    const void *twist;   /* one dimension: [rows][twist_pitch] re, then the same im */
    size_t twist_pitch;
    size_t pitch, origin, plane; /* in reals */
    int32_t bins, bins_across;   /* points are sorted by bins first; 0: they are not */

    /* type 3: the grid of the points is the modes of a type 2 */
    const ec_nufft_args *inner;
    double span[2], target_span[2];
    double cells[2];              /* cells a unit of the points: 1 / h */
    double taper_scale;           /* z = taper_scale t^2 - 1, t: turns of the inner transform */
    double taper[EC_NUFFT_TAPER]; /* powers of z, highest first */
    /* type 3, regular along one axis (0: along none): axis 0 is that one, whatever its place among
     * the caller's. Target t of line l is the caller's l line_step + t target_step. */
    int32_t regular, lines, line_targets;
    size_t line_step, target_step;

    /* direct sums (nufft_direct.h) */
    int32_t rows, columns;
    const double *row;
    double column_start, column_centre;

    /* byte offsets in the places */
    size_t at_cell, at_offset, at_bins, at_used;
    size_t at_middle, at_turns, at_factors, at_inner_places; /* type 3 */
    size_t place_bytes;

    /* byte offsets in the workspace; the last one: of the places, where a call has none */
    size_t at_grid, at_lanes;
    size_t at_centred, at_strengths, at_modes, at_inner, at_line; /* type 3 */
    size_t at_places;
    size_t used_bytes;
    size_t workspace_bytes;
};

#endif
