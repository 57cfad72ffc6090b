/* bvh.h: which triangle does a ray hit first, and does a segment hit any: bounding volume
 * hierarchies over triangles, built once on the CPU, laid out for a backend, traced in float32.
 *
 *     ec_bvh_build       vertices and triangles -> a binary tree (host memory)
 *     ec_bvh_lay_out     the tree -> nodes of 2, 4 or 8 children in the memory of a backend
 *     ec_bvh_closest_run, ec_bvh_any_run     batches of rays that lie in the backend's memory
 *     bvh_trace.h        the same for one ray inside a kernel
 *
 * What is found depends on the triangles and the ray alone: not on the layout, the backend, the
 * instruction set, the threads or the other rays, down to the bits of t. The reasons: a triangle's
 * test is the same float32 arithmetic everywhere; of equal t the lowest triangle index wins; and
 * boxes are enlarged by more than all rounding errors of the tests (bvh_trace.h has the account),
 * so that no box is missed that holds a hit.
 *
 * Coordinates are shifted to the middle of the scene's box before they become float32: a scene far
 * from the origin loses nothing.
 *
 * Sources: binned surface-area heuristic, Wald 2007; spatial splits, Stich, Friedrich and
 * Dietrich 2009; collapse to wide nodes and eight-bit boxes, Ylitie, Karras and Laine 2017;
 * watertight triangles, Woop, Benthin and Wald 2013; boxes, Ize 2013. */
#ifndef EC_BVH_H
#define EC_BVH_H

#include "../../core/backend.h"

EC_C_BEGIN

/* ---- the tree ---- */

typedef struct ec_bvh ec_bvh;

typedef struct ec_bvh_info {
    int32_t n_vertices;
    const double (*vertex)[3]; /* m, finite; borrowed during the build */
    int32_t n_triangles;       /* 0 is allowed: every ray misses */
    const int32_t (*triangle)[3];
    const int32_t *part;      /* a triangle: what rays can exclude (a facet, a surface); NULL: 0 */
    int threads;              /* 0: all that the process may use; no bit depends on it */
    bool object_splits_only;  /* no spatial splits: to see what they are worth */
    volatile const int *stop; /* not 0: the build ends early with EC_STOPPED; may be NULL */
} ec_bvh_info;

typedef struct ec_bvh_stats {
    double seconds; /* of the build */
    /* Boxes and triangles that a ray through the scene's box is expected to enter: the areas of
     * inner nodes and leaves over the root's. */
    double sah_cost;
    int32_t triangles;
    int32_t references; /* triangles, those cut by spatial splits counted for each piece */
    int32_t nodes, depth;
    size_t bytes; /* host memory of the tree */
} ec_bvh_stats;

/* Errors: EC_ERR_ARGUMENT for an index outside of the vertices, a coordinate that is not finite
 * or a scene larger than 1e12 m; EC_ERR_MEMORY with the bytes that are wanted. */
int ec_bvh_build(const ec_bvh_info *info, ec_bvh **bvh);
void ec_bvh_destroy(ec_bvh **bvh);
const ec_bvh_stats *ec_bvh_get_stats(const ec_bvh *bvh);

/* ---- layouts ---- */

/* identifier, name, children of a node, largest leaf, triangles tested together, bytes of a node,
 * places of the stack, costs of opening a node and of a test (of a packet) beside each other */
#define EC_BVH_LAYOUT_LIST(X)                                                                      \
    X(2, "2", 2, 8, 1, 64, 72, 1.0f, 1.2f)                                                         \
    X(4, "4", 4, 8, 1, 128, 104, 1.0f, 0.9f)                                                       \
    X(8Q, "8q", 8, 3, 1, 80, 72, 1.0f, 0.4f)                                                       \
    X(4_SIMD, "4 simd", 4, 16, 4, 128, 104, 1.0f, 1.0f)                                            \
    X(8_SIMD, "8 simd", 8, 16, 4, 224, 192, 1.0f, 1.0f)

#define EC_BVH_LAYOUT_ENUM(id, name, width, leaf, pack, bytes, stack, node, test) EC_BVH_##id,
enum {
    EC_BVH_AUTO = -1, /* what was measured to be fastest on the backend */
    /* those of SIMD are for the CPU only */
    EC_BVH_LAYOUT_LIST(EC_BVH_LAYOUT_ENUM) EC_BVH_LAYOUTS
};
#undef EC_BVH_LAYOUT_ENUM

/* Plain data for kernels; pointers are into the backend's memory. */
typedef struct ec_bvh_view {
    const char *node;     /* the root first */
    const char *triangle; /* ec_bvh_record or ec_bvh_pack */
    double centre[3];     /* of the scene's box: the origin of all float32 coordinates */
    float size;           /* largest coordinate from there */
    int32_t layout;
} ec_bvh_view;

typedef struct ec_bvh_layout ec_bvh_layout;

typedef struct ec_bvh_layout_stats {
    const char *name;
    double seconds;
    /* expected for a ray through the scene's box; a test is that of a packet */
    double node_visits, triangle_tests;
    int32_t nodes, packets;
    int32_t stack; /* entries that the deepest path needs */
    size_t bytes;  /* on the backend */
} ec_bvh_layout_stats;

/* The backend must outlive the layout; the tree may go. EC_ERR_UNSUPPORTED: a layout for SIMD on a
 * GPU. */
int ec_bvh_lay_out(const ec_bvh *bvh, ec_backend *backend, int layout, ec_bvh_layout **made);
void ec_bvh_layout_destroy(ec_bvh_layout **layout);
const ec_bvh_layout_stats *ec_bvh_layout_get_stats(const ec_bvh_layout *layout);
const ec_bvh_view *ec_bvh_layout_view(const ec_bvh_layout *layout);

/* ---- batches ---- */

#define EC_BVH_NO_PART INT32_MIN

/* Rays origin + t direction with t_min <= t <= t_max, t_min at least 0 (less counts as 0); lengths
 * of directions are free, t is in units of them. A ray that has a NaN, a direction whose largest
 * component is outside of 1e-12 to 1e12 or an origin farther than 1e12 m misses everything. All
 * arrays are in the backend's memory, structure of arrays. */
typedef struct ec_bvh_rays {
    const double *origin[3], *direction[3];
    const double *t_min, *t_max; /* NULL: 0 and infinity */
    /* parts that the ray passes through, EC_BVH_NO_PART for none; NULL: none */
    const int32_t *skip_a, *skip_b;
} ec_bvh_rays;

/* The hit is at (1 - u - v) vertex 0 + u vertex 1 + v vertex 2. */
typedef struct ec_bvh_hits {
    float *t;          /* infinity where the ray misses */
    int32_t *triangle; /* -1 where the ray misses */
    float *u, *v;      /* may be NULL */
} ec_bvh_hits;

int ec_bvh_closest_run(ec_bvh_layout *layout, const ec_bvh_rays *rays, const ec_bvh_hits *hits,
                       size_t n);
/* hit[i] = 1 where ray i hits a triangle, else 0. */
int ec_bvh_any_run(ec_bvh_layout *layout, const ec_bvh_rays *rays, uint8_t *hit, size_t n);

EC_C_END
#endif
