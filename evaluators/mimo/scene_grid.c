/* Places for antennas on an object's facets. */
#include "scene_internal.h"

static const double LARGEST_TILT = 60; /* deg, of a facet that still faces a direction */
enum { MOST_POINTS = 1000000 };

typedef struct lattice {
    const ec_scene *scene;
    const ec_scene_grid *grid;
    double (*point)[3];
    int32_t n, capacity;
} lattice;

static double distance_to_outline(const ec_scene *s, const ec_facet *f, const double p[3])
{
    double least = INFINITY;
    for (int32_t i = 0; i < f->n_edges; i++) {
        const int32_t *e = s->facet_edge[f->first_edge + i];
        least = fmin(least, ec_segment_distance(p, s->vertex[e[0]], s->vertex[e[1]]));
    }
    return least;
}

/* Whether p, which lies in the facet's plane, is inside its outline: crossings of a ray along u. */
static bool is_inside(const ec_scene *s, const ec_facet *f, const double u[3], const double v[3],
                      const double p[3])
{
    bool inside = false;
    double pu = ec_dot3(p, u), pv = ec_dot3(p, v);
    for (int32_t i = 0; i < f->n_edges; i++) {
        const int32_t *e = s->facet_edge[f->first_edge + i];
        double au = ec_dot3(s->vertex[e[0]], u), av = ec_dot3(s->vertex[e[0]], v);
        double bu = ec_dot3(s->vertex[e[1]], u), bv = ec_dot3(s->vertex[e[1]], v);
        if ((av > pv) != (bv > pv) && pu < au + (pv - av) / (bv - av) * (bu - au))
            inside = !inside;
    }
    return inside;
}

static bool is_kept_out(const ec_scene_grid *g, const double p[3])
{
    for (int32_t b = 0; b < g->n_boxes; b++) {
        bool inside = true;
        for (int i = 0; i < 3; i++) {
            double low = fmin(g->box[b][0][i], g->box[b][1][i]);
            double high = fmax(g->box[b][0][i], g->box[b][1][i]);
            inside = inside && p[i] >= low && p[i] <= high;
        }
        if (inside)
            return true;
    }
    return false;
}

static int add_point(lattice *l, const double p[3])
{
    if (l->n == l->capacity) {
        int32_t room = l->capacity ? 2 * l->capacity : 256;
        double(*larger)[3] = realloc(l->point, (size_t)room * sizeof *larger);
        if (!larger)
            return ec_fail(EC_ERR_MEMORY, "no memory for %d places", (int)room);
        l->point = larger;
        l->capacity = room;
    }
    memcpy(l->point[l->n++], p, sizeof *l->point);
    return EC_OK;
}

/* Which side of the facet places are on: 1 its front, -1 its back, 0 it does not face the wanted
 * direction. */
static int side_of(const ec_scene_grid *g, const ec_facet *f)
{
    double facing[3];
    memcpy(facing, g->facing, sizeof facing);
    if (!ec_normalize3(facing))
        return 1;
    double c = ec_dot3(facing, f->normal), least = cos(LARGEST_TILT * EC_PI / 180);
    return c >= least ? 1 : f->thin && -c >= least ? -1 : 0;
}

static int add_facet(lattice *l, const ec_facet *f)
{
    const ec_scene *s = l->scene;
    const ec_scene_grid *g = l->grid;
    int side = side_of(g, f);
    double u[3], v[3], low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    if (side == 0)
        return EC_OK;
    ec_scene_horizontal(f->normal, u, v);
    for (int32_t i = 0; i < f->n_edges; i++) {
        const double *p = s->vertex[s->facet_edge[f->first_edge + i][0]];
        double at[2] = {ec_dot3(p, u), ec_dot3(p, v)};
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    double count[2], start[2];
    for (int k = 0; k < 2; k++) {
        double room = high[k] - low[k] - 2 * g->inset;
        count[k] = room >= 0 ? floor(room / g->step * (1 + 1e-12)) + 1 : 0;
        start[k] = (low[k] + high[k]) / 2 - (count[k] - 1) / 2 * g->step;
    }
    if (count[0] * count[1] > MOST_POINTS)
        return ec_fail(EC_ERR_ARGUMENT, "a step of %g m gives more than %d places", g->step,
                       MOST_POINTS);
    for (double j = 0; j < count[1]; j++)
        for (double i = 0; i < count[0]; i++) {
            double p[3], pu = start[0] + i * g->step, pv = start[1] + j * g->step;
            for (int k = 0; k < 3; k++)
                p[k] = f->offset * f->normal[k] + pu * u[k] + pv * v[k];
            double off = distance_to_outline(s, f, p);
            bool on_outline = off <= 1e-9 * g->step;
            if ((!on_outline && !is_inside(s, f, u, v, p)) || off < g->inset * (1 - 1e-9))
                continue;
            for (int k = 0; k < 3; k++)
                p[k] += side * g->clearance * f->normal[k];
            int rc = is_kept_out(g, p) ? EC_OK : add_point(l, p);
            if (rc != EC_OK)
                return rc;
        }
    return EC_OK;
}

static int no_object(const ec_scene *s, const char *name)
{
    char names[512] = "";
    for (int32_t i = 0; i < s->n_objects; i++) {
        size_t n = strlen(names);
        bool before = false;
        for (int32_t j = 0; j < i; j++)
            before = before || strcmp(s->object[i], s->object[j]) == 0;
        if (before)
            continue;
        if (n + strlen(s->object[i]) + 8 > sizeof names) {
            strcat(names, ", ...");
            break;
        }
        snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", s->object[i]);
    }
    return ec_fail(EC_ERR_ARGUMENT, "the scene has no object '%s'; it has %s", name, names);
}

int ec_scene_grid_points(const ec_scene *scene, const char *object, const ec_scene_grid *grid,
                         double (**point)[3], int32_t *n)
{
    lattice l = {.scene = scene, .grid = grid};
    bool known = false, flat = false;
    int rc = EC_OK;
    if (!(grid->step > 0 && isfinite(grid->step)))
        return ec_fail(EC_ERR_ARGUMENT, "a step of %g m; it must be above 0", grid->step);
    if (!(grid->clearance >= 0 && grid->inset >= 0))
        return ec_fail(EC_ERR_ARGUMENT,
                       "a clearance of %g m and an inset of %g m; both must be at "
                       "least 0",
                       grid->clearance, grid->inset);
    for (int32_t i = 0; i < scene->n_objects; i++)
        known = known || strcmp(scene->object[i], object) == 0;
    if (!known)
        return no_object(scene, object);
    for (int32_t i = 0; rc == EC_OK && i < scene->n_facets; i++) {
        const ec_facet *f = &scene->facet[i];
        if (strcmp(scene->object[f->object], object) != 0)
            continue;
        flat = true;
        rc = add_facet(&l, f);
        if (rc == EC_OK && l.n > MOST_POINTS)
            rc = ec_fail(EC_ERR_ARGUMENT, "a step of %g m gives more than %d places", grid->step,
                         MOST_POINTS);
    }
    if (rc == EC_OK && !flat)
        rc = ec_fail(EC_ERR_UNSUPPORTED,
                     "object '%s' is curved: it has no flat facet for a grid; give the places",
                     object);
    if (rc != EC_OK) {
        free(l.point);
        return rc;
    }
    *point = l.point;
    *n = l.n;
    return EC_OK;
}
