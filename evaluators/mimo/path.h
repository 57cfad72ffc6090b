/* path.h: the paths from a transmitter to a receiver: which sequences of interactions are possible,
 * and the exact points of each.
 *
 *   ec_path_plan_create       what of a scene does not depend on antennas
 *   ec_path_enumerate         every sequence that antennas within two boxes may have: scenes of up
 *                             to some hundreds of facets
 *   ec_path_discover          sequences met by rays launched from points of the boxes: large scenes
 *   ec_path_find              the paths of one transmitter and one receiver along them
 *
 * A path is a sequence of reflections at facets and curved surfaces and diffractions at wedges;
 * where a segment of it passes slabs (thin facets of a material with a thickness), transmissions
 * are put in. Sequences are in the order of their number of interactions, then of their steps
 * (path_types.h), and so are paths.
 *
 * Invariants: the paths of a pair depend on the scene, the options, the sequences and the two
 * points alone, never on other antennas, threads or order. Enumeration leaves out only what cannot
 * be: it tests that parts face each other, that no convex facet hides one from the other, and that
 * a part reaches into the cone of rays from the images of the antenna's box through all facets
 * before (Borish, J. Acoust. Soc. Am. 75, 1984; cones as in Funkhouser et al., SIGGRAPH 1998, here
 * from boxes). When a limit stops it, whole depths are left out and the result says which.
 *
 * Not traced, and counted as unresolved: sequences with a hollow curved surface (a tunnel, seen
 * from within) or an interpolated one (path_mesh.h) and a second curved surface or wedge. Corners
 * of wedges and curved edges do not diffract. A wall drawn as a solid lets nothing through.
 */
#ifndef EC_PATH_H
#define EC_PATH_H

#include "../../core/status.h"
#include "path_types.h"
#include "scene.h"

EC_C_BEGIN

typedef struct ec_path_options {
    int32_t depth;         /* interactions at most, transmissions not counted: 0 to
                              EC_PATH_DEPTH_MAX */
    int32_t diffractions;  /* of them at wedges at most: 0 to 2 */
    int32_t transmissions; /* through slabs at most, 0: slabs are opaque; with depth at most
                              EC_PATH_DEPTH_MAX */
    bool inner_wedges;     /* edges of inner corners (n < 1) diffract too */
    size_t sequences_max;  /* of a box, 1 to 1e8 */
    double tests_max;      /* cone tests of a box, at least 1 */
    bool plain_occlusion;  /* segments are tested against every triangle in double precision:
                              slow, for tests */
} ec_path_options;

/* Depth 3, no diffraction, no transmission, 4e6 sequences, 4e9 tests. */
EC_API void ec_path_options_default(ec_path_options *options);

typedef struct ec_path_plan ec_path_plan;

/* The scene is borrowed and must outlive the plan. ERR_ARGUMENT names an option and its range. */
EC_API int ec_path_plan_create(const ec_scene *scene, const ec_path_options *options,
                               ec_path_plan **plan);
EC_API void ec_path_plan_destroy(ec_path_plan **plan);

/* Where an antenna may be. */
typedef struct ec_path_box {
    double low[3], high[3];
} ec_path_box;

typedef struct ec_path_sequences {
    size_t n;
    size_t *first; /* [n + 1]: sequence i is step[first[i] .. first[i + 1]); the first is empty:
                          the line of sight */
    uint32_t *step;
    int32_t depth;   /* sequences of up to this many interactions are there; less than the
                          options' where a limit cut the deeper ones */
    bool discovered; /* of those, what rays met; else all that can be */
    bool nodes_cut;  /* those with more than EC_PATH_NODES_MAX wedges and surfaces are not there */
} ec_path_sequences;

/* All sequences for a transmitter in tx and a receiver in rx (NULL: anywhere).
 * ERR_ARGUMENT: a box is not finite. ERR_UNSUPPORTED: the scene has more than 8192 facets, wedges
 * and surfaces. */
EC_API int ec_path_enumerate(const ec_path_plan *plan, const ec_path_box *tx, const ec_path_box *rx,
                             ec_path_sequences **sequences);
EC_API void ec_path_sequences_destroy(ec_path_sequences **sequences);

/* One line on what the sequences are, and on what a limit cut: "1,203 sequences of up to 3
 * interactions", "... complete up to depth 6; depths 7 to 20 are cut: they have more than ...". */
EC_API void ec_path_sequences_describe(const ec_path_plan *plan, const ec_path_sequences *sequences,
                                       char *text, size_t size);

typedef struct ec_path {
    size_t first;   /* its steps and points: list->step[first ..], and list->direction */
    int32_t depth;  /* how many, transmissions included */
    int32_t branch; /* of the several points of a hollow shape or interpolated surface, else -1 */
    double length;  /* m */
    ec_path_place place; /* of its reflection at an interpolated surface */
    double smooth;       /* m, see ec_path_trace: below 1 / k geometrical optics is inexact */
} ec_path;

/* The paths of pairs, one after another. Zero it before the first use. */
typedef struct ec_path_list {
    size_t n, capacity;
    ec_path *path;
    size_t n_steps, steps_capacity;
    uint32_t *step;
    double (*point)[3];
    double (*direction)[3]; /* unit, of the segment that ends at the point */
    double (*arrival)[3];   /* [n] unit, of the last segment */
    size_t unresolved;      /* sequences whose points were not found for want of a method or of
                                 convergence */
} ec_path_list;

/* Appends the paths from tx to rx along the sequences. Threads may call it at once, each with a
 * list of its own. ERR_MEMORY. */
EC_API int ec_path_find(const ec_path_plan *plan, const ec_path_sequences *sequences,
                        const double tx[3], const double rx[3], ec_path_list *list);
/* Empties a list, keeping its memory; and frees that too. */
EC_API void ec_path_list_clear(ec_path_list *list);
EC_API void ec_path_list_free(ec_path_list *list);

/* How rays are launched to discover sequences. */
typedef struct ec_path_launch {
    int32_t points; /* in each box, 1 to 4096: its middle, its corners, then Sobol's */
    int32_t rays;   /* from each point, 1 to 1e7, on a Fibonacci sphere; two diffractions: as many
                       from all wedges that were met, in turn */
    int threads;    /* 0: all that the process may use; no bit depends on it */
    /* Places that rays start from besides, of antennas that stand still; with many of them fewer rays
     * from each, 4,096 at least. */
    int32_t n_tx_places, n_rx_places;
    const double (*tx_place)[3], (*rx_place)[3];
} ec_path_launch;

/* 9 points, 100,000 rays. */
EC_API void ec_path_launch_default(ec_path_launch *launch);

/* Sequences that rays from the boxes of a transmitter and a receiver meet, for scenes of any
 * size: of reflections, each with every shorter one that it begins with (those from the receiver
 * turned round), and with a wedge where a ray from either box met one of its faces. Rays go
 * through slabs and are reflected by them. The more rays, the smaller the parts that are found;
 * what is found does not depend on where in their boxes antennas are. ERR_ARGUMENT names a figure
 * out of range. */
EC_API int ec_path_discover(const ec_path_plan *plan, const ec_path_launch *launch,
                            const ec_path_box *tx, const ec_path_box *rx,
                            ec_path_sequences **sequences);

EC_C_END

#endif
