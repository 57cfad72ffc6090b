/* array_weights.h: optimal complex weights for each candidate's geometry.
 *
 *   F(d) = sum_m w_m E_m(d) exp(j k [(u-u0) x_m + (v-v0) y_m + (w-w0) z_m]),  w_m = a_m exp(j phase_m)
 *
 * as in array_pattern.h: the look direction (u0, v0, w0) is where an array with these weights is
 * steered to, and phase is what comes on top of that steering. E is the element's field in the
 * chosen polarization; of an element that all have in common it is the size of that field, 1 of an
 * isotropic one. Every method solves one problem, a quadratic form under linear constraints,
 *
 *   minimise  w^H R w - 2 Re(b^H w)  subject to  F(look) = 1 and F(null_k) = 0,
 *
 * With a(d) the vector of what stands beside the weights, F = a^T w.
 * LCMV (Frost 1972, eq. 9; Van Trees, Optimum Array Processing, 6.7): b = 0 and R the covariance of
 *   white or isotropic noise plus that of interferers, sum p_i conj(a_i) a_i^T with power p_i over
 *   the noise of one element. Isotropic noise is the mean of conj(a) a^T over the sphere, both
 *   polarizations of it, scaled to 1 for one element (the mean of all): of isotropic elements
 *   sinc(2 d_mn / wavelength), of cos^q elements in a plane the kernel of array_power.h, else a
 *   quadrature. Without nulls it gives the highest directivity that the geometry allows.
 * LEAST_SQUARES: directions d_i of a grid, i = 1 .. G, at the distance r_i in (u, v) from the look
 *   direction; R = mean_i q_i conj(a_i) a_i^T, b = mean_i q_i D_i conj(a_i): the weighted squares of
 *   F(d_i) - D_i. The wanted pattern D is 1 for r <= flat, cos^2(pi/2 (r - flat) / (exclude - flat))
 *   up to r = exclude, 0 beyond; q = 1 inside of exclude and 10^(-sll_db/10) outside, so that a
 *   side lobe at the level sll_db weighs as much as an error of 1 in the main beam. The phase of D is
 *   that of the elements' centroid.
 * MINIMUM_SLL: the same R over the side-lobe directions r >= exclude alone, b = 0, solved
 *   `iterations` times; each round multiplies q_i by (|F_i| / max |F| + 0.3)^2 (Lawson's iteration
 *   for the Chebyshev norm, with a floor so that no direction is lost); the best round counts.
 *
 * THINNING: 0 or 1 for each element, `filled` of them 1, and a phase of 0; no constraints. Keizer's
 *   iteration (IEEE Trans. Antennas Propag. 56, 2008): the elements with the largest values are
 *   filled, side lobes above sll_db of F(look) are clipped to it, F'_i = F_i min(1, limit / |F_i|)
 *   (of elements that are not isotropic the pattern with the element, then divided by it again),
 *   and each element's value becomes w_m + Re mean_i conj(e_im) (F'_i - F_i), which for a lattice and
 *   a grid of its whole period is the inverse transform of F'; until nothing changes, `iterations`
 *   times at most. Values move by less the closer the limit is to the side lobes that there are; it
 *   must be far below them (about 10 dB) to change which elements are filled. The round with the lowest
 *   side lobes counts. The first values are an input, so that a search over them tries many starts. On
 *   the CPU a regular grid is transformed by non-uniform FFTs where that is predicted to be faster.
 *
 * Elements of their own (normals or patterns that differ) with all of their field have two patterns,
 * co- and cross-polar. F(look) = 1 and D hold for the first, the second is wanted to be 0 everywhere;
 * |F|^2 is the sum of both, and a null takes two constraints.
 * Coupled ports: w are waves incident on them, the steering's phases included, as in
 * ec_array_couple; F is that of the currents (I - S) w. White noise is the power of the waves.
 * loading adds loading * mean(diagonal of R) to the diagonal (of coupled ports the diagonal that their
 * currents have): less gain against smaller weights.
 * All float64; Cholesky's factor of R and modified Gram-Schmidt of the constraints.
 * LCMV and LEAST_SQUARES have a gradient over positions and wavelength (array_weights_adjoint.h).
 */
#ifndef EC_ARRAY_WEIGHTS_H
#define EC_ARRAY_WEIGHTS_H

#include "array_pattern.h"

EC_C_BEGIN

typedef enum ec_weights_method {
    EC_WEIGHTS_LCMV,
    EC_WEIGHTS_LEAST_SQUARES,
    EC_WEIGHTS_MINIMUM_SLL,
    EC_WEIGHTS_THINNING
} ec_weights_method;
typedef enum ec_weights_noise { EC_NOISE_WHITE, EC_NOISE_ISOTROPIC } ec_weights_noise;

enum {
    EC_WEIGHTS_ELEMENTS_MAX = 2048,
    EC_WEIGHTS_THINNED_MAX = 65536, /* elements of THINNING */
    EC_WEIGHTS_ITERATIONS = 20
};

typedef struct ec_weights_config {
    ec_weights_method method;
    int32_t elements;
    int32_t nulls; /* directions with F = 0; 0 for THINNING */
    /* Fields of the elements: of this configuration element, frame, each, frames, polarization and
     * copolar are read, and copied; NULL: isotropic. THINNING: one element in common. */
    const ec_array_config *array;
    const ec_touchstone *coupling; /* of the ports, or NULL; not kept; not THINNING */
    double loading;                /* >= 0; default 0; not THINNING */
    ec_weights_noise noise;        /* LCMV */
    int32_t interferers;           /* LCMV */
    /* All but LCMV: u and v [directions] of the grid, copied; those with
     * u^2 + v^2 > 1 do not count. */
    int32_t directions;
    const double *u, *v;
    double exclude;     /* half width of the main beam in (u, v), > 0 */
    double flat;        /* LEAST_SQUARES: half width of its flat top, 0 <= flat < exclude */
    double sll_db;      /* LEAST_SQUARES, THINNING: < 0 */
    int32_t iterations; /* MINIMUM_SLL, THINNING: 1 to 1000 */
    int32_t filled;     /* THINNING: 1 to elements */
} ec_weights_config;

EC_API void ec_weights_config_default(ec_weights_config *config);

/* x, y, z in metres, each [elements] or a scalar; wavelength, u0, v0, w0 scalars (absent, -1:
 * positions 0, u0 and v0 0, w0 = sqrt(1 - u0^2 - v0^2)); null_u, null_v [nulls];
 * interference_u, interference_v, interference_power [interferers], powers over the noise >= 0.
 * Any may be an expression on any axis. Nulls without null_w and interferers lie in the forward
 * half, w >= 0. */
typedef struct ec_weights_inputs {
    ec_expr x, y, z, wavelength, u0, v0, w0;
    ec_expr null_u, null_v, null_w, interference_u, interference_v, interference_power;
    ec_expr start; /* THINNING: [elements], the largest are filled first */
} ec_weights_inputs;

EC_API void ec_weights_inputs_default(ec_weights_inputs *inputs);

/* Checks and records the call; its outputs are amplitude (>= 0) and phase (rad, -pi to pi), each
 * [elements]. More constraints than elements is an error, and so are two elements in one place, both
 * known, that would leave R singular. A design whose constraints depend on each other (a null in the
 * look direction, two alike), whose elements do not radiate towards the look direction, whose R is
 * singular or whose weights exceed 1e9 has NaN weights and the candidate status EVALUATOR. */
EC_API int ec_weights_call(ec_graph *graph, const ec_weights_config *config,
                           const ec_weights_inputs *inputs, ec_expr *amplitude, ec_expr *phase);

EC_API extern const ec_evaluator_def ec_evaluator_array_weights;

EC_C_END
#endif
