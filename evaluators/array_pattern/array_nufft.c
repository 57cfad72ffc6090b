/* array_nufft.c: plans the NUFFT path of a pattern: the expansion in z, sub-arrays and the transforms
 * of nufft.h on every backend, the fine grid and the window of the fused path on CUDA
 * (array_spread.cuh), and what they cost. */
#include "array_internal.h"
#include "array_parts.h"
#include "array_pattern_expansion.h"
#include "nufft.h"
#include "nufft_window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STAGED_BYTES = 256 << 20, /* CUDA: of the fine grids of one batch of candidates */
    STAGED_MAX = 1024,
    SORT_BINS_MAX = 50000, /* a block's shared memory */
    FINE_MAX = 32768,
    PLACES_BYTES = 128 << 20, /* CPU: of the parts' points and directions in their transforms */
    WINDOW_SAMPLES = 64       /* frequencies at which a window's error is looked at */
};

/* Shipped costs on a GPU in seconds, measured on an H100: a byte of its memory, an addition to
 * shared memory. */
static const double COST_BYTE = 4e-13, COST_UPDATE = 6e-13;
/* A term's factor at a direction, on one CPU core and on a GPU; the launches of a part on a GPU, over
 * the candidates of a small batch. */
static const double COST_TERM = 1e-9, COST_TERM_GPU = 1.5e-11, COST_PART_GPU = 1e-6;
/* An adjoint's direct sum: a direction and element. It is not worth a plan below BACK_LEAST. */
static const double COST_ADJOINT = 2e-9, BACK_LEAST = 2e-6;
/* Of an adjoint, relative to the rms of its entries: gradients are good to 1e-6 of their own. */
static const double BACK_TOLERANCE = 1e-11;

/* Interval of an input over the wavelength. */
static ec_interval in_wavelengths(const ec_pattern_args *args, int input)
{
    const ec_pattern_view *r = &args->in[input], *l = &args->in[EC_PATTERN_WAVELENGTH];
    ec_interval z = {fmin(r->lo / l->lo, r->lo / l->hi), fmax(r->hi / l->lo, r->hi / l->hi)};

    return z;
}

/* Interval of the direction cosine w over the points that are read. */
static ec_interval visible_w(const ec_array_config *config, const ec_pattern_axes *axes)
{
    ec_interval w = {1.0, 0.0};
    int32_t nb = config->kind == EC_ARRAY_CUT_U ? 1 : axes->nb;

    for (int32_t i = 0; i < axes->na * nb; i++) {
        double d[3];
        double b = config->kind == EC_ARRAY_CUT_U ? config->fixed : axes->b[i % nb];
        /* on a cut interpolation reads one sample beyond the visible stretch, where w is 0 */
        if (!ec_pattern_direct(config, axes->a[i / nb], b, d) && config->kind != EC_ARRAY_CUT_U)
            continue;
        w.lo = fmin(w.lo, d[2]);
        w.hi = fmax(w.hi, d[2]);
    }
    return w;
}

/* Terms of the expansion over z_half and the visible w; more than EC_PATTERN_TERMS_MAX: too deep. */
static void count_terms(const ec_array_config *config, ec_interval w, double tolerance,
                        ec_pattern_nufft *nufft)
{
    double x = EC_PI * nufft->z_half * (w.hi - w.lo);

    nufft->w_c = 0.5 * (w.lo + w.hi);
    nufft->taylor = config->expansion == EC_EXPANSION_TAYLOR;
    /* far beyond the terms that there are, also those that the script asks for are but noise */
    nufft->terms = x >= 4.0 * EC_PATTERN_TERMS_MAX ? EC_PATTERN_TERMS_MAX + 1
                   : config->terms > 0
                       ? config->terms
                       : ec_expansion_terms(config->expansion, x, tolerance, EC_PATTERN_TERMS_MAX);
    nufft->bound = ec_expansion_error(config->expansion, x, nufft->terms);
}

static int too_deep(const ec_pattern_nufft *nufft)
{
    return ec_fail(
        EC_ERR_UNSUPPORTED,
        "array: method 'nufft': the elements' z spans %.4g wavelengths, which needs more "
        "than %d terms of the expansion in z; bound z, cut the array into parts = 8, or choose "
        "method = \"direct\"",
        2.0 * nufft->z_half, EC_PATTERN_TERMS_MAX);
}

/* c_p(w) of every direction. */
static int upload_factors(ec_pattern_memory *memory, const ec_array_config *config,
                          const ec_pattern_axes *axes, ec_interval w, size_t points, bool wide,
                          ec_pattern_nufft *nufft)
{
    const size_t some = 4096; /* directions between two looks at the interrupt */
    size_t terms = (size_t)nufft->terms, nb = (size_t)axes->nb;
    size_t bytes = terms * points * (wide ? sizeof(double) : sizeof(float));
    bool cut = config->kind == EC_ARRAY_CUT_U;
    int status = EC_OK;

    if (memory->counted)
        return ec_pattern_upload(memory, NULL, bytes, &nufft->factor);
    void *factor = malloc(bytes);
    if (!factor)
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for an expansion in z");
    for (size_t i = 0; i < points && status >= 0; i++) {
        double d[3], f[EC_PATTERN_TERMS_MAX];
        if (i % some == 0)
            status = ec_pattern_go_on(memory);
        ec_pattern_direct(config, axes->a[cut ? i : i / nb], cut ? config->fixed : axes->b[i % nb],
                          d);
        double omega = fmin(fmax(d[2], w.lo), w.hi) - nufft->w_c;
        ec_expansion_factors(config->expansion, 2.0 * EC_PI * nufft->z_half * omega, nufft->terms,
                             f);
        for (size_t p = 0; p < terms; p++) {
            if (wide)
                ((double *)factor)[p * points + i] = f[p];
            else
                ((float *)factor)[p * points + i] = (float)f[p];
        }
    }
    if (status >= 0)
        status = ec_pattern_upload(memory, factor, bytes, &nufft->factor);
    free(factor);
    return status;
}

/* Curves of the factors over |y| <= 2 pi z_half w_half, for parts of any depth up to z_half: knots
 * so close that cubic interpolation is good to 1e-12. */
static int upload_curves(ec_pattern_memory *memory, ec_interval w, ec_pattern_nufft *nufft)
{
    enum { KNOTS_A_RADIAN = 256 };
    double longest = EC_PI * nufft->z_half * (w.hi - w.lo);
    size_t knots = (size_t)(longest * KNOTS_A_RADIAN) + 3, terms = (size_t)nufft->terms;
    size_t bytes = 2 * terms * knots * sizeof(double);

    nufft->knots = (int32_t)knots;
    nufft->per_knot = KNOTS_A_RADIAN;
    if (memory->counted)
        return ec_pattern_upload(memory, NULL, bytes, (const void **)&nufft->curve);
    double *curve = malloc(bytes);
    if (!curve)
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for an expansion in z");
    for (size_t k = 0; k < knots; k++) {
        double j[EC_PATTERN_TERMS_MAX + 1];
        ec_bessel_j((double)k / KNOTS_A_RADIAN, nufft->terms + 1, j);
        for (size_t p = 0; p < terms; p++) {
            double factor = p == 0 ? 1.0 : 2.0; /* J_p' = (J_(p-1) - J_(p+1)) / 2, J_0' = -J_1 */
            double slope = p == 0 ? -j[1] : 0.5 * (j[p - 1] - j[p + 1]);
            curve[2 * (p * knots + k)] = factor * j[p];
            curve[2 * (p * knots + k) + 1] = factor * slope / KNOTS_A_RADIAN;
        }
    }
    int status = ec_pattern_upload(memory, curve, bytes, (const void **)&nufft->curve);
    free(curve);
    return status;
}

/* ---- transforms of nufft.h ---- */

/* One way to compute the pattern: the array whole or in parts. */
typedef struct pattern_way {
    const ec_pattern_cut *cut; /* NULL: whole */
    int tilt;
    ec_pattern_nufft nufft;
    ec_pattern_parts parts;
    ec_nufft *plan;
    double estimate, cost;
} pattern_way;

static void drop_way(pattern_way *way)
{
    ec_nufft_destroy(&way->plan);
    ec_pattern_parts_free(&way->parts);
}

typedef struct way_problem {
    ec_backend *backend;
    const ec_pattern_setup *setup;
    const ec_pattern_axes *axes;
    const ec_pattern_args *args;
    ec_interval w;
    double tolerance, finest;
    bool wide; /* float64 */
} way_problem;

/* Largest |t - centre| of the directions' coordinate along axis k, shifted by a slope. */
static double target_half(const way_problem *problem, int k, double slope)
{
    const ec_pattern_axes *axes = problem->axes;
    bool cut = problem->setup->config.kind == EC_ARRAY_CUT_U;
    const double *a = k == 0 ? axes->a : axes->b;
    double half = cut && k == 1 ? 0.0 : 0.5 * (a[(k == 0 ? axes->na : axes->nb) - 1] - a[0]);

    /* invisible directions have w = 0 */
    return half + slope * problem->w.hi * 0.5 + 1e-9;
}

/* The transform of one part of a way. Along axes without a slope directions are regular. */
static ec_nufft_info transform_of(const way_problem *problem, const pattern_way *way, bool placed)
{
    const ec_pattern_nufft *nufft = &way->nufft;
    const ec_pattern_axes *axes = problem->axes;
    bool line = problem->setup->config.kind == EC_ARRAY_CUT_U && way->tilt != EC_TILT_BOTH;
    double share = nufft->terms > 1 ? 0.5 * problem->tolerance : problem->tolerance;
    ec_nufft_info info = {.type = way->tilt ? 3 : 1,
                          .dim = line ? 1 : 2,
                          .modes = {axes->na, line ? 1 : axes->nb},
                          .points = nufft->longest,
                          .targets = problem->args->grid.points,
                          .span = {way->parts.span[0], way->parts.span[1]},
                          .target_span = {target_half(problem, 0, way->parts.slope[0]),
                                          target_half(problem, 1, way->parts.slope[1])},
                          .placed = placed,
                          .moving = nufft->moving,
                          .double_precision = problem->wide,
                          .sign = 1,
                          .tolerance = fmax(share, problem->finest),
                          .method = EC_NUFFT_AUTO};

    if (way->tilt == EC_TILT_X && !line) /* a GPU has none of these: try_tilts */
        info.regular = 2;
    if (way->tilt == EC_TILT_Y)
        info.regular = 1;
    return info;
}

static int plan_transform(const way_problem *problem, pattern_way *way, bool placed)
{
    ec_nufft_info info = transform_of(problem, way, placed);

    ec_nufft_destroy(&way->plan);
    return ec_nufft_create(problem->backend, &info, &way->plan);
}

/* Whether the places of all parts are too many to keep. */
static bool too_many_places(const pattern_way *way)
{
    const ec_nufft_args *plan = ec_nufft_plan_args(way->plan);

    return (size_t)way->nufft.parts * plan->place_bytes > PLACES_BYTES;
}

static void place_axes(const way_problem *problem, int tilt, ec_pattern_nufft *nufft)
{
    nufft->tilt = tilt;
    nufft->scale[0] = tilt & EC_TILT_X ? 1.0 : nufft->step_u;
    nufft->scale[1] = tilt & EC_TILT_Y ? 1.0 : nufft->step_v;
    nufft->turn[0] = tilt & EC_TILT_X ? 0.0 : nufft->centre_u;
    nufft->turn[1] = tilt & EC_TILT_Y ? 0.0 : nufft->centre_v;
    nufft->moving = problem->setup->reach != NULL;
}

/* Cuts the array and counts its terms. */
static int cut_array(const way_problem *problem, pattern_way *way)
{
    const ec_array_config *config = &problem->setup->config;
    const ec_pattern_positions at = {config->elements, problem->setup->position,
                                     problem->setup->reach};
    ec_pattern_nufft *nufft = &way->nufft;

    place_axes(problem, way->tilt, nufft);
    nufft->longest = config->elements;
    nufft->moving = nufft->moving && way->cut;
    if (way->cut) {
        int status = ec_pattern_parts_make(&at, way->cut, way->tilt, &way->parts);
        if (status < 0)
            return status;
        nufft->longest = way->parts.longest;
        nufft->z_half = way->parts.depth;
        for (int k = 0; k < 2; k++)
            nufft->span[k] =
                (way->tilt & (1 << k)) && nufft->moving ? way->parts.span[k] : INFINITY;
    }
    nufft->parts = way->parts.count;
    nufft->terms = 1;
    if (!problem->args->planar)
        count_terms(config, problem->w, 0.5 * problem->tolerance, nufft);
    return nufft->terms > EC_PATTERN_TERMS_MAX ? too_deep(nufft) : EC_OK;
}

/* Seconds besides the transforms. */
static double cost_around(const way_problem *problem, const pattern_way *way)
{
    bool cuda = problem->backend->is_cuda;
    double each = cuda ? COST_TERM_GPU : COST_TERM, launches = cuda ? COST_PART_GPU : 0.0;
    double points = problem->args->grid.points, parts = way->cut ? way->nufft.parts : 1.0;

    return parts * (launches + each * points * (way->nufft.terms + (way->cut ? 4.0 : 0.0)));
}

/* Cuts the array for a way and estimates its cost. */
static int estimate_way(const way_problem *problem, pattern_way *way)
{
    int status = cut_array(problem, way);
    double parts = way->cut ? way->nufft.parts : 1.0;

    way->cost = way->estimate = (double)INFINITY;
    if (status < 0)
        return status;
    ec_nufft_info info = transform_of(problem, way, !problem->backend->is_cuda);
    info.points = (int32_t)(problem->setup->config.elements / parts) + 1;
    way->estimate = cost_around(problem, way) +
                    parts * way->nufft.terms * ec_nufft_cost_estimate(problem->backend, &info);
    return EC_OK;
}

static int plan_way(const way_problem *problem, pattern_way *way)
{
    ec_pattern_nufft *nufft = &way->nufft;
    bool cuda = problem->backend->is_cuda;
    int32_t parts = way->cut ? nufft->parts : 1;
    int status = plan_transform(problem, way, !cuda);

    if (status >= 0 && way->tilt && !cuda &&
        (ec_nufft_plan_args(way->plan)->direct || too_many_places(way)))
        status = plan_transform(problem, way, false);
    if (status < 0)
        return status;
    way->cost = cost_around(problem, way);
    for (int32_t k = 0; k < parts; k++) {
        int32_t count = way->cut ? way->parts.part[k].count : nufft->longest;
        way->cost += nufft->terms * ec_nufft_cost_points(way->plan, count);
    }
    return EC_OK;
}

static int upload_parts(ec_pattern_memory *memory, const pattern_way *way, int32_t elements,
                        ec_pattern_nufft *nufft)
{
    int status =
        ec_pattern_upload(memory, way->parts.part, (size_t)nufft->parts * sizeof *way->parts.part,
                          (const void **)&nufft->part);

    if (status >= 0)
        status =
            ec_pattern_upload(memory, way->parts.order, (size_t)elements * sizeof *way->parts.order,
                              (const void **)&nufft->order);
    return status;
}

/* What of the parts' points and directions does not depend on the design has its places in the
 * transforms found once, unless they are too many to keep. */
static int make_places(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                       const ec_pattern_grid *grid, const pattern_way *way, ec_pattern_nufft *nufft)
{
    const ec_nufft_args *plan = nufft->plan;
    const double *x = setup->position, *y = x + setup->config.elements;
    size_t points = (size_t)grid->points, n = (size_t)nufft->longest;
    size_t bytes = (size_t)nufft->parts * plan->place_bytes;

    if (plan->direct || (size_t)nufft->parts * plan->place_bytes > PLACES_BYTES)
        return EC_OK;
    if (memory->counted)
        return ec_pattern_reserve(memory, bytes, (void **)&nufft->places);
    double *list = malloc((2 * n + 2 * points) * sizeof *list);
    char *workspace = aligned_alloc(EC_NUFFT_LANE_BYTES, plan->workspace_bytes);
    int status = list && workspace
                     ? ec_pattern_reserve(memory, bytes, (void **)&nufft->places)
                     : ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for sub-arrays");
    for (int32_t k = 0; k < nufft->parts && status >= 0; k++) {
        const ec_pattern_part *part = &way->parts.part[k];
        double *px = list, *py = px + n, *u = py + n, *v = u + points;
        for (int32_t i = 0; i < part->count; i++) {
            int32_t m = way->parts.order[part->first + i];
            px[i] = (x[m] - part->x) * nufft->scale[0];
            py[i] = (y[m] - part->y) * nufft->scale[1];
        }
        for (size_t i = 0; i < points; i++) {
            u[i] = ec_fma(part->slope_x, grid->w[i], grid->u[i]);
            v[i] = ec_fma(part->slope_y, grid->w[i], grid->v[i]);
        }
        ec_nufft_io io = {.point = {px, py},
                          .target = {u, v},
                          .places = nufft->places + (size_t)k * plan->place_bytes,
                          .points = part->count,
                          .moving = nufft->moving};
        if (plan->function(plan, &io, workspace) != EC_CANDIDATE_OK)
            status = ec_fail(EC_ERR_INTERNAL, "array_pattern: a sub-array lies outside its span");
    }
    free(workspace);
    free(list);
    return status;
}

static void lay_out_cpu(const way_problem *problem, ec_pattern_nufft *nufft)
{
    size_t real = problem->args->double_precision ? sizeof(double) : sizeof(float), at = 0;
    size_t points = (size_t)problem->args->grid.points, longest = (size_t)nufft->longest;
    size_t terms = (size_t)nufft->terms;

    nufft->at_point = at;
    at += ec_round_up(2 * longest * sizeof(double), 64);
    nufft->at_target = at;
    at += nufft->tilt ? ec_round_up(2 * points * sizeof(double), 64) : 0;
    nufft->at_zeta = at;
    at += ec_round_up(longest * real, 64);
    nufft->at_strength = at;
    at += ec_round_up(2 * terms * longest * real, 64);
    nufft->at_term = at;
    at += ec_round_up(2 * terms * points * real, 64);
    nufft->at_field = at;
    at += ec_round_up(2 * points * real, 64);
    nufft->at_work = at;
}

/* How the array may be cut: as asked for, else whole (the first) or in any of these ways. */
enum { CUTS_MAX = 16 };

static int32_t list_cuts(const ec_array_config *config, bool asked, ec_pattern_cut cuts[CUTS_MAX])
{
    bool line = config->kind == EC_ARRAY_CUT_U;
    ec_array_partition wish = config->partition;
    int32_t n = 0, side = asked ? config->parts : 1, last = asked ? side : 8;

    /* terms that are given tell nothing of the error, so that cost alone would choose */
    if (wish == EC_PARTITION_AUTO && (asked && config->terms > 0))
        wish = EC_PARTITION_GRID;
    if (asked && config->part) {
        cuts[0] = (ec_pattern_cut){.given = config->part, .nx = 1, .ny = 1};
        return 1;
    }
    for (; side <= last && wish != EC_PARTITION_KD; side *= 2)
        cuts[n++] = (ec_pattern_cut){EC_PARTITION_GRID, NULL, side, line ? 1 : side};
    side = asked ? config->parts : 2;
    last = asked ? side : line ? 8 : 64; /* the square of a side is a number of parts, too */
    for (; side <= last && wish != EC_PARTITION_GRID; side *= 2)
        cuts[n++] = (ec_pattern_cut){EC_PARTITION_KD, NULL, side, asked && !line ? side : 1};
    return n;
}

/* All ways that there are, with their estimates. */
typedef struct way_list {
    int32_t n;
    pattern_way way[1 + 4 * CUTS_MAX];
} way_list;

static void add_way(way_list *list, const pattern_way *way, double estimate)
{
    list->way[list->n] = *way;
    list->way[list->n++].estimate = estimate;
}

/* The ways to compute a cut array: about planes with either slope or both. The status is the first
 * error, where there was one. */
static int list_tilts(const way_problem *problem, const ec_pattern_cut *cut, bool asked,
                      const ec_pattern_nufft *nufft, way_list *list)
{
    static const int tilts[] = {EC_TILT_BOTH, EC_TILT_X, EC_TILT_Y, EC_TILT_NONE};
    const ec_array_config *config = &problem->setup->config;
    bool line = config->kind == EC_ARRAY_CUT_U, one = cut->nx * cut->ny == 1 && !cut->given;
    double depth = 0.0;
    int first = EC_OK;

    for (int k = 0; k < 4; k++) {
        pattern_way way = {.cut = cut, .tilt = tilts[k], .nufft = *nufft};
        bool plane = way.tilt != EC_TILT_NONE;
        if (plane ? !config->planes : config->planes && (asked || one))
            continue;
        /* a GPU has no transform of directions that are regular along one axis */
        if (problem->backend->is_cuda && !line && plane && way.tilt != EC_TILT_BOTH)
            continue;
        if (line && way.tilt == EC_TILT_Y)
            continue;
        int status = estimate_way(problem, &way);
        if (way.tilt == EC_TILT_BOTH)
            depth = way.parts.depth;
        first = first < 0 ? first : status;
        /* fewer slopes must not make a given number of terms worse */
        bool worse = plane && config->terms > 0 && way.parts.depth > 1.05 * depth + 1e-9;
        add_way(list, &way, status < 0 || worse ? (double)INFINITY : way.estimate);
    }
    return first;
}

/* The cheapest of the list becomes *best; the others are dropped. Only those are planned whose
 * estimates could be the least. */
static int take_cheapest(const way_problem *problem, way_list *list, pattern_way *best)
{
    const double slack = 0.7;
    int first = EC_OK;

    for (;;) {
        pattern_way *next = NULL;
        for (int32_t k = 0; k < list->n; k++)
            if (isfinite(list->way[k].estimate) &&
                (!next || list->way[k].estimate < next->estimate))
                next = &list->way[k];
        if (!next || slack * next->estimate >= best->cost)
            break;
        next->estimate = (double)INFINITY;
        int status = plan_way(problem, next);
        first = first < 0 ? first : status;
        if (status < 0 || next->cost >= best->cost)
            continue;
        drop_way(best);
        *best = *next;
        next->plan = NULL;
        memset(&next->parts, 0, sizeof next->parts);
    }
    for (int32_t k = 0; k < list->n; k++)
        drop_way(&list->way[k]);
    return best->plan ? EC_OK : first;
}

/* The cheapest way: as asked for, else whole or, where the places of elements are known, in parts. */
static int choose_way(const way_problem *problem, const ec_pattern_nufft *nufft,
                      ec_pattern_cut cuts[CUTS_MAX], pattern_way *best)
{
    const ec_array_config *config = &problem->setup->config;
    bool known = problem->setup->position && !problem->args->planar;
    bool asked = known && (config->part || config->parts > 0);
    way_list *list = calloc(1, sizeof *list);
    int status = EC_OK;

    if (!list)
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a plan");
    best->cost = (double)INFINITY;
    if (!asked) {
        pattern_way whole = {.nufft = *nufft};
        status = estimate_way(problem, &whole);
        add_way(list, &whole, whole.estimate);
    }
    int32_t n = asked || (known && config->terms == 0) ? list_cuts(config, asked, cuts) : 0;
    for (int32_t k = 0; k < n; k++) {
        int tried = list_tilts(problem, &cuts[k], asked, nufft, list);
        status = asked && k == 0 ? tried : status;
    }
    int planned = take_cheapest(problem, list, best);
    free(list);
    return best->plan ? EC_OK : status < 0 ? status : planned;
}

static void describe_parts(const pattern_way *way, char *text, size_t size)
{
    static const char *const tilts[] = {"", " about planes along x", " about planes along y",
                                        " about their planes"};
    size_t used = strlen(text);

    const char *kind = way->cut->given                          ? "given part"
                       : way->cut->partition == EC_PARTITION_KD ? "k-d part"
                                                                : "cell";
    snprintf(text + used, size - used, ", %d %s%s%s%s", way->nufft.parts, kind,
             way->nufft.parts == 1 ? "" : "s", tilts[way->tilt],
             way->nufft.moving ? " within the ranges" : "");
}

/* Puts a way in the arguments; its parts, whose cut is gone by then, wait for use_way. */
static void take_way(const way_problem *problem, pattern_way *way, ec_pattern_nufft *nufft,
                     char *text, size_t size)
{
    *nufft = way->nufft;
    if (problem->backend->is_cuda) {
        nufft->transform = way->plan;
    } else {
        nufft->plan = ec_nufft_plan_args(way->plan);
        lay_out_cpu(problem, nufft);
    }
    ec_nufft_describe(way->plan, text, size);
    if (nufft->parts > 0)
        describe_parts(way, text, size);
}

static int use_way(ec_pattern_memory *memory, const ec_pattern_setup *setup, pattern_way *way,
                   ec_pattern_args *args)
{
    ec_pattern_nufft *nufft = &args->nufft;
    int status = EC_OK;

    memory->nufft[memory->n_nufft++] = way->plan;
    way->plan = NULL;
    if (nufft->parts > 0)
        status = upload_parts(memory, way, setup->config.elements, nufft);
    if (status >= 0 && nufft->parts > 0 && nufft->tilt && nufft->plan)
        status = make_places(memory, setup, &args->grid, way, nufft);
    return status;
}

/* ---- the fused path on CUDA ---- */

/* The next even product of powers of 2, 3, 5 and 7. */
static int32_t next_smooth(double from)
{
    for (int32_t n = 2 * (int32_t)ceil(0.5 * from);; n += 2) {
        int32_t rest = n;
        for (int32_t prime = 2; prime <= 7; prime += 1 + (prime > 2))
            while (rest % prime == 0)
                rest /= prime;
        if (rest == 1)
            return n;
    }
}

/* Error of a window on the planned fine grid: aliases of both axes, all of one phase. */
static double window_error(const ec_nufft_window *window, const ec_pattern_axes *axes,
                           const int32_t fine[2])
{
    const int32_t modes[2] = {axes->na, axes->nb};
    ec_nufft_window_quality q[2];

    for (int k = 0; k < 2; k++) {
        int32_t half = modes[k] / 2;
        ec_nufft_window_error(window, (double)half / fine[k],
                              half < WINDOW_SAMPLES ? half : WINDOW_SAMPLES, modes[k] % 2 == 0,
                              &q[k]);
    }
    return sqrt(q[0].rms * q[0].rms + q[1].rms * q[1].rms + 2.0 * q[0].mean * q[1].mean);
}

/* The cheapest pair of oversampling and width that meets the tolerance; its cost in seconds. */
static double choose_window(const ec_pattern_axes *axes, double tolerance, int32_t elements,
                            int32_t terms, ec_pattern_nufft *nufft, ec_nufft_window *window)
{
    static const double upsampling[] = {1.25, 1.5, 2.0};
    double best = (double)INFINITY;

    for (size_t k = 0; k < sizeof upsampling / sizeof *upsampling; k++) {
        for (int32_t width = 2; width <= EC_SPREAD_WIDTH_MAX; width++) {
            ec_nufft_window trial;
            int32_t fine[2] = {next_smooth(fmax(upsampling[k] * axes->na, 2.0 * width)),
                               next_smooth(fmax(upsampling[k] * axes->nb, 2.0 * width))};
            ec_nufft_window_make(
                width, fmin((double)fine[0] / axes->na, (double)fine[1] / axes->nb), &trial);
            if (window_error(&trial, axes, fine) > tolerance)
                continue;
            double cells = (double)fine[0] * fine[1];
            double cost = terms * (48.0 * COST_BYTE * cells +
                                   2.0 * COST_UPDATE * width * width * (double)elements) +
                          12.0 * COST_BYTE * axes->na * axes->nb;
            if (cost < best) {
                best = cost;
                *window = trial;
                nufft->fine[0] = fine[0];
                nufft->fine[1] = fine[1];
                nufft->width = width;
            }
            break;
        }
    }
    return best;
}

static int upload_window(ec_pattern_memory *memory, const ec_nufft_window *window,
                         const ec_pattern_axes *axes, double tolerance, ec_pattern_nufft *nufft)
{
    enum { COUNT_MAX = EC_SPREAD_DEGREE_MAX + 1 };
    double fit[COUNT_MAX * EC_SPREAD_WIDTH_MAX];
    float list[COUNT_MAX * EC_SPREAD_WIDTH_MAX];
    int32_t count = 4, modes[2] = {axes->na, axes->nb};

    /* the fewest coefficients whose error is below a tenth of the tolerance, seen between the
     * nodes that the fit interpolates at */
    for (;; count++) {
        double worst = 0.0;
        ec_nufft_window_fit(window, count, nufft->width, fit);
        for (int32_t t = 0; t < nufft->width; t++)
            for (int i = 0; i <= 32; i++) {
                double s = i / 32.0, value = fit[t];
                for (int32_t d = 1; d < count; d++)
                    value = value * (2.0 * s - 1.0) + fit[d * nufft->width + t];
                double want = ec_nufft_window_value(window, t + s - 0.5 * nufft->width);
                worst = fmax(worst, fabs(value - want));
            }
        if (worst < 0.1 * tolerance || count == COUNT_MAX)
            break;
    }
    for (int32_t k = 0; k < count * nufft->width; k++)
        list[k] = (float)fit[k];
    nufft->degree = count - 1;
    int status = ec_pattern_upload(memory, list, (size_t)(count * nufft->width) * sizeof *list,
                                   (const void **)&nufft->window);
    for (int k = 0; k < 2 && status >= 0; k++) {
        float *level = malloc((size_t)modes[k] * sizeof *level);
        if (!level)
            return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a window");
        for (int32_t i = 0; i < modes[k]; i++)
            level[i] = (float)(1.0 / ec_nufft_window_transform(window, (double)(i - modes[k] / 2) /
                                                                           nufft->fine[k]));
        status = ec_pattern_upload(memory, level, (size_t)modes[k] * sizeof *level,
                                   (const void **)&nufft->level[k]);
        free(level);
    }
    return status;
}

/* The transform's share of the tolerance. */
static double fused_tolerance(const way_problem *problem, const ec_pattern_nufft *nufft)
{
    double share = nufft->terms > 1 ? 0.5 * problem->tolerance : problem->tolerance;

    return fmax(share, problem->finest);
}

/* Predicted seconds of the fused path, INFINITY: it is not for this pattern; the window to upload. */
static double plan_fused(const way_problem *problem, ec_pattern_nufft *nufft,
                         ec_nufft_window *window)
{
    const ec_array_config *config = &problem->setup->config;
    bool asked = problem->setup->position && (config->part || config->parts > 0);

    if (config->kind != EC_ARRAY_GRID_UV || problem->wide || problem->args->fields ||
        (asked && !problem->args->planar))
        return (double)INFINITY;
    nufft->terms = 1;
    if (!problem->args->planar)
        count_terms(config, problem->w, 0.5 * problem->tolerance, nufft);
    if (nufft->terms > EC_PATTERN_TERMS_MAX)
        return (double)INFINITY;
    double cost = choose_window(problem->axes, fused_tolerance(problem, nufft), config->elements,
                                nufft->terms, nufft, window);
    if (isinf(cost))
        return cost;
    for (int k = 0; k < 2; k++)
        nufft->bins[k] = (nufft->fine[k] + EC_SPREAD_BIN - 1) / EC_SPREAD_BIN;
    return nufft->bins[0] * nufft->bins[1] > SORT_BINS_MAX || nufft->fine[0] > FINE_MAX ||
                   nufft->fine[1] > FINE_MAX
               ? (double)INFINITY
               : cost;
}

/* Buffers of a batch of candidates and the FFT over their grids. */
static int stage_cuda(ec_pattern_memory *memory, const ec_pattern_args *args,
                      ec_pattern_nufft *nufft)
{
    size_t cells = (size_t)nufft->fine[0] * (size_t)nufft->fine[1];
    size_t bytes = cells * (size_t)nufft->terms * sizeof(ec_c64);
    size_t staged = STAGED_BYTES / bytes;
    size_t bins = (size_t)nufft->bins[0] * (size_t)nufft->bins[1];

    staged = staged < 1 ? 1 : staged > STAGED_MAX ? STAGED_MAX : staged;
    nufft->staged = (int32_t)staged;
    int status = ec_pattern_reserve(memory, staged * bytes, (void **)&nufft->fields);
    if (status >= 0)
        status =
            ec_pattern_reserve(memory, staged * (size_t)args->grid.points * sizeof *nufft->rows,
                               (void **)&nufft->rows);
    if (status >= 0)
        status =
            ec_pattern_reserve(memory, staged * (size_t)args->elements * 8 * sizeof *nufft->record,
                               (void **)&nufft->record);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * (bins + 1) * sizeof *nufft->start,
                                    (void **)&nufft->start);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * sizeof *nufft->bad, (void **)&nufft->bad);
    if (status >= 0)
        status = ec_pattern_reserve(memory, staged * sizeof *nufft->top, (void **)&nufft->top);
    if (status < 0 || memory->counted)
        return status;
    ec_fft_info info = {.rank = 2,
                        .size = {(size_t)nufft->fine[0], (size_t)nufft->fine[1]},
                        .batch = staged * (size_t)nufft->terms,
                        .double_precision = false,
                        .sign = 1};
    return memory->backend->ops->fft_create(memory->backend, &info, &memory->fft);
}

/* ---- both ---- */

bool ec_pattern_nufft_fits(const ec_array_config *config, const ec_pattern_axes *axes)
{
    if (config->kind == EC_ARRAY_CUT_U)
        return axes->uniform;
    return config->kind == EC_ARRAY_GRID_UV && axes->uniform && axes->uniform_b;
}

static void place_grid(const ec_array_config *config, const ec_pattern_axes *axes,
                       ec_pattern_nufft *nufft)
{
    bool cut = config->kind == EC_ARRAY_CUT_U;

    nufft->step_u = (axes->a[axes->na - 1] - axes->a[0]) / (axes->na - 1);
    nufft->centre_u = axes->a[0] + nufft->step_u * (axes->na / 2);
    nufft->step_v = cut ? 0.0 : (axes->b[axes->nb - 1] - axes->b[0]) / (axes->nb - 1);
    nufft->centre_v = cut ? config->fixed : axes->b[0] + nufft->step_v * (axes->nb / 2);
}

static void place_depth(const ec_pattern_args *args, ec_pattern_nufft *nufft)
{
    ec_interval z = in_wavelengths(args, EC_PATTERN_Z);

    nufft->z_c = 0.5 * (z.lo + z.hi);
    nufft->z_half = 0.5 * (z.hi - z.lo) * (1.0 + 1e-9) + 1e-300;
}

struct ec_pattern_trial {
    pattern_way way;
    ec_nufft_window window; /* of the fused path, and its tolerance; 0: it is not that */
    double fused;
    ec_interval w;
    bool expanded;
};

int ec_pattern_nufft_make(const ec_pattern_memory *memory, const ec_pattern_setup *setup,
                          const ec_pattern_axes *axes, ec_pattern_args *args,
                          ec_pattern_trial **trial, double *cost, char *text, size_t size)
{
    const ec_array_config *config = &setup->config;
    ec_pattern_nufft *nufft = &args->nufft;
    /* a GPU's rows are float32 also at final fidelity: they tell where to refine */
    bool wide = args->double_precision && (!memory->backend->is_cuda || args->fields ||
                                           config->precision == EC_PRECISION_DOUBLE);
    double finest = wide ? 1e-12 : 1e-6; /* that a transform reaches */
    double tolerance = config->tolerance > 0.0 ? config->tolerance
                       : args->fields          ? finest
                       : wide                  ? 1e-9
                                               : 1e-4;
    ec_interval w = visible_w(config, axes);
    char way[240] = "";
    int status = EC_OK;
    ec_pattern_trial *own = calloc(1, sizeof *own);

    if (!own)
        return ec_fail(EC_ERR_MEMORY, "array_pattern: no memory for a plan");
    *trial = own; /* also after an error */
    memset(nufft, 0, sizeof *nufft);
    *cost = (double)INFINITY;
    /* a search's tolerance does not make final figures coarse */
    if (args->exact && !args->fields)
        tolerance = fmin(tolerance, wide ? 1e-9 : 2e-6);
    if (args->smooth)
        tolerance = finest;
    place_grid(config, axes, nufft);
    nufft->terms = 1;
    if (!args->planar)
        place_depth(args, nufft);
    way_problem problem = {memory->backend, setup, axes, args, w, tolerance, finest, wide};
    ec_pattern_cut cuts[CUTS_MAX];
    ec_pattern_nufft fused = *nufft;
    double fused_cost =
        memory->backend->is_cuda ? plan_fused(&problem, &fused, &own->window) : INFINITY;
    status = choose_way(&problem, nufft, cuts, &own->way);
    if (own->way.plan && own->way.cost < fused_cost) {
        *cost = own->way.cost;
        take_way(&problem, &own->way, nufft, way, sizeof way);
    } else if (isfinite(fused_cost)) {
        *nufft = fused;
        *cost = fused_cost;
        own->fused = fused_tolerance(&problem, nufft);
        snprintf(way, sizeof way, "NUFFT, width %d, grid %d x %d, tolerance %.3g", nufft->width,
                 nufft->fine[0], nufft->fine[1], own->fused);
        status = EC_OK;
    }
    own->way.cut = NULL; /* in cuts */
    if (status < 0)
        return status;
    own->w = w;
    own->expanded = nufft->terms > 1 || config->terms > 0;
    if (own->expanded)
        snprintf(text, size, "%s, %d %s term%s in z (error below %.2g)", way, nufft->terms,
                 nufft->taylor ? "Taylor" : "Chebyshev", nufft->terms > 1 ? "s" : "", nufft->bound);
    else
        snprintf(text, size, "%s", way);
    nufft->wide = wide;
    nufft->noise_log = 2.0 * log(tolerance);
    return EC_OK;
}

int ec_pattern_nufft_use(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                         const ec_pattern_axes *axes, ec_pattern_trial *trial,
                         ec_pattern_args *args)
{
    ec_pattern_nufft *nufft = &args->nufft;
    int status = EC_OK;

    args->row = EC_ROW_NUFFT;
    args->zero_log = fmax(args->zero_log, nufft->noise_log);
    if (trial->expanded && nufft->parts == 0)
        status = upload_factors(memory, &setup->config, axes, trial->w, (size_t)args->grid.points,
                                nufft->wide, nufft);
    if (status >= 0 && nufft->parts > 0 && nufft->terms > 1 && !nufft->taylor)
        status = upload_curves(memory, trial->w, nufft);
    if (status >= 0 && trial->fused == 0.0)
        status = use_way(memory, setup, &trial->way, args);
    if (status < 0 || !memory->backend->is_cuda)
        return status;
    args->double_precision = nufft->wide;
    if (nufft->transform)
        return ec_pattern_transform_use(memory, args);
    status = upload_window(memory, &trial->window, axes, trial->fused, nufft);
    return status < 0 ? status : stage_cuda(memory, args, nufft);
}

void ec_pattern_nufft_drop(ec_pattern_trial **trial)
{
    if (*trial)
        drop_way(&(*trial)->way);
    free(*trial);
    *trial = NULL;
}

size_t ec_pattern_nufft_bytes(const ec_pattern_args *args)
{
    return args->nufft.plan ? args->nufft.at_work + args->nufft.plan->workspace_bytes : 0;
}

/* ---- the adjoint ---- */

static size_t lay_out_back(const ec_pattern_args *args, int32_t channels, ec_pattern_nufft *back)
{
    size_t elements = (size_t)args->elements, points = (size_t)args->grid.points, at = 0;
    size_t each = (size_t)channels * sizeof(ec_c128);

    back->at_point = at;
    at += ec_round_up(2 * elements * sizeof(double), 64);
    back->at_term = at;
    at += ec_round_up(points * each, 64);
    back->at_strength = at;
    at += ec_round_up(elements * each, 64);
    back->at_field = at;
    at += ec_round_up(elements * each, 64);
    back->at_work = at;
    return at;
}

int ec_pattern_back_make(ec_pattern_memory *memory, const ec_pattern_setup *setup,
                         const ec_pattern_axes *axes, ec_pattern_args *args, char *text,
                         size_t size)
{
    ec_array_config config = setup->config;
    bool cut = config.kind == EC_ARRAY_CUT_U;
    int32_t channels = cut ? 2 : 3;
    double points = args->grid.points;
    double direct = COST_ADJOINT * points * config.elements;
    ec_pattern_nufft back;
    ec_nufft *plan = NULL;
    char way[120] = "";

    args->back = NULL;
    if (memory->backend->is_cuda || args->own.parts || !ec_pattern_nufft_fits(&config, axes) ||
        config.method == EC_METHOD_DIRECT || config.method == EC_METHOD_PRODUCT ||
        (config.method == EC_METHOD_AUTO && direct < BACK_LEAST))
        return EC_OK;
    memset(&back, 0, sizeof back);
    place_grid(&config, axes, &back);
    ec_interval w = visible_w(&config, axes);
    back.terms = 1;
    if (!args->planar) {
        place_depth(args, &back);
        config.terms = 0; /* of the adjoint as many as the bound says */
        count_terms(&config, w, 0.5 * BACK_TOLERANCE, &back);
        channels++;
    }
    if (back.terms > EC_PATTERN_TERMS_MAX)
        return EC_OK;
    ec_nufft_info info = {.type = 2,
                          .dim = cut ? 1 : 2,
                          .modes = {axes->na, cut ? 1 : axes->nb},
                          .points = config.elements,
                          .double_precision = true,
                          .sign = 1,
                          .tolerance = (back.terms > 1 ? 0.5 : 1.0) * BACK_TOLERANCE,
                          .method = EC_NUFFT_AUTO};
    int status = ec_nufft_create(memory->backend, &info, &plan);
    if (status < 0)
        return status;
    double cost = back.terms * channels * (ec_nufft_cost(plan) + COST_TERM * points);
    if (cost >= direct && config.method != EC_METHOD_NUFFT) {
        ec_nufft_destroy(&plan);
        return EC_OK;
    }
    memory->nufft[memory->n_nufft++] = plan;
    back.plan = ec_nufft_plan_args(plan);
    lay_out_back(args, channels, &back);
    if (back.terms > 1)
        status = upload_factors(memory, &config, axes, w, (size_t)points, true, &back);
    if (status >= 0)
        status = ec_pattern_upload(memory, &back, sizeof back, (const void **)&args->back);
    if (memory->counted) {
        memory->back = back;
        args->back = &memory->back;
    }
    ec_nufft_describe(plan, way, sizeof way);
    size_t used = strlen(text);
    snprintf(text + used, size - used,
             "; adjoint by %s, %d terms: predicted %.3g s (direct: %.3g s)", way, back.terms, cost,
             direct);
    return status;
}

size_t ec_pattern_back_bytes(const ec_pattern_args *args)
{
    return args->back ? args->back->at_work + args->back->plan->workspace_bytes : 0;
}

/* ---- launches ---- */

/* Candidates pass through the staging buffers in batches. */
int ec_pattern_nufft_run(const ec_pattern_memory *memory, const ec_kernel *kernel,
                         ec_pattern_args *args)
{
    const ec_backend_ops *ops = memory->backend->ops;
    ec_pattern_nufft *nufft = &args->nufft;
    size_t tasks = args->n * args->samples, staged = (size_t)nufft->staged;
    int status = EC_OK;

    for (size_t first = 0; first < tasks && status >= 0; first += staged) {
        nufft->first = first;
        nufft->count = tasks - first < staged ? tasks - first : staged;
        if (nufft->transform) {
            status = ec_pattern_transform_run(memory, kernel, args);
            continue;
        }
        nufft->stage = EC_SPREAD_STAGE;
        status = ops->launch(memory->backend, kernel, args, args->n, 1);
        if (status >= 0)
            status = ops->fft_run(memory->backend, memory->fft, nufft->fields, nufft->fields);
        nufft->stage = EC_POWER_STAGE;
        if (status >= 0)
            status = ops->launch(memory->backend, kernel, args, args->n, 1);
    }
    return status;
}
