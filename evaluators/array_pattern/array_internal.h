/* array_internal.h: what the host files of the array pattern share.
 *
 * A call owns an ec_pattern_setup (the configuration with its lists), an output owns an
 * ec_pattern_spec. Plan turns both into ec_pattern_args (array_types.h), whose pointers lie on the
 * backend: array_grids.c builds the directions and paths, array_elements.c
 * what concerns the elements' own fields, array_radiation.c quadratures of the radiated power,
 * array_plan.c the rest.
 */
#ifndef EC_ARRAY_INTERNAL_H
#define EC_ARRAY_INTERNAL_H

#include "array_pattern.h"
#include "array_types.h"
#include "nufft.h"

typedef struct ec_pattern_setup {
    ec_array_config config; /* its lists and tables point into storage and tables */
    double *storage;
    int32_t *part;
    double *position; /* middles of the ranges of x[], y[], z[] in wavelengths, NULL: not known */
    double *reach;    /* half widths of these ranges; NULL: positions are constants */
    ec_element_pattern *each; /* of config, or NULL */
    ec_element_frame *frames; /* likewise */
    ec_c128 *nodes;           /* tables of all patterns, one after the other */
    size_t n_nodes;
} ec_pattern_setup;

/* Whether the elements can be what the configuration says; the setup's own copies of them. */
int ec_pattern_elements_check(const ec_array_config *config);
int ec_pattern_elements_copy(ec_pattern_setup *setup);
void ec_pattern_elements_free(ec_pattern_setup *setup);
/* The configuration as a hash, as ec_evaluator_def says. */
void ec_pattern_fingerprint(const ec_call *call, int32_t output, ec_hash *hash);
/* ", co-polar field" or "". */
const char *ec_pattern_polarization_text(const ec_array_config *config);
/* True when elements have fields of their own. */
bool ec_pattern_has_own(const ec_array_config *config);

typedef struct ec_pattern_spec {
    ec_pattern_kind kind;
    bool relative;
    double shape; /* soft: dB; norm: p */
    ec_array_beam beam;
    int32_t n;
    ec_pattern_line *lines;   /* excess, norm: n */
    double *directions;       /* level, null depth: u[n], v[n], w[n], gain[n] */
    ec_pattern_piece *pieces; /* pieces: the beam's and n more */
} ec_pattern_spec;

/* Memory of a plan: everything that was allocated on its backend; or, `counted`, only the bytes of it,
 * for an answer before the plan: addresses are NULL then and what fills them is left out. */
enum {
    EC_PATTERN_MEMORY_MAX = 96,
    EC_PATTERN_PLANS_MAX = 5 /* of patterns and of smooth metrics, forward and back; of the row */
};

typedef struct ec_pattern_memory {
    ec_backend *backend;
    const ec_interrupt *interrupt; /* of the plan, or NULL */
    bool counted;
    ec_pattern_nufft back; /* counted: what args->back would be on the backend */
    size_t bytes;
    int32_t count;
    void *block[EC_PATTERN_MEMORY_MAX];
    ec_nufft *nufft[EC_PATTERN_PLANS_MAX]; /* of NUFFT paths and adjoints */
    int32_t n_nufft;
    ec_fft *fft; /* CUDA */
} ec_pattern_memory;

/* from may be NULL where memory is counted. */
int ec_pattern_upload(ec_pattern_memory *memory, const void *from, size_t bytes, const void **to);
int ec_pattern_reserve(ec_pattern_memory *memory, size_t bytes, void **to);
void ec_pattern_forget(ec_pattern_memory *memory);
/* An error when the plan should end. */
int ec_pattern_go_on(const ec_pattern_memory *memory);

/* How a kernel finds an input, and an output or (NULL) none. */
static inline size_t ec_pattern_lane_stride(const ec_array *array)
{
    return array->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP) ? 1 : 0;
}

static inline void ec_pattern_bind_view(const ec_array *array, ec_pattern_view *view)
{
    view->data = (const double *)array->data;
    view->element = array->elements > 1 ? array->ld : 0;
    view->lane = ec_pattern_lane_stride(array);
    view->sample = array->sample_stride;
}

static inline void ec_pattern_bind_target(const ec_array *array, ec_pattern_target *target)
{
    target->data = array ? (double *)array->data : NULL;
    target->element = array ? array->ld : 0;
    target->lane = array ? ec_pattern_lane_stride(array) : 0;
    target->sample = array ? array->sample_stride : 0;
}

/* Workspaces of `bytes` each: as many as the machine keeps busy, there is work for, and the budget
 * allows. */
int32_t ec_pattern_count_teams(const ec_plan_info *info, const ec_backend *backend, size_t bytes);

/* Checks of a call's inputs, with a sentence that begins with the noun: shape and type; a look or
 * steering direction (key_u, key_v) that some design can bring into the visible region; wavelength. */
int ec_pattern_check_input(const ec_graph *graph, const char *noun, const char *name, ec_expr e,
                           int32_t elements, bool scalar);
int ec_pattern_check_look(const ec_graph *graph, const char *noun, const char *key, ec_expr u,
                          ec_expr v);
int ec_pattern_check_wavelength(const ec_graph *graph, const char *noun, ec_expr wavelength);
/* Coupled ports: their number and the frequencies that designs can have; the last frequency of the
 * file that is not above f, but not the very last of several; row m of M with currents M a, [elements]
 * each, at frequency k of the file. */
int ec_pattern_check_coupling(const char *noun, const ec_touchstone *data, int32_t elements,
                              ec_interval f);
int32_t ec_pattern_coupling_segment(const ec_touchstone *data, double f);
void ec_pattern_coupling_row(const ec_touchstone *data, int32_t k, int32_t m, double *re,
                             double *im);
/* w = sqrt(1 - u^2 - v^2) of the forward half; 0 outside the visible region. */
ec_expr ec_pattern_forward(ec_graph *graph, ec_expr u, ec_expr v);

/* Extents of the array over all designs, in wavelengths; INFINITY when a range is unbounded. */
typedef struct ec_pattern_extent {
    double x, y, z;
    bool compact; /* no phase of a visible direction exceeds 2^18 turns */
    bool planar;  /* one z for all elements */
    bool real;    /* weights are real up to a common phase, so |F(-d)| = |F(d)| in the plane */
    bool real_v;  /* also the cut's own v adds no phase */
} ec_pattern_extent;

/* An input has one value for all elements, whatever the design. */
bool ec_pattern_is_single(const ec_plan_info *info, int input);
void ec_pattern_measure(const ec_plan_info *info, const ec_array_config *config,
                        ec_pattern_extent *extent);

/* Positions in metres with wavelength = 1, or in wavelengths with one in metres, are a common
 * mistake; both give an array of an impossible size. True, with a sentence, when this seems to be one. */
bool ec_pattern_odd_extent(const ec_pattern_extent *extent, int32_t elements, char *text,
                           size_t size);

/* Coordinates of a grid after refinement, host memory; free with ec_pattern_axes_free. */
typedef struct ec_pattern_axes {
    int32_t na, nb;
    double *a, *b;
    bool circular, uniform, uniform_b;
    double density; /* samples a 1/aperture along the coarser axis; INFINITY for a point */
} ec_pattern_axes;

/* What a grid is for: every direction that the script gave, in its order; a row that metrics read,
 * where a full turn has each direction once; such a row fine enough for the array's extent. */
typedef enum ec_pattern_axes_use { EC_AXES_GIVEN, EC_AXES_ROW, EC_AXES_FINE } ec_pattern_axes_use;

int ec_pattern_axes_make(const ec_array_config *config, const ec_pattern_extent *extent,
                         ec_pattern_axes_use use, ec_pattern_axes *axes);
void ec_pattern_axes_free(ec_pattern_axes *axes);

/* Fills args->grid and, if tensor, args->product; chooses args->row for single or double precision,
 * or for the complex pattern (args->fields). text describes the path. */
int ec_pattern_grid_make(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                         const ec_pattern_extent *extent, const ec_pattern_axes *axes,
                         bool needs_row, ec_pattern_args *args, char *text, size_t size);
/* The radiated power: by pairs where it is closed (else power->closed stays 0), by nodes u[count],
 * v[count], w[count], weight[count] of the mean over the sphere (weights of an element in common hold
 * its power; free *list), or the first of both that there is, on the backend. */
int ec_pattern_power_pairs(ec_pattern_memory *memory, const ec_array_config *config,
                           const ec_pattern_extent *extent, ec_pattern_power *power);
int ec_pattern_power_nodes(const ec_pattern_memory *memory, const ec_array_config *config,
                           const ec_pattern_extent *extent, size_t *count, double **list);
int ec_pattern_power_make(ec_pattern_memory *memory, const ec_array_config *config,
                          const ec_pattern_extent *extent, ec_pattern_args *args);
/* Solid angles of a surface's points, for means, into args->grid. */
int ec_pattern_weights_make(ec_pattern_memory *memory, const ec_array_config *config,
                            const ec_pattern_axes *axes, ec_pattern_args *args);

/* True for a grid that the NUFFT path can compute. */
bool ec_pattern_nufft_fits(const ec_array_config *config, const ec_pattern_axes *axes);
/* Plans the NUFFT path into args->nufft and *trial, which holds nothing on the backend; *cost:
 * predicted seconds a design (INFINITY: the backend has no such path), for the choice between paths. */
typedef struct ec_pattern_trial ec_pattern_trial;
int ec_pattern_nufft_make(const ec_pattern_memory *memory, const ec_pattern_setup *setup,
                          const ec_pattern_axes *axes, ec_pattern_args *args,
                          ec_pattern_trial **trial, double *cost, char *text, size_t size);
/* Chooses what was planned: uploads its tables and reserves its buffers. */
int ec_pattern_nufft_use(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                         const ec_pattern_axes *axes, ec_pattern_trial *trial,
                         ec_pattern_args *args);
void ec_pattern_nufft_drop(ec_pattern_trial **trial);
/* Bytes of a team's workspace that it needs. */
size_t ec_pattern_nufft_bytes(const ec_pattern_args *args);
/* CUDA, by the transforms of nufft.h: reserves the buffers of a batch; runs candidates nufft->first to
 * nufft->first + nufft->count - 1 (array_transform.c). */
int ec_pattern_transform_use(ec_pattern_memory *memory, ec_pattern_args *args);
int ec_pattern_transform_run(const ec_pattern_memory *memory, const ec_kernel *kernel,
                             ec_pattern_args *args);
/* CUDA: all candidates of args through the path. */
int ec_pattern_nufft_run(const ec_pattern_memory *memory, const ec_kernel *kernel,
                         ec_pattern_args *args);

/* CPU: plans the adjoint of a whole pattern by NUFFT (array_back.h) into args->back where it is
 * predicted to be cheaper than direct sums, or asked for; appends to text. */
int ec_pattern_back_make(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                         const ec_pattern_axes *axes, ec_pattern_args *args, char *text,
                         size_t size);
/* Bytes of a team's workspace that it needs. */
size_t ec_pattern_back_bytes(const ec_pattern_args *args);

/* Direction of coordinates (a, b) of the configuration's kind; false: not visible. */
bool ec_pattern_direct(const ec_array_config *config, double a, double b, double direction[3]);
/* The configuration's element in a polarization, and its elements' own fields; host memory. */
void ec_pattern_gain_of(const ec_array_config *config, ec_array_polarization polarization,
                        ec_pattern_gain *gain);
void ec_pattern_own_of(const ec_array_config *config, ec_pattern_own *own);
/* Both on the backend, into args. */
int ec_pattern_elements_make(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                             ec_pattern_args *args);
/* Fields of elements of their own towards n directions, [elements][parts][re, im][stride], parts 1
 * (then of the gain's polarization) or 3, on the backend; *to is NULL when they are too many to
 * keep. */
int ec_pattern_fields_make(ec_pattern_memory *memory, const ec_array_config *config, int32_t parts,
                           const double *const d[3], size_t n, size_t stride, const float **to);
/* The visible stretch of a cut, intersected with its grid. */
void ec_pattern_visible(const ec_array_config *config, double *lo, double *hi);
bool ec_pattern_is_cut(ec_array_grid_kind kind);

typedef struct ec_pattern_evaluator {
    ec_evaluator head;
    ec_pattern_memory memory;
    int32_t n_in, n_out, elements;
    bool vjp;
    const bool *adjoint; /* VJP: copies of the plan's lists */
    int32_t n_adjoint;   /* outputs of the call that could have one */
    bool *flags;         /* storage of adjoint */
    int32_t n_batches;   /* launches a run: the pattern's, then groups of metrics */
    ec_pattern_args *batch;
    int32_t *batch_output; /* [n_batches][EC_PATTERN_METRICS_MAX]: output of each metric */
    char path[480];
} ec_pattern_evaluator;

int ec_pattern_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator);
int ec_pattern_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                   ec_array *const *out, uint8_t *status, size_t n);
void ec_pattern_destroy(ec_evaluator **evaluator);
void ec_pattern_memory_needs(const ec_plan_info *info, size_t *per_candidate, size_t *fixed);
void ec_pattern_describe(const ec_evaluator *evaluator, char *text, size_t size);
int ec_pattern_pieces(ec_graph *graph, ec_call *call, int32_t output, const double *const *at,
                      ec_expr *pieces);
void ec_pattern_spec_destroy(void *spec);
void ec_pattern_setup_destroy(void *setup);

#endif
