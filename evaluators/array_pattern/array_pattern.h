/* array_pattern.h: patterns of antenna arrays and their metrics, for whole populations.
 *
 *   F(u, v) = g(w) sum_m a_m exp(j k [(u-u0) x_m + (v-v0) y_m + (w-w0) z_m] + j phase_m)
 *
 * with k = 2 pi / wavelength, direction cosines u = sin th cos ph, v = sin th sin ph, w = cos th
 * (time factor exp(+jwt)), the element's field g in the chosen polarization (|E| of the total
 * field), and a steering direction (u0, v0, w0) that the beam peaks at. Directions with
 * u^2 + v^2 > 1 are outside the visible region and count in no metric. Metrics read |F|^2,
 * directivity also the power radiated in both polarizations; definitions are in docs/design.md,
 * section 5. Peaks and crossings are interpolated in the search; `final` evaluates in float64, on a
 * grid sized by the array's extent, and refines every peak and crossing on the true function.
 */
#ifndef EC_ARRAY_PATTERN_H
#define EC_ARRAY_PATTERN_H

#include "../../core/evaluator.h"
#include "../../core/element_pattern.h"
#include "array_pattern_expansion.h"
#include "array_pattern_kinds.h"

EC_C_BEGIN

typedef enum ec_array_precision {
    EC_PRECISION_AUTO,
    EC_PRECISION_SINGLE,
    EC_PRECISION_DOUBLE
} ec_array_precision;
typedef enum ec_array_method {
    EC_METHOD_AUTO,
    EC_METHOD_DIRECT,
    EC_METHOD_PRODUCT,
    EC_METHOD_NUFFT
} ec_array_method;
typedef enum ec_array_partition {
    EC_PARTITION_AUTO,
    EC_PARTITION_GRID,
    EC_PARTITION_KD
} ec_array_partition;
typedef enum ec_array_integrate { EC_INTEGRATE_SPHERE, EC_INTEGRATE_HEMISPHERE } ec_array_integrate;

/* Lengths of a and b by kind: CUT_U a = u, b unused; GRID_UV a = u, b = v; CUT_THETA a = theta
 * (rad); CUT_PHI a = phi (rad); GRID_THETA_PHI a = theta, b = phi; DIRECTIONS a = u, b = v, c = w,
 * all na long. Ascending, finite. fixed: CUT_U v, CUT_THETA phi, CUT_PHI theta. Arrays are copied
 * by create. */
typedef struct ec_array_config {
    ec_array_grid_kind kind;
    int32_t na, nb;
    const double *a, *b, *c;
    double fixed;
    int32_t elements;
    ec_element_pattern element; /* of all elements; default: isotropic. A table is copied */
    ec_element_frame frame;     /* its axes; default: the array's */
    /* Of each element its own, or NULL; copied. Such arrays are summed directly, as vectors. */
    const ec_element_pattern *each; /* [elements], instead of element */
    const ec_element_frame *frames; /* [elements], instead of frame */
    ec_array_polarization polarization;
    double copolar;               /* rad from x: the co-polar direction at broadside */
    ec_array_precision precision; /* AUTO: single in the search, double at final */
    ec_array_method method;
    double tolerance; /* nufft: relative l2 error of the field, 1e-6 (single) or 1e-12
                                      (double) to 0.1; 0: 1e-4, double 1e-9 */
    /* nufft, of elements off a plane: */
    ec_array_expansion expansion;
    int32_t terms; /* of the expansion, 1 to 64; 0: from the tolerance */
    /* Sub-arrays, on the CPU: parts x parts of them (a cut: parts) by `partition`, cells of a grid or
     * parts of equal count; or by number, part[elements]; 0 and NULL: chosen. planes: about the plane
     * of each (default). Where positions vary, parts and planes are those of the middles of their
     * ranges, which must be finite. */
    int32_t parts;
    ec_array_partition partition;
    const int32_t *part;
    bool planes;
    ec_array_integrate integrate;
} ec_array_config;

EC_API void ec_array_config_default(ec_array_config *config);

/* Inputs of the call, in this order. x, y, z in metres: each [elements] or a scalar;
 * amplitude [elements] or scalar; phase (rad) [elements] or scalar; wavelength, u0, v0, w0 scalars.
 * Any may be an expression on any axis. EC_ARRAY_ABSENT: x, y, z, phase, u0, v0 are 0, amplitude is
 * 1, w0 is sqrt(1 - u0^2 - v0^2). */
#define EC_ARRAY_ABSENT (-1)

typedef struct ec_array_inputs {
    ec_expr x, y, z, amplitude, phase, wavelength, u0, v0, w0;
} ec_array_inputs;

/* Checks the configuration and the shapes (a sentence for each mistake: zero elements, one grid
 * point, q < 0, wavelength not > 0, amplitudes all zero ...) and records the call. */
EC_API int ec_array_call(ec_graph *graph, const ec_array_config *config,
                         const ec_array_inputs *inputs, ec_call **call);

/* Mutual coupling by a scattering matrix: takes amplitude and phase of *in as waves incident on the
 * ports, the steering's phases included, and puts amplitude and phase of the ports' currents, in
 * the same steering, in their place: (a - S a)_m sqrt(R_1 / R_m), S at c / wavelength, linear
 * between the file's frequencies. For elements whose field follows the current at their port. The
 * number of ports is that of the elements; the wavelength's range lies inside the file's; steering
 * is given whole or not at all. data is not kept. */
EC_API int ec_array_couple(ec_graph *graph, const ec_touchstone *data, int32_t elements,
                           ec_array_inputs *in);

/* The main beam of a metric. Default (NAN): the steering direction. */
typedef struct ec_array_beam {
    /* In the grid's coordinates (u, v or radians); NAN: from the steering input. */
    double look_a, look_b;
    /* Half widths of the excluded interval, ellipse or (theta-phi with b NAN) cone about the look
     * direction; NAN: first minimum on a cut, descending flood fill on a surface. */
    double exclude_a, exclude_b;
} ec_array_beam;

EC_API void ec_array_beam_default(ec_array_beam *beam);

/* One line of a mask: between from and to (grid coordinates of a cut; on a 2-D grid the distance
 * sqrt((u-u0)^2 + (v-v0)^2) from the look direction) the pattern in dB must be <= max and >= min,
 * each linear from the first to the second value. -INFINITY / INFINITY: no limit. */
typedef struct ec_array_mask_line {
    double from, to;
    double max[2], min[2];
} ec_array_mask_line;

/* All return the metric's expression, a scalar in dB or degrees (pattern: complex, the grid's
 * shape; level: [n]). beam may be NULL: the defaults.
 * sll: 20 log10 of the highest side lobe over the beam's peak; a design without a side lobe in the
 *   visible region gives -200 dB.
 * hpbw, fnbw: of a cut; a u cut counts the angle asin(u).
 * directivity: towards the look direction. towards: 20 log10 |F| there.
 * sll_mean: mean of |F|^2 outside the main beam over the beam's peak. A u cut weighs by u, an angle
 *   cut by the angle, a surface by the solid angle, a list (exclude needed) each direction alike.
 *   Its gradient needs exclude.
 * pointing_error: angle on the sphere from the look direction to the highest peak of the grid; of
 *   peaks that are equal within 0.05 dB the nearest.
 * excess: how far the worst direction lies beyond the mask, in dB (negative when all are inside);
 *   relative: levels over the beam's peak, else absolute, 20 log10 |F|. A line of the mask that
 *   covers no visible direction is an error.
 * soft_sll, excess_norm: smooth stand-ins for sll and excess over all samples of the grid, with
 *   s = soft in dB and p: s ln mean exp(L / s) of the side lobes' levels L, and (mean max(0, e)^p)^(1/p)
 *   of the excesses e in dB (0 inside the mask). They lie below the maximum. soft_sll needs exclude.
 * xpol: highest cross-polar level over the co-polar peak of the main beam, whatever the array's own
 *   polarization is; at least -200 dB.
 * pattern of elements of their own, total field: its magnitude, without a phase.
 * level: at directions (u, v or theta, phi as the grid's kind; on a cut b may be NULL), relative to
 *   the beam's peak or absolute. null_depth: the highest of these levels, relative to the peak.
 * What does not exist for a design is NaN with the candidate status OFF_GRID (no half-power point, no
 * first minimum) or EVALUATOR (a zero pattern). All but fnbw and pointing_error have gradients. */
EC_API ec_expr ec_array_pattern(ec_graph *graph, ec_call *call);
EC_API ec_expr ec_array_sll_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam);
EC_API ec_expr ec_array_xpol_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam);
EC_API ec_expr ec_array_hpbw_deg(ec_graph *graph, ec_call *call, const ec_array_beam *beam);
EC_API ec_expr ec_array_fnbw_deg(ec_graph *graph, ec_call *call, const ec_array_beam *beam);
EC_API ec_expr ec_array_directivity_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam);
EC_API ec_expr ec_array_towards_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam);
EC_API ec_expr ec_array_sll_mean_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam);
EC_API ec_expr ec_array_pointing_error_deg(ec_graph *graph, ec_call *call,
                                           const ec_array_beam *beam);
EC_API ec_expr ec_array_excess_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam,
                                  bool relative, int32_t n, const ec_array_mask_line *lines);
EC_API ec_expr ec_array_soft_sll_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam,
                                    double soft);
EC_API ec_expr ec_array_excess_norm_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam,
                                       bool relative, int32_t n, const ec_array_mask_line *lines,
                                       double p);
EC_API ec_expr ec_array_level_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam,
                                 bool relative, int32_t n, const double *a, const double *b);
EC_API ec_expr ec_array_null_depth_db(ec_graph *graph, ec_call *call, const ec_array_beam *beam,
                                      int32_t n, const double *a, const double *b);

/* Dynamic range ratio of excitations: 20 log10 of the largest |amplitude| over the smallest, without
 * the elements that are switched off: those at most EC_ARRAY_SWITCHED_OFF times the largest. */
#define EC_ARRAY_SWITCHED_OFF 1e-9
EC_API ec_expr ec_array_dynamic_range_db(ec_graph *graph, ec_expr amplitude);

/* The definition that a metric used, as one sentence for the result ("side lobes outside |u - 0| >
 * 0.06"). */
EC_API void ec_array_definition(const ec_graph *graph, ec_expr metric, char *text, size_t size);
/* For a metric of a main beam: the level in its look direction, or with exclude the highest inside,
 * over the pattern's maximum (dB), an expression; 0 when the array points where the metric looks. EC_ERR_UNSUPPORTED: the metric has no beam, or
 * its look direction varies. */
EC_API ec_expr ec_array_look_level(ec_graph *graph, ec_expr metric);
/* Words on that level where it is so low that the array is hardly steered there; false: it is not. */
EC_API bool ec_array_look_warning(const ec_graph *graph, ec_expr metric, double level, char *text,
                                  size_t size);
/* Words on an array whose extent is none that an array has; false: it has one. A search says them by
 * itself. */
EC_API bool ec_array_extent_warning(const ec_graph *graph, const ec_call *call, char *text,
                                    size_t size);
/* The call's grid for writing a pattern: coordinates of point i of axis 0 (a) or 1 (b), and its
 * length. */
EC_API const ec_array_config *ec_array_call_config(const ec_call *call);

EC_API extern const ec_evaluator_def ec_evaluator_array_pattern;

EC_C_END
#endif
