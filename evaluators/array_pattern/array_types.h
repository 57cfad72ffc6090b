/* array_types.h: the plain data that the array pattern's kernels work on (C17 and CUDA).
 *
 * A candidate's elements are brought into wavelengths and turns in float64 once (array_field.h),
 * its pattern |F|^2 over the grid is a row of floats in a workspace that belongs to a team (one CPU
 * thread, one CUDA block), metrics read the row, and exact values come from float64 direct sums.
 *
 * Invariants: amplitudes are divided by their absolute sum, so a row lies in [0, 1]; an invisible
 * grid point of a surface holds -1; coordinates are u, v or radians.
 */
#ifndef EC_ARRAY_TYPES_H
#define EC_ARRAY_TYPES_H

#include "../../core/evaluator.h"
#include "../../core/kernel.h"
#include "../../core/element_pattern.h"
#include "array_pattern_kinds.h"
#include "nufft_types.h"

/* Like EC_FN, for functions too long to be inlined by force. */
#ifdef __CUDACC__
#define EC_PATTERN_FN static __device__ __noinline__
#else
#define EC_PATTERN_FN static inline __attribute__((unused))
#endif

/* A loop over elements or grid points in SIMD lanes. */
#ifdef __CUDACC__
#define EC_PATTERN_SIMD
#define EC_PATTERN_SIMD_SUM(...)
#define EC_PATTERN_SIMD_OR(...)
#else
#define EC_PATTERN_PRAGMA(text)  _Pragma(#text)
#define EC_PATTERN_SIMD          EC_PATTERN_PRAGMA(omp simd)
#define EC_PATTERN_SIMD_SUM(...) EC_PATTERN_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define EC_PATTERN_SIMD_OR(...)  EC_PATTERN_PRAGMA(omp simd reduction(| : __VA_ARGS__))
#endif

enum {
    EC_PATTERN_X,
    EC_PATTERN_Y,
    EC_PATTERN_Z,
    EC_PATTERN_AMPLITUDE,
    EC_PATTERN_PHASE,
    EC_PATTERN_WAVELENGTH,
    EC_PATTERN_U0,
    EC_PATTERN_V0,
    EC_PATTERN_W0,
    EC_PATTERN_INPUTS
};

/* An input or output: entry e of candidate c in sample s is data[s sample + e element + c lane];
 * a stride is 0 along an axis that the value does not have. */
typedef struct ec_pattern_view {
    const double *data;
    size_t element, lane, sample;
    double lo, hi; /* the range it was planned for */
} ec_pattern_view;

typedef struct ec_pattern_target {
    double *data; /* NULL: not wanted */
    size_t element, lane, sample;
} ec_pattern_target;

enum { EC_PATTERN_CUT, EC_PATTERN_SURFACE, EC_PATTERN_LIST };

/* Directions with the topology that metrics need. Point i = ia * nb + ib. */
typedef struct ec_pattern_grid {
    int32_t kind;     /* ec_array_grid_kind: what the coordinates mean */
    int32_t topology; /* EC_PATTERN_CUT: nb = 1 */
    int32_t na, nb, points;
    int32_t circular; /* the cut, or b of a surface, is a full circle (each direction once) */
    int32_t uniform;  /* a and, of a surface, b are uniform; of a cut: */
    double start, step, per_step;
    double period;       /* 2 pi where circular */
    double lo, hi;       /* cut: the visible stretch of a; empty when lo > hi */
    int32_t first, last; /* cut that is no circle: its first and last visible sample */
    double fixed;        /* cut: v, phi or theta */
    double fixed_sin, fixed_cos;
    /* theta-phi, where the theta and phi components are read: the least sine of theta, so that they
     * are at a pole what they become there along the direction's own phi; else 0 */
    double pole;
    const double *a, *b;
    const double *u, *v, *w; /* one a point */
    const float *gain;       /* element power pattern a point, -1: invisible; NULL: 1 everywhere */
    const double *weight; /* solid angle of a surface's point in means; NULL: no metric has one */
    int32_t even;         /* the gain of the last point is that of the first, and so on inwards */
    double reach;         /* a peak is at most so many times as high as interpolated in the grid */
} ec_pattern_grid;

/* The element that all have in common (array_gain.h). EC_GAIN_ONE: 1 in every direction.
 * EC_GAIN_COSINE: the power (normal . d)^2q, zero behind. EC_GAIN_FIELD: from the vector field. */
enum { EC_GAIN_ONE, EC_GAIN_COSINE, EC_GAIN_FIELD };

typedef struct ec_pattern_gain {
    int32_t form;
    int32_t polarization; /* ec_array_polarization */
    double share;         /* one over the square of a bound of |E|: gains lie in [0, 1] */
    double peak_log;      /* ln of that square */
    double copolar_sin, copolar_cos;
    double pole_sin, pole_cos; /* of phi at the poles */
    ec_element_pattern pattern;
    ec_element_frame frame;
} ec_pattern_gain;

/* Elements with fields of their own (array_own.h). */
typedef struct ec_pattern_own {
    int32_t parts;            /* of the field: 1, of the total field 3; 0: all elements are alike */
    int32_t patterns, frames; /* of each list: 1 or one for each element */
    const ec_element_pattern *pattern;
    const ec_element_frame *frame;
    double size;        /* one over a bound of |E| */
    const float *field; /* towards the grid's points, [elements][parts][re, im][points rounded up to
                           64]; NULL: computed when it is needed */
} ec_pattern_own;

typedef enum ec_pattern_kind {
    EC_METRIC_PATTERN,
    EC_METRIC_SLL,
    EC_METRIC_HPBW,
    EC_METRIC_FNBW,
    EC_METRIC_DIRECTIVITY,
    EC_METRIC_EXCESS,
    EC_METRIC_LEVEL,
    EC_METRIC_NULL_DEPTH,
    EC_METRIC_PIECES,
    EC_METRIC_SLL_MEAN,
    EC_METRIC_POINTING,
    EC_METRIC_TOWARDS,
    EC_METRIC_SOFT, /* array_smooth.h */
    EC_METRIC_NORM
} ec_pattern_kind;

/* Limit of a mask on one side: dB, linear from `from` to `to`. sign +1: the pattern stays below it,
 * -1: above. */
typedef struct ec_pattern_line {
    double from, to, limit[2];
    int32_t sign;
} ec_pattern_line;

/* One maximum that is followed as the design moves: its box and where it was. */
typedef struct ec_pattern_piece {
    double a, b;         /* position where it was made */
    double lo[2], hi[2]; /* box that it stays in */
    ec_pattern_line line;
    int32_t curve; /* EC_CURVE_* */
} ec_pattern_piece;

/* What a point of a surface may move along: the surface, the rim u^2 + v^2 = 1, the edge of the
 * excluded ellipse, or nothing. */
enum { EC_CURVE_NONE, EC_CURVE_RIM, EC_CURVE_EDGE, EC_CURVE_FIXED };

typedef struct ec_pattern_metric {
    int32_t kind, relative, n;
    double look_a, look_b;       /* NAN: the steering direction */
    double exclude_a, exclude_b; /* NAN: none */
    double shape;                /* soft: dB; norm: p */
    const ec_pattern_line *lines;
    const double *directions;       /* u[n], v[n], w[n], gain[n] */
    const ec_pattern_piece *pieces; /* n of them after the beam's own */
    ec_pattern_target out;
    ec_pattern_view seed; /* adjoint of the output (VJP) */
} ec_pattern_metric;

/* Work of the product path: point (row r, column c, side) of the tensor grid. See array_rows.h. */
typedef struct ec_pattern_product {
    int32_t rows, columns, padded; /* columns rounded up for SIMD */
    int32_t paired;                /* a column stands for +s and -s */
    int32_t mirrored;              /* P(-d) = P(d): only half of the rows are computed */
    int32_t first;                 /* line: grid index of the first computed point */
    const double *row_u;           /* direction cosine u of a row (line: the row's centre) */
    const double *column_s;        /* offset of a column (in u for a line, in v for a surface) */
    double centre_v;
} ec_pattern_product;

/* Radiated power: over pairs of elements with a radial kernel, or by quadrature (array_power.h). */
typedef struct ec_pattern_power {
    int32_t closed; /* pairs: sinc times factor, or the table */
    double factor;
    int32_t samples;     /* of the table, 0: sinc */
    double per_step;     /* samples a wavelength */
    const double *table; /* value and slope at each sample */
    int32_t nodes;       /* quadrature: directions with weights (element pattern inside) */
    const double *u, *v, *w, *weight;
    const float *field; /* elements of their own: [elements][3][re, im][nodes], or NULL */
} ec_pattern_power;

/* Work of the NUFFT path over a uniform u-v grid or u cut. With
 * X = x du and Y = y dv in turns,
 *
 *   F(k, l) = sum_p j^p c_p(w) sum_m s_m b_p(zeta_m) exp(2 pi j (k X_m + l Y_m)),
 *
 * k = ia - floor(na / 2), l = ib - floor(nb / 2), s_m = a_m exp(2 pi j (turn_m + x_m u_c + y_m v_c +
 * z_m w_c)): an expansion of exp(2 pi j (z - z_c) (w - w_c)) in zeta = (z - z_c) / z_half
 * (array_pattern_expansion.h). Planar arrays have the one term c_0 = b_0 = 1. */
enum {
    EC_PATTERN_TERMS_MAX = 64,
    EC_PATTERN_SIDE_MAX = 1024, /* cells of sub-arrays along a side */
    EC_SPREAD_BIN = 16,         /* CUDA: fine cells along a side of a bin */
    EC_SPREAD_WIDTH_MAX = 13,
    EC_SPREAD_DEGREE_MAX = 15
};

/* A sub-array: elements order[first .. first + count) about the plane z = z_c + slope_x (x - x_c) +
 * slope_y (y - y_c), in wavelengths (array_parts.h). */
typedef struct ec_pattern_part {
    int32_t first, count;
    double x, y, z, slope_x, slope_y; /* x_c and y_c are 0 where there is no slope */
    double depth;                     /* largest distance from the plane, along z */
} ec_pattern_part;

/* CUDA: the highest samples of a row inside (power and index) and outside the main beam, and the
 * highest interpolated lobe: bits of non-negative floats. */
typedef struct ec_pattern_top {
    unsigned long long key;
    uint32_t bar, lobe;
} ec_pattern_top;

typedef struct ec_pattern_nufft {
    int32_t terms, taylor;     /* of the expansion; b_p: Chebyshev's polynomial or zeta^p */
    double step_u, step_v;     /* of the grid */
    double centre_u, centre_v; /* direction of k = l = 0 */
    double w_c, z_half;        /* of the expansion; wavelengths */
    double z_c;                /* of an array that is not cut into parts */
    const void *factor;        /* [terms][points]: c_p, of the row's precision; or NULL */
    double bound;              /* of the expansion's error */
    double noise_log;          /* ln of the row's noise */
    int32_t wide;              /* the row is computed in float64 */
    /* by the transforms of nufft.h; plan and places: CPU */
    const ec_nufft_args *plan;   /* type 1, with planes type 3; of `longest` points */
    int32_t parts;               /* 0: the array is not cut into parts */
    int32_t tilt;                /* EC_TILT_*: axes along which planes have slopes */
    int32_t longest;             /* elements of the largest part */
    const ec_pattern_part *part; /* [parts] */
    const int32_t *order;        /* [elements] */
    double scale[2], turn[2];    /* points a wavelength along x and y, and direction of mode 0 */
    int32_t moving;              /* positions vary: places are those of the directions */
    double span[2];      /* moving: |x - x_c| and |y - y_c| of a part's elements stay below */
    char *places;        /* [parts][plan->place_bytes], or NULL: found for each design */
    const double *curve; /* Chebyshev: c_p(y) and its slope times h at y = h k, [terms][knots][2] */
    int32_t knots;
    double per_knot; /* 1 / h */
    size_t at_point, at_target, at_zeta, at_strength, at_term, at_field,
        at_work; /* from the tables */
    /* CUDA: tasks first .. first + count of a launch, of which `staged` fit; then the fused path. */
    int32_t stage, staged;    /* EC_*_STAGE */
    int32_t fine[2], bins[2]; /* the fine grid along a and b, and its bins */
    int32_t width, degree;    /* of the window: taps, and the degree of their polynomials */
    const float *window;      /* [degree + 1][width], highest power first */
    const float *level[2];    /* [na], [nb]: one over the window's transform */
    size_t first, count;
    float *record;       /* [staged][elements][8], sorted by bin */
    int32_t *start;      /* [staged][bins + 1] */
    int32_t *bad;        /* [staged]: candidate status */
    ec_pattern_top *top; /* [staged] */
    ec_c64 *fields;      /* [staged][terms][fine] */
    float *rows;         /* [staged][points] */
    /* CUDA by the transforms of nufft.h, part by part (array_transform.cuh); NULL: not so */
    struct ec_nufft *transform;
    int32_t at_part;
    double *share;                /* [staged]: 1 / sum of |a| */
    double *point[2], *target[2]; /* [staged][longest]; [points], with planes */
    void *strength, *term;        /* [staged][terms][longest] and [points], complex */
    void *field;                  /* [staged][points], complex */
} ec_pattern_nufft;

/* From elements to fine grids, from there to rows; with `transform`: elements as points and strengths,
 * terms onto the field, fields to rows. */
enum { EC_SPREAD_STAGE, EC_POWER_STAGE, EC_STRENGTH_STAGE, EC_ADD_STAGE, EC_FIELD_STAGE };

enum { EC_PATTERN_METRICS_MAX = 16, EC_PATTERN_GROUP = 4 };

/* EC_ROW_GIVEN: the row of a task lies in nufft.rows. */
enum { EC_ROW_NONE, EC_ROW_DIRECT, EC_ROW_PRODUCT, EC_ROW_NUFFT, EC_ROW_GIVEN };

/* CPU: whether a launch should end before its last candidate. The calling thread asks. */
typedef struct ec_pattern_watch {
    const ec_interrupt *interrupt;
    int32_t ended;
} ec_pattern_watch;

typedef struct ec_pattern_args {
    size_t n, samples;
    ec_pattern_view in[EC_PATTERN_INPUTS];
    ec_pattern_grid grid;
    ec_pattern_product product;
    ec_pattern_nufft nufft;
    ec_pattern_power power;
    int32_t elements;
    int32_t compact; /* phases stay below 2^18 turns */
    int32_t planar;  /* all elements have one z: a common phase, taken as 0 */
    int32_t row;     /* EC_ROW_* */
    int32_t fields;  /* the batch wants the complex pattern, no row */
    int32_t smooth;  /* its metrics read float64 levels of every sample (array_smooth.h) */
    const ec_pattern_nufft
        *back;                /* CPU: plan of the adjoint of a whole pattern; NULL: direct sums */
    int32_t double_precision; /* of the row */
    int32_t exact;            /* refine peaks and crossings by float64 sums */
    int32_t vjp;
    int32_t accumulate;   /* adjoints are added to what is there */
    double zero_log;      /* ln |F|^2 below it is a zero pattern's rounding noise */
    ec_pattern_gain gain; /* of elements of their own only polarization and peak */
    ec_pattern_own own;
    int32_t n_metrics;
    ec_pattern_metric metric[EC_PATTERN_METRICS_MAX];
    ec_pattern_target grad[EC_PATTERN_INPUTS];
    uint8_t *status;
    int32_t fresh; /* the status bytes are written, not OR-ed into: each by one task only */
    const int32_t *stop;
    ec_pattern_watch *watch; /* NULL: nobody asks, or candidates are quick */
    /* CPU: designs that a team computes one after another, and a pattern's values of them side by
     * side in the workspace, until whole lines of the output can be written; 1: each on its own. */
    int32_t group;
    int32_t teams;          /* workspaces there are */
    char *workspace;        /* of all teams */
    size_t workspace_bytes; /* of one team; in it, after the elements: */
    size_t at_row, at_flood, at_queue, at_adjoint, at_field, at_level, at_tables, at_stage;
} ec_pattern_args;

#endif
