/* path_plan.c: what of a scene does not depend on antennas: convex bodies around its parts, and
 * which of them can see each other. */
#include "path_internal.h"

#include <stdlib.h>
#include <string.h>

void ec_path_options_default(ec_path_options *options)
{
    *options = (ec_path_options){.depth = 3, .sequences_max = 4000000, .tests_max = 4e9};
}

static int check_options(const ec_path_options *o)
{
    if (o->depth < 0 || o->depth > EC_PATH_DEPTH_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "depth is %d; it is 0 to %d interactions", (int)o->depth,
                       EC_PATH_DEPTH_MAX);
    if (o->diffractions < 0 || o->diffractions > 2)
        return ec_fail(EC_ERR_ARGUMENT, "diffractions is %d; it is 0, 1 or 2",
                       (int)o->diffractions);
    if (o->transmissions < 0 || o->transmissions > EC_PATH_DEPTH_MAX - o->depth)
        return ec_fail(EC_ERR_ARGUMENT,
                       "transmissions is %d; it is 0 to %d, %d less the depth of %d",
                       (int)o->transmissions, EC_PATH_DEPTH_MAX - (int)o->depth, EC_PATH_DEPTH_MAX,
                       (int)o->depth);
    if (o->sequences_max < 1 || o->sequences_max > 100000000)
        return ec_fail(EC_ERR_ARGUMENT, "sequences_max is %zu; it is 1 to 100000000",
                       o->sequences_max);
    if (!(o->tests_max >= 1))
        return ec_fail(EC_ERR_ARGUMENT, "tests_max is %g; it is at least 1", o->tests_max);
    return EC_OK;
}

bool ec_path_is_slab(const ec_path_plan *plan, int32_t facet)
{
    return plan->options.transmissions > 0 &&
           ec_path_facet_is_slab(plan->scene, &plan->scene->facet[facet]);
}

/* ---- elements ---- */

/* z of (b - a) x (c - a) */
static double turn(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static int compare_plane(const void *a, const void *b)
{
    const double *x = a, *y = b;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Convex hull of n points of a plane (Andrew, Inf. Process. Lett. 9, 1979), counter-clockwise, in
 * place; p has room for 2 n + 2. Returns how many. */
static size_t convex_hull(size_t n, double (*p)[2], double slack)
{
    double(*h)[2] = p + n;
    size_t k = 0;

    qsort(p, n, sizeof *p, compare_plane);
    for (size_t i = 0; i < n; i++) {
        while (k >= 2 && turn(h[k - 2], h[k - 1], p[i]) <= slack)
            k--;
        memcpy(h[k++], p[i], sizeof *p);
    }
    size_t lower = k + 1;
    for (size_t i = n - 1; i-- > 0;) {
        while (k >= lower && turn(h[k - 2], h[k - 1], p[i]) <= slack)
            k--;
        memcpy(h[k++], p[i], sizeof *p);
    }
    memmove(p, h, (k - 1) * sizeof *p);
    return k - 1;
}

static double facet_area(const ec_scene *s, const ec_facet *f)
{
    double area = 0;

    for (int32_t i = 0; i < f->count; i++) {
        const int32_t *t = s->triangle[s->facet_triangle[f->first + i]];
        double ab[3], ac[3], c[3];
        ec_path_sub(s->vertex[t[1]], s->vertex[t[0]], ab);
        ec_path_sub(s->vertex[t[2]], s->vertex[t[0]], ac);
        ec_path_cross(ab, ac, c);
        area += 0.5 * ec_path_norm(c);
    }
    return area;
}

static int facet_element(const ec_path_plan *plan, int32_t index, ec_path_element *e)
{
    const ec_scene *s = plan->scene;
    const ec_facet *f = &s->facet[index];
    size_t n = (size_t)f->n_edges, k;
    double u[3], v[3], area = 0;
    double(*p)[2] = malloc((2 * n + 2) * sizeof *p);

    if (!p)
        return ec_fail(EC_ERR_MEMORY, "no memory for the outline of a facet");
    ec_scene_frame(f->normal, u, v);
    for (size_t i = 0; i < n; i++) {
        const double *x = s->vertex[s->facet_edge[f->first_edge + (int32_t)i][0]];
        p[i][0] = ec_path_dot(x, u);
        p[i][1] = ec_path_dot(x, v);
    }
    k = n < 3 ? n : convex_hull(n, p, plan->tolerance * plan->tolerance);
    for (size_t i = 2; i < k; i++)
        area += 0.5 * turn(p[0], p[i - 1], p[i]);
    e->opaque = fabs(area - facet_area(s, f)) <= 1e-9 * area && !ec_path_is_slab(plan, index);
    if (k > EC_PATH_CORNERS_MAX) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (size_t i = 0; i < k; i++)
            for (int d = 0; d < 2; d++) {
                low[d] = fmin(low[d], p[i][d]);
                high[d] = fmax(high[d], p[i][d]);
            }
        for (size_t i = 0; i < 4; i++) {
            p[i][0] = i == 0 || i == 3 ? low[0] : high[0];
            p[i][1] = i < 2 ? low[1] : high[1];
        }
        k = 4;
        e->opaque = false;
    }
    e->n = (int32_t)k;
    for (size_t i = 0; i < k; i++)
        for (int d = 0; d < 3; d++)
            e->corner[i][d] = p[i][0] * u[d] + p[i][1] * v[d] + f->offset * f->normal[d];
    free(p);
    return EC_OK;
}

static void surface_element(const ec_scene *s, int32_t index, ec_path_element *e)
{
    const ec_surface *c = &s->surface[index];
    double low[3], high[3], axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

    for (int d = 0; d < 3; d++) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
    }
    if (c->kind == EC_SURFACE_CYLINDER || c->kind == EC_SURFACE_CONE) {
        ec_path_copy(c->axis, axis[2]);
        ec_scene_frame(c->axis, axis[0], axis[1]);
    }
    if (c->kind == EC_SURFACE_MESH) {
        for (int32_t i = 0; i < 3 * c->count; i++) {
            const double *x = s->vertex[s->triangle[s->surface_triangle[c->first + i / 3]][i % 3]];
            for (int d = 0; d < 3; d++) {
                low[d] = fmin(low[d], x[d]);
                high[d] = fmax(high[d], x[d]);
            }
        }
    } else {
        double r = c->kind == EC_SURFACE_CONE ? c->half_height * tan(c->radius) : c->radius;
        for (int d = 0; d < 3; d++) {
            double half = d == 2 && c->kind != EC_SURFACE_SPHERE ? c->half_height : r;
            double middle = ec_path_dot(c->point, axis[d]);
            low[d] = d == 2 && c->kind == EC_SURFACE_CONE ? middle : middle - half;
            high[d] = middle + half;
        }
    }
    e->n = 8;
    for (int i = 0; i < 8; i++)
        for (int d = 0; d < 3; d++)
            e->corner[i][d] = (i & 1 ? high[0] : low[0]) * axis[0][d] +
                              (i & 2 ? high[1] : low[1]) * axis[1][d] +
                              (i & 4 ? high[2] : low[2]) * axis[2][d];
}

static int make_elements(ec_path_plan *plan)
{
    const ec_scene *s = plan->scene;
    size_t room = (size_t)s->n_facets + (size_t)s->n_surfaces + (size_t)s->n_wedges;
    int status = EC_OK;

    plan->element = calloc(room ? room : 1, sizeof *plan->element);
    if (!plan->element)
        return ec_fail(EC_ERR_MEMORY, "no memory for the %zu parts and wedges of a scene", room);
    for (int32_t i = 0; i < s->n_facets && status == EC_OK; i++) {
        ec_path_element *e = &plan->element[plan->n++];
        e->step = ec_path_step(EC_PATH_REFLECTION, i);
        status = facet_element(plan, i, e);
    }
    for (int32_t i = 0; i < s->n_surfaces; i++) {
        ec_path_element *e = &plan->element[plan->n++];
        e->step = ec_path_step(EC_PATH_CURVED, i);
        surface_element(s, i, e);
    }
    for (int32_t i = 0; i < s->n_wedges && plan->options.diffractions > 0; i++) {
        const ec_wedge *w = &s->wedge[i];
        if (w->n < 1 && !plan->options.inner_wedges)
            continue;
        ec_path_element *e = &plan->element[plan->n++];
        e->step = ec_path_step(EC_PATH_DIFFRACTION, i);
        e->n = 2;
        ec_path_copy(w->from, e->corner[0]);
        ec_path_copy(w->to, e->corner[1]);
    }
    return status;
}

/* ---- who sees whom ---- */

/* Whether something of `of` is where `e` sends waves to. */
static bool faces(const ec_path_plan *plan, const ec_path_element *e, const ec_path_element *of)
{
    const ec_scene *s = plan->scene;
    int32_t index = ec_path_index(e->step);
    bool front0 = false, front1 = false;

    switch (ec_path_kind(e->step)) {
    case EC_PATH_REFLECTION: {
        const ec_facet *f = &s->facet[index];
        for (int32_t i = 0; i < of->n; i++) {
            double h = ec_path_dot(f->normal, of->corner[i]) - f->offset;
            if ((f->thin ? fabs(h) : h) > plan->tolerance)
                return true;
        }
        return false;
    }
    case EC_PATH_DIFFRACTION: {
        const ec_wedge *w = &s->wedge[index];
        double slack = 1e-8 * plan->size;
        for (int32_t i = 0; i < of->n; i++) {
            double d[3];
            ec_path_sub(of->corner[i], w->from, d);
            front0 = front0 || ec_path_dot(d, w->face_normal[0]) > -slack;
            front1 = front1 || ec_path_dot(d, w->face_normal[1]) > -slack;
        }
        if (w->n > 2 - 1e-9)
            return true;
        return w->n < 1 ? front0 && front1 : front0 || front1;
    }
    default:
        return true;
    }
}

static bool inside_hull(const ec_path_element *e, const double normal[3], const double p[3],
                        double margin)
{
    for (int32_t i = 0; i < e->n; i++) {
        const double *a = e->corner[i], *b = e->corner[(i + 1) % e->n];
        double ab[3], ap[3], in[3];
        ec_path_unit(a, b, ab);
        ec_path_sub(p, a, ap);
        ec_path_cross(normal, ab, in);
        if (ec_path_dot(in, ap) <= margin)
            return false;
    }
    return true;
}

static bool is_face(const ec_scene *s, uint32_t step, int32_t facet)
{
    if (ec_path_kind(step) == EC_PATH_REFLECTION)
        return ec_path_index(step) == facet;
    if (ec_path_kind(step) != EC_PATH_DIFFRACTION)
        return false;
    const ec_wedge *w = &s->wedge[ec_path_index(step)];
    return w->facet[0] == facet || w->facet[1] == facet;
}

/* Whether every segment from a to b crosses the convex facet k: then every one between corners
 * does, and crossings of the others are convex combinations of those. */
static bool hides(const ec_path_plan *plan, int32_t k, const ec_path_element *a,
                  const ec_path_element *b)
{
    const ec_path_element *e = &plan->element[k];
    const ec_facet *f = &plan->scene->facet[k];
    double ha[EC_PATH_CORNERS_MAX], hb[EC_PATH_CORNERS_MAX];
    double margin = 1e-8 * plan->size;

    if (!e->opaque || is_face(plan->scene, a->step, k) || is_face(plan->scene, b->step, k))
        return false;
    double side = ec_path_dot(f->normal, a->corner[0]) < f->offset ? -1.0 : 1.0;
    for (int32_t i = 0; i < a->n; i++) {
        ha[i] = side * (ec_path_dot(f->normal, a->corner[i]) - f->offset);
        if (ha[i] <= margin)
            return false;
    }
    for (int32_t i = 0; i < b->n; i++) {
        hb[i] = side * (f->offset - ec_path_dot(f->normal, b->corner[i]));
        if (hb[i] <= margin)
            return false;
    }
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t j = 0; j < b->n; j++) {
            double p[3], share = ha[i] / (ha[i] + hb[j]);
            for (int d = 0; d < 3; d++)
                p[d] = a->corner[i][d] + share * (b->corner[j][d] - a->corner[i][d]);
            if (!inside_hull(e, f->normal, p, margin))
                return false;
        }
    return true;
}

bool ec_path_sees(const ec_path_plan *plan, int32_t from, int32_t to)
{
    const ec_path_element *a = &plan->element[from], *b = &plan->element[to];

    if (from == to) {
        if (ec_path_kind(a->step) != EC_PATH_CURVED)
            return false;
        const ec_surface *s = &plan->scene->surface[ec_path_index(a->step)];
        return s->inward || s->thin || s->kind == EC_SURFACE_MESH;
    }
    if (!faces(plan, a, b) || !faces(plan, b, a))
        return false;
    /* what one facet hides takes time in proportion to the cube of the number of parts */
    for (int32_t k = 0; plan->n <= EC_PATH_HIDING_MAX && k < plan->scene->n_facets; k++)
        if (hides(plan, k, a, b))
            return false;
    return true;
}

/* ---- curved pieces ---- */

/* Whether the triangles of an exact shape cover all of it: their area in angle and height, or their
 * solid angle, is that of the shape whatever the tessellation. */
static bool is_whole(const ec_scene *s, const ec_surface *c)
{
    double sum = 0, u[3] = {0, 0, 0}, v[3] = {0, 0, 0};

    if (c->kind != EC_SURFACE_SPHERE)
        ec_scene_frame(c->axis, u, v);
    for (int32_t i = 0; i < c->count; i++) {
        const int32_t *t = s->triangle[s->surface_triangle[c->first + i]];
        double d[3][3], x[3], angle[3], z[3];
        for (int k = 0; k < 3; k++)
            ec_path_sub(s->vertex[t[k]], c->point, d[k]);
        if (c->kind == EC_SURFACE_SPHERE) { /* Van Oosterom and Strackee, 1983 */
            double l[3] = {ec_path_norm(d[0]), ec_path_norm(d[1]), ec_path_norm(d[2])};
            ec_path_cross(d[1], d[2], x);
            double below = l[0] * l[1] * l[2] + ec_path_dot(d[0], d[1]) * l[2] +
                           ec_path_dot(d[1], d[2]) * l[0] + ec_path_dot(d[2], d[0]) * l[1];
            sum += fabs(2 * atan2(ec_path_dot(d[0], x), below));
            continue;
        }
        int apex = -1;
        for (int k = 0; k < 3; k++) {
            z[k] = ec_path_dot(d[k], c->axis);
            angle[k] = atan2(ec_path_dot(d[k], v), ec_path_dot(d[k], u));
            if (c->kind == EC_SURFACE_CONE && fabs(z[k]) < 1e-9 * c->half_height)
                apex = k;
        }
        if (apex >= 0) {
            int a = (apex + 1) % 3, b = (apex + 2) % 3;
            sum += fabs(remainder(angle[b] - angle[a], 2 * EC_PI)) * 0.5 * (z[a] + z[b]);
        } else {
            double ab = remainder(angle[1] - angle[0], 2 * EC_PI);
            double ac = remainder(angle[2] - angle[0], 2 * EC_PI);
            sum += 0.5 * fabs(ab * (z[2] - z[0]) - ac * (z[1] - z[0]));
        }
    }
    double whole = c->kind == EC_SURFACE_SPHERE     ? 4 * EC_PI
                   : c->kind == EC_SURFACE_CYLINDER ? 4 * EC_PI * c->half_height
                                                    : 2 * EC_PI * c->half_height;
    return sum > whole * (1 - 1e-6);
}

static double deepest(const ec_scene *s, const ec_surface *c)
{
    double depth = 0;

    for (int32_t i = 0; i < c->count; i++) {
        const int32_t *t = s->triangle[s->surface_triangle[c->first + i]];
        for (int k = 0; k < 3; k++)
            depth = fmax(depth, ec_path_distance(s->vertex[t[k]], s->vertex[t[(k + 1) % 3]]));
    }
    /* a chord of length l sinks by l^2 / 8 a; a cone's radius shrinks to 0 */
    return c->kind == EC_SURFACE_CONE ? depth : fmin(depth, depth * depth / (2 * c->radius));
}

static void bound_group(const ec_scene *s, const int32_t *triangle, int32_t n, ec_scene_bound *g)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double zero[3] = {0, 0, 0}, sum[3] = {0, 0, 0};

    for (int32_t i = 0; i < 3 * n; i++) {
        int32_t vertex = s->triangle[triangle[i / 3]][i % 3];
        for (int d = 0; d < 3; d++) {
            low[d] = fmin(low[d], s->vertex[vertex][d]);
            high[d] = fmax(high[d], s->vertex[vertex][d]);
            sum[d] += s->vertex_normal[vertex][d];
        }
    }
    for (int d = 0; d < 3; d++)
        g->centre[d] = 0.5 * (low[d] + high[d]);
    g->radius = g->spread = 0;
    bool any = ec_path_unit(zero, sum, g->axis) > 0;
    for (int32_t i = 0; i < n; i++) {
        ec_path_patch f;
        double bend = 0;
        ec_path_patch_make(s, triangle[i], &f);
        for (int k = 0; k < 3; k++)
            bend = fmax(bend, ec_path_norm(f.bend[k]));
        for (int k = 0; k < 3; k++) {
            /* points count to a hundredth outside of a triangle */
            double far = ec_path_distance(g->centre, f.corner[k]) + 0.5 * bend + 0.03 * f.size;
            g->radius = fmax(g->radius, far);
            g->spread = fmax(g->spread, 1.1 * ec_path_distance(g->axis, f.normal[k]) + 1e-6);
        }
    }
    /* a wide cone's middle is not where all of it is near to */
    if (!any || g->spread > 0.5)
        g->spread = 2;
}

/* Groups of the triangles of surfaces; nothing where every surface is an exact shape. */
static int make_bounds(ec_path_plan *plan)
{
    const ec_scene *s = plan->scene;
    int32_t n = 0;
    bool any = false;

    for (int32_t i = 0; i < s->n_surfaces; i++) {
        n += s->surface[i].count;
        any = any || s->surface[i].kind == EC_SURFACE_MESH;
    }
    if (!any)
        return EC_OK;
    int32_t groups = (n + EC_SCENE_BOUND - 1) / EC_SCENE_BOUND;
    plan->bound = malloc((size_t)groups * sizeof *plan->bound);
    if (!plan->bound)
        return ec_fail(EC_ERR_MEMORY, "no memory for %d groups of triangles", (int)groups);
#pragma omp parallel for schedule(static)
    for (int32_t g = 0; g < groups; g++) {
        int32_t first = g * EC_SCENE_BOUND, count = n - first;
        bound_group(s, s->surface_triangle + first, count < EC_SCENE_BOUND ? count : EC_SCENE_BOUND,
                    &plan->bound[g]);
    }
    return EC_OK;
}

static int make_hierarchy(ec_path_plan *plan)
{
    const ec_scene *s = plan->scene;
    ec_bvh_info info = {.n_vertices = s->n_vertices,
                        .vertex = (const double(*)[3])s->vertex,
                        .n_triangles = s->n_triangles,
                        .triangle = (const int32_t(*)[3])s->triangle,
                        .part = s->part};
    int status = ec_backend_create(&(ec_backend_info){.name = "cpu"}, &plan->backend);

    if (status == EC_OK)
        status = ec_bvh_build(&info, &plan->bvh);
    if (status == EC_OK)
        status = ec_bvh_lay_out(plan->bvh, plan->backend, EC_BVH_AUTO, &plan->layout);
    return status;
}

double ec_path_scene_size(const ec_scene *scene)
{
    double size = ec_path_distance(scene->low, scene->high);

    for (int d = 0; d < 3; d++)
        size = fmax(size, fmax(fabs(scene->low[d]), fabs(scene->high[d])));
    return scene->n_triangles ? size : 1;
}

int ec_path_plan_create(const ec_scene *scene, const ec_path_options *options, ec_path_plan **plan)
{
    int status = check_options(options);
    if (status != EC_OK)
        return status;
    ec_path_plan *p = calloc(1, sizeof *p);
    if (!p)
        return ec_fail(EC_ERR_MEMORY, "no memory for a plan of paths");
    p->scene = scene;
    p->options = *options;
    p->size = ec_path_scene_size(scene);
    p->tolerance = EC_PATH_TOLERANCE * p->size;
    status = make_elements(p);
    if (status == EC_OK)
        status = ec_path_devices_create(&p->devices);
    p->surface_depth = calloc(scene->n_surfaces ? (size_t)scene->n_surfaces : 1, sizeof(double));
    if (status == EC_OK && !p->surface_depth)
        status = ec_fail(EC_ERR_MEMORY, "no memory for the surfaces of a scene");
    for (int32_t i = 0; i < scene->n_surfaces && status == EC_OK; i++) {
        const ec_surface *c = &scene->surface[i];
        if (c->kind != EC_SURFACE_MESH && !is_whole(scene, c))
            p->surface_depth[i] = deepest(scene, c) + 10 * p->tolerance;
    }
    if (status == EC_OK && !options->plain_occlusion) {
        status = make_bounds(p);
        if (status == EC_OK)
            status = make_hierarchy(p);
    }
    size_t n = (size_t)p->n;
    if (status == EC_OK && n > 0 && n <= EC_PATH_ELEMENTS_MAX) {
        p->sees = malloc(n * n);
        if (!p->sees)
            status = ec_fail(EC_ERR_MEMORY, "no memory for which of %zu parts see each other", n);
    }
    if (p->sees) {
        int32_t count = p->n;
#pragma omp parallel for schedule(dynamic, 8)
        for (int32_t i = 0; i < count; i++)
            for (int32_t j = 0; j <= i; j++) {
                bool sees = ec_path_sees(p, i, j);
                p->sees[(size_t)i * n + (size_t)j] = sees;
                p->sees[(size_t)j * n + (size_t)i] = sees;
            }
    }
    if (status != EC_OK) {
        ec_path_plan_destroy(&p);
        return status;
    }
    p->view.scene = *scene;
    p->view.scene.bound = p->bound;
    if (p->layout)
        p->view.bvh = *ec_bvh_layout_view(p->layout);
    p->view.surface_depth = p->surface_depth;
    p->view.tolerance = p->tolerance;
    p->view.transmissions = options->transmissions;
    *plan = p;
    return EC_OK;
}

void ec_path_plan_destroy(ec_path_plan **plan)
{
    if (!plan || !*plan)
        return;
    ec_bvh_layout_destroy(&(*plan)->layout);
    ec_bvh_destroy(&(*plan)->bvh);
    ec_backend_destroy(&(*plan)->backend);
    free((*plan)->element);
    free((*plan)->sees);
    free((*plan)->surface_depth);
    ec_path_devices_destroy(&(*plan)->devices);
    free((*plan)->bound);
    free(*plan);
    *plan = NULL;
}
