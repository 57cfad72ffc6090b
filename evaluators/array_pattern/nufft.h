/* nufft.h: non-uniform FFTs of many candidates, each with points of its own.
 *
 *   type 1   f[k] = sum_m c[m] exp(sign 2 pi j k . x[m])   scattered points -> regular modes
 *   type 2   c[m] = sum_k f[k] exp(sign 2 pi j k . x[m])   regular modes -> scattered points
 *   type 3   f[k] = sum_m c[m] exp(sign 2 pi j s[k] . x[m])   scattered points and targets
 *
 * in one or two dimensions, float32 or float64. In two dimensions targets of type 3 may be regular
 * along one axis, as modes are: that axis then needs no interpolation. Type 2 with the opposite sign
 * is the adjoint of type 1. Points are float64 in turns (period 1): they are reduced to one period in float64 before
 * any cast, so points 1e4 periods away lose nothing. Modes are k = -floor(n/2) .. n - 1 -
 * floor(n/2) along each axis. Points and targets of type 3 have any units whose product is turns;
 * both are centred first, with the phases of the centres in two words.
 *
 * Invariants: a plan depends on shapes and tolerance alone; the same candidate gives the same bits
 * in every batch, at every place and with any number of threads.
 *
 * Method: spread to a fine grid with a Kaiser-Bessel window (Kaiser and Kuo, 1966; Jackson et al.,
 * IEEE Trans. Med. Imaging 10, 1991), FFT, division by the window's transform (Dutt and Rokhlin,
 * SIAM J. Sci. Comput. 14, 1993). The window is evaluated by one polynomial a cell (Barnett,
 * Magland and af Klinteberg, SIAM J. Sci. Comput. 41, 2019). The Kaiser-Bessel window is smooth in
 * the square of its argument up to its edge, so polynomials converge fast, and aliases are 30 to
 * 40 % below those of the exponential of a semicircle of the same width. The FFT works on lanes of
 * neighbouring columns and leaves out columns without points and modes not asked for. Type 3 is
 * spreading followed by type 2 (Lee and Greengard, J. Comput. Phys. 206, 2005); along a regular axis
 * its FFT is that of a type 1, and each mode of that axis is a line of targets with a type 2 of its
 * own (CPU). Small cases are
 * direct sums, a matrix product for types 1 and 2 (nufft_direct.h), where those are predicted to
 * be cheaper. On a GPU (nufft_kernels.cu) a launch handles many candidates, and sums of integers
 * make spreading free of order.
 */
#ifndef EC_NUFFT_H
#define EC_NUFFT_H

#include "../../core/backend.h"
#include "nufft_types.h"

EC_C_BEGIN

typedef struct ec_nufft ec_nufft;

typedef enum ec_nufft_method {
    EC_NUFFT_AUTO, /* the cheaper one by predicted cost */
    EC_NUFFT_FFT,
    EC_NUFFT_DIRECT /* the sums themselves */
} ec_nufft_method;

typedef struct ec_nufft_info {
    int32_t type;     /* 1, 2 or 3 */
    int32_t dim;      /* 1 or 2 */
    int32_t modes[2]; /* types 1 and 2: >= 1 along each axis, outer first */
    int32_t points;   /* of a candidate, >= 1 */
    int32_t targets;  /* type 3: of a candidate, >= 1 */
    double span[2];   /* type 3: half of the largest extent of a candidate's points; INFINITY */
    double target_span[2]; /* and of its targets: not known, only direct sums are possible */
    bool placed;           /* type 3: the cost leaves out places that calls share (ec_nufft_io) */
    bool double_precision; /* strengths and modes are ec_c128, else ec_c64 */
    int32_t sign;          /* of the exponent: -1 or +1 */
    double tolerance;      /* relative l2 error; float32 reaches 1e-6, float64 1e-12 */
    double upsampling;     /* fine grid over modes, 1.2 to 4; 0: 1.25, 1.5 or 2 by cost */
    ec_nufft_method method;
    /* Type 3 in two dimensions: 1 or 2, the axis along which targets are regular: modes[regular - 1]
     * of them, as in types 1 and 2, the points along it in turns. Targets are the product of both
     * axes, the second one inner: `targets` is a multiple of those modes, and their coordinates along
     * the other axis alone are read. 0: scattered along both. Only by a grid and on the CPU:
     * ERR_UNSUPPORTED where there is none for these spans and this tolerance. */
    int32_t regular;
    bool moving; /* with placed: calls share the targets alone */
    bool on_gpu; /* set by ec_nufft_create: costs are those of a GPU */
} ec_nufft_info;

/* n candidates, one after another: point[d][n][points], in and out [n][vectors][...]; memory of the
 * backend. */
typedef struct ec_nufft_batch {
    size_t n;
    int32_t vectors;
    const double *point[2];
    size_t point_stride; /* from candidate to candidate: points, or 0 when they share the points */
    const double *target[2];
    size_t target_stride; /* likewise: targets, or 0 */
    const void *in;
    void *out;
    uint8_t *status; /* [n] EC_CANDIDATE_* bits, or NULL */
    /* [n]: of each candidate's points, 1 to the plan's or 0 for all; its vectors of strengths follow
     * each other without a gap, the next candidate begins where it would with all. NULL: all. */
    const int32_t *points;
} ec_nufft_batch;

/* A plan on the backend, which must outlive it. ERR_ARGUMENT names the wrong field and what is
 * allowed; a tolerance that the precision cannot reach is such an error. */
int ec_nufft_create(ec_backend *backend, const ec_nufft_info *info, ec_nufft **plan);
void ec_nufft_destroy(ec_nufft **plan);

/* Allocates what ec_nufft_run needs, which otherwise its first call does: before launches are
 * recorded, and to know that there is memory. */
int ec_nufft_prepare(ec_nufft *plan);
/* Runs a batch on all threads of the backend. A candidate
 * with a point or target that is not finite gets NaN everywhere and EC_CANDIDATE_NOT_FINITE; one
 * wider than the spans of type 3 EC_CANDIDATE_OUT_OF_RANGE. */
int ec_nufft_run(ec_nufft *plan, const ec_nufft_batch *batch);

/* CPU. For use inside another kernel's task: args->function(args, &io, workspace) transforms one
 * candidate on the calling thread. workspace: args->workspace_bytes, aligned to 64 bytes, of one
 * thread at a time. The pointer lives as long as the plan. */
const ec_nufft_args *ec_nufft_plan_args(const ec_nufft *plan);

/* Predicted seconds of one vector of one candidate on one core, from shipped constants and shapes:
 * for the choice between methods, not for clocks. */
double ec_nufft_cost(const ec_nufft *plan);
/* About the same of a plan that does not exist: no window is looked at. For a first choice among many
 * plans, each of which takes milliseconds to make; INFINITY where there is none. */
double ec_nufft_cost_estimate(const ec_backend *backend, const ec_nufft_info *info);
/* The same with fewer points. */
double ec_nufft_cost_points(const ec_nufft *plan, int32_t points);
/* Predicted relative l2 error for points at the worst place: aliases and rounding. */
double ec_nufft_error(const ec_nufft *plan);
/* "NUFFT type 1, 2-D, width 5, grid 320 x 320, upsampling 1.25, tolerance 1e-4" */
void ec_nufft_describe(const ec_nufft *plan, char *text, size_t size);

EC_C_END
#endif
