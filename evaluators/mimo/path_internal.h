/* path_internal.h: a plan of paths, and occlusion.
 */
#ifndef EC_PATH_INTERNAL_H
#define EC_PATH_INTERNAL_H

#include "path.h"
#include "path_device.h"
#include "path_sight.h"
#include "path_trace.h"

/* Two points are one below this part of a scene's size, which is that of it and its coordinates. */
#define EC_PATH_TOLERANCE 1e-10
double ec_path_scene_size(const ec_scene *scene); /* m */

enum { EC_PATH_ELEMENTS_MAX = 8192, EC_PATH_HIDING_MAX = 1024 };

struct ec_path_plan {
    const ec_scene *scene;
    ec_path_options options;
    double size;      /* m, of the scene and its coordinates */
    double tolerance; /* m, below which two points are one */
    int32_t n;        /* elements: facets, surfaces, wedges that diffract; ascending by step */
    ec_path_element *element;
    uint8_t *sees;       /* [n][n] or NULL when there are too many */
    ec_bvh *bvh;         /* NULL: every triangle is tested */
    ec_backend *backend; /* the CPU, for rays that discover sequences and paths of one pair */
    ec_bvh_layout *layout;
    ec_path_view view;        /* of these on the host */
    double *surface_depth;    /* see ec_path_view */
    ec_scene_bound *bound;    /* view.scene's: of all triangles of surfaces, in groups */
    ec_path_devices *devices; /* of the view on backends */
};

/* The nearest triangle that the ray meets but those of at most two parts, -1 if none; *t: where. */
int32_t ec_path_closest(const ec_path_plan *plan, const double from[3], const double direction[3],
                        const int32_t *skip, int32_t n_skip, double *t);

/* Whether the facet lets paths through. */
bool ec_path_is_slab(const ec_path_plan *plan, int32_t facet);

/* Whether paths may go straight from one element to another, as far as they and what hides them
 * can tell. */
bool ec_path_sees(const ec_path_plan *plan, int32_t from, int32_t to);

/* ---- lists of sequences while they grow ---- */

typedef struct ec_path_builder {
    size_t n, capacity, n_steps, steps_capacity;
    size_t *first;
    uint32_t *step;
} ec_path_builder;

int ec_path_builder_add(ec_path_builder *b, int32_t depth, const uint32_t *step);
void ec_path_builder_free(ec_path_builder *b);
/* The builder's memory becomes that of *sequences. */
int ec_path_builder_finish(ec_path_builder *b, int32_t depth, bool discovered, bool nodes_cut,
                           ec_path_sequences **sequences);

/* ERR_ARGUMENT unless the box of the named antenna is finite and not inside out. */
int ec_path_box_check(const char *name, const ec_path_box *box);

#endif
