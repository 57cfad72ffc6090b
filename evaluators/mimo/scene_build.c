#include "scene_internal.h"

/* ---- builder --------------------------------------------------------------------------------- */

int ec_scene_builder_create(ec_scene_builder **builder)
{
    *builder = calloc(1, sizeof **builder);
    return *builder ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for a scene");
}

void ec_scene_builder_destroy(ec_scene_builder **builder)
{
    ec_scene_builder *b = *builder;
    if (!b)
        return;
    free(b->vertex);
    free(b->triangle);
    free(b->patch_of);
    free(b->patch);
    free(b->shape);
    free(b->material);
    for (int32_t i = 0; i < b->n_objects; i++)
        free(b->object[i]);
    free(b->object);
    free(b);
    *builder = NULL;
}

/* Room for `more` beyond n; memory may stay where it was. */
static int reserve(void **memory, int64_t *capacity, int64_t n, int64_t more, size_t size,
                   const char *what)
{
    if (n + more <= *capacity)
        return EC_OK;
    int64_t room = n + more > 2 * *capacity ? n + more : 2 * *capacity;
    void *larger = realloc(*memory, (size_t)room * size);
    if (!larger)
        return ec_scene_no_memory(what, room);
    *memory = larger;
    *capacity = room;
    return EC_OK;
}

static int reserve_small(void **memory, int32_t *capacity, int32_t n, size_t size, const char *what)
{
    int64_t room = *capacity;
    int rc = reserve(memory, &room, n, 1, size, what);
    *capacity = (int32_t)room;
    return rc;
}

int ec_scene_builder_material(ec_scene_builder *b, const ec_material *material, int32_t *index)
{
    for (int32_t i = 0; i < b->n_materials; i++) {
        const ec_material *m = &b->material[i];
        if (strcmp(m->name, material->name) == 0 && m->kind == material->kind &&
            m->itu == material->itu && m->eps_r == material->eps_r &&
            m->conductivity == material->conductivity &&
            m->loss_tangent == material->loss_tangent && m->thickness == material->thickness) {
            *index = i;
            return EC_OK;
        }
    }
    int rc = reserve_small((void **)&b->material, &b->material_capacity, b->n_materials,
                           sizeof *b->material, "materials");
    if (rc != EC_OK)
        return rc;
    *index = b->n_materials;
    b->material[b->n_materials++] = *material;
    return EC_OK;
}

/* A new object and a first patch of it, with room for its mesh. */
static int begin_object(ec_scene_builder *b, const char *name, int32_t n_vertices,
                        int32_t n_triangles)
{
    if (b->n_triangles + n_triangles > INT32_MAX / 3 || b->n_vertices + n_vertices > INT32_MAX / 2)
        return ec_fail(EC_ERR_UNSUPPORTED, "the scene has %lld triangles, at most %d are possible",
                       (long long)(b->n_triangles + n_triangles), INT32_MAX / 3);
    int64_t patch_room = b->triangle_capacity;
    int rc = reserve((void **)&b->vertex, &b->vertex_capacity, b->n_vertices, n_vertices,
                     sizeof *b->vertex, "vertices");
    if (rc == EC_OK)
        rc = reserve((void **)&b->patch_of, &patch_room, b->n_triangles, n_triangles,
                     sizeof *b->patch_of, "triangles");
    if (rc == EC_OK)
        rc = reserve((void **)&b->triangle, &b->triangle_capacity, b->n_triangles, n_triangles,
                     sizeof *b->triangle, "triangles");
    if (rc == EC_OK)
        rc = reserve_small((void **)&b->object, &b->object_capacity, b->n_objects,
                           sizeof *b->object, "objects");
    if (rc == EC_OK)
        rc = reserve_small((void **)&b->patch, &b->patch_capacity, b->n_patches, sizeof *b->patch,
                           "objects");
    char *copy = rc == EC_OK ? malloc(strlen(name) + 1) : NULL;
    if (rc == EC_OK && !copy)
        rc = ec_scene_no_memory("objects", b->n_objects);
    if (rc == EC_OK)
        b->object[b->n_objects++] = strcpy(copy, name);
    return rc;
}

int ec_scene_builder_mesh(ec_scene_builder *b, const char *name, int32_t material,
                          const ec_mesh *mesh)
{
    if (material < 0 || material >= b->n_materials)
        return ec_fail(EC_ERR_ARGUMENT, "object '%s': no material %d", name, (int)material);
    for (int32_t t = 0; t < mesh->n_triangles; t++)
        for (int k = 0; k < 3; k++)
            if (mesh->triangle[t][k] < 0 || mesh->triangle[t][k] >= mesh->n_vertices)
                return ec_fail(EC_ERR_ARGUMENT, "object '%s': triangle %d has vertex %d of %d",
                               name, (int)t, (int)mesh->triangle[t][k], (int)mesh->n_vertices);
    int rc = begin_object(b, name, mesh->n_vertices, mesh->n_triangles);
    if (rc != EC_OK)
        return rc;
    int32_t first = (int32_t)b->n_vertices;
    memcpy(b->vertex + first, mesh->vertex, (size_t)mesh->n_vertices * sizeof *b->vertex);
    for (int32_t t = 0; t < mesh->n_triangles; t++) {
        for (int k = 0; k < 3; k++)
            b->triangle[b->n_triangles + t][k] = first + mesh->triangle[t][k];
        b->patch_of[b->n_triangles + t] = b->n_patches;
    }
    b->patch[b->n_patches++] = (ec_scene_patch){b->n_objects - 1, material, -1, false};
    b->n_vertices += mesh->n_vertices;
    b->n_triangles += mesh->n_triangles;
    return EC_OK;
}

int ec_scene_builder_tagged(ec_scene_builder *b, const char *name, int32_t material,
                            const ec_mesh *mesh, const int32_t *tag, const ec_surface *shape,
                            bool half_space)
{
    int32_t first = (int32_t)b->n_triangles;
    int rc = EC_OK;
    if (shape) { /* both, before anything changes */
        rc = reserve_small((void **)&b->shape, &b->shape_capacity, b->n_shapes, sizeof *b->shape,
                           "shapes");
        int32_t one_more = b->n_patches + 1;
        if (rc == EC_OK)
            rc = reserve_small((void **)&b->patch, &b->patch_capacity, one_more, sizeof *b->patch,
                               "objects");
    }
    if (rc == EC_OK)
        rc = ec_scene_builder_mesh(b, name, material, mesh);
    if (rc != EC_OK)
        return rc;
    ec_scene_patch *flat = &b->patch[b->n_patches - 1];
    flat->half_space = half_space;
    if (!shape)
        return EC_OK;
    for (int32_t t = 0; t < mesh->n_triangles; t++)
        if (tag[t])
            b->patch_of[first + t] = b->n_patches;
    b->shape[b->n_shapes++] = *shape;
    b->patch[b->n_patches] = *flat;
    b->patch[b->n_patches++].shape = b->n_shapes - 1;
    return EC_OK;
}

int64_t ec_scene_builder_triangles(const ec_scene_builder *builder)
{
    return builder->n_triangles;
}

/* ---- the steps ------------------------------------------------------------------------------- */

void ec_scene_options_default(ec_scene_options *options)
{
    *options = (ec_scene_options){.weld_tolerance = 0, .crease_deg = 30, .exact = true};
}

void ec_scene_cross(const ec_scene_work *w, int32_t triangle, double normal[3])
{
    const int32_t *t = w->triangle[triangle];
    double a[3], b[3];
    ec_sub3(w->vertex[t[1]], w->vertex[t[0]], a);
    ec_sub3(w->vertex[t[2]], w->vertex[t[0]], b);
    ec_cross3(a, b, normal);
}

static void bounds(const double (*vertex)[3], int64_t n, double low[3], double high[3])
{
    for (int i = 0; i < 3; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
    }
    for (int64_t v = 0; v < n; v++)
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], vertex[v][i]);
            high[i] = fmax(high[i], vertex[v][i]);
        }
}

/* Only vertices that a triangle uses say how large the scene is. */
static void used_bounds(const ec_scene_builder *b, double low[3], double high[3])
{
    for (int i = 0; i < 3; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
    }
    for (int64_t t = 0; t < b->n_triangles; t++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) {
                double x = b->vertex[b->triangle[t][k]][i];
                low[i] = fmin(low[i], x);
                high[i] = fmax(high[i], x);
            }
}

static int begin(ec_scene_work *w)
{
    const ec_scene_options *o = &w->options;
    if (!(o->weld_tolerance >= 0 && isfinite(o->weld_tolerance)))
        return ec_fail(EC_ERR_ARGUMENT, "a weld tolerance of %g m; it must be at least 0",
                       o->weld_tolerance);
    if (!(o->crease_deg >= 0 && o->crease_deg <= 90))
        return ec_fail(EC_ERR_ARGUMENT, "a crease of %g degrees; it must be from 0 to 90",
                       o->crease_deg);
    if (w->in->n_triangles == 0)
        return ec_fail(EC_ERR_ARGUMENT, "the scene has no triangle");
    double low[3], high[3], diagonal[3], largest = 0;
    used_bounds(w->in, low, high);
    ec_sub3(high, low, diagonal);
    for (int i = 0; i < 3; i++)
        largest = fmax(largest, fmax(fabs(low[i]), fabs(high[i])));
    w->rounding = largest * 0x1p-24;
    w->tolerance = o->weld_tolerance > 0 ? o->weld_tolerance : 1e-6 * ec_length3(diagonal);
    /* not below what positions resolve */
    w->tolerance = fmax(w->tolerance, 0x1p-44 * largest);
    if (!(w->tolerance > 0 && isfinite(w->tolerance)))
        return ec_fail(EC_ERR_ARGUMENT, "the scene has no triangle with an area: it is a point, or "
                                        "its coordinates are too large");
    w->report.weld_tolerance = w->tolerance;
    w->report.triangles_read = w->in->n_triangles;
    w->report.vertices_read = w->in->n_vertices;
    return EC_OK;
}

/* The pieces that the scene keeps go over to it. */
static int hand_over(ec_scene_work *w, ec_scene **scene)
{
    const ec_scene_builder *b = w->in;
    ec_scene *s = calloc(1, sizeof *s);
    if (!s)
        return ec_fail(EC_ERR_MEMORY, "no memory for a scene");
    s->material = malloc((size_t)b->n_materials * sizeof *s->material);
    s->object = calloc((size_t)b->n_objects + 1, sizeof *s->object);
    bool whole = s->material && s->object;
    for (int32_t i = 0; whole && i < b->n_objects; i++) {
        s->object[i] = malloc(strlen(b->object[i]) + 1);
        whole = s->object[i] != NULL;
        s->n_objects += whole;
        if (whole)
            strcpy(s->object[i], b->object[i]);
    }
    if (!whole) {
        ec_scene_destroy(&s);
        return ec_fail(EC_ERR_MEMORY, "no memory for a scene");
    }
    memcpy(s->material, b->material, (size_t)b->n_materials * sizeof *s->material);
    s->n_materials = b->n_materials;
    s->n_vertices = w->n_vertices;
    s->n_triangles = w->n_triangles;
    s->n_facets = w->n_facets;
    s->n_wedges = w->n_wedges;
    s->n_surfaces = w->n_surfaces;
    s->report = w->report;
    bounds((const double(*)[3])w->vertex, w->n_vertices, s->low, s->high);
#define TAKE(to, from)                                                                             \
    (s->to = w->from);                                                                             \
    w->from = NULL
    TAKE(vertex, vertex);
    TAKE(vertex_normal, normal);
    TAKE(vertex_curvature, curvature);
    TAKE(triangle, triangle);
    TAKE(part, part);
    TAKE(facet, facet);
    TAKE(facet_triangle, facet_triangle);
    TAKE(facet_edge, facet_edge);
    TAKE(wedge, wedge);
    TAKE(surface, surface);
    TAKE(surface_triangle, surface_triangle);
#undef TAKE
    *scene = s;
    return EC_OK;
}

static void end(ec_scene_work *w)
{
    free(w->vertex);
    free(w->triangle);
    free(w->patch);
    free(w->edge);
    free(w->first);
    free(w->use);
    free(w->edge_of);
    free(w->mate);
    free(w->open);
    free(w->part);
    free(w->facet);
    free(w->surface);
    free(w->facet_triangle);
    free(w->surface_triangle);
    free(w->facet_edge);
    free(w->wedge);
    free(w->normal);
    free(w->curvature);
}

int ec_scene_build(const ec_scene_builder *builder, const ec_scene_options *options,
                   ec_scene **scene)
{
    static int (*const steps[])(ec_scene_work *) = {
        begin,          ec_scene_weld,     ec_scene_stitch, ec_scene_orient,
        ec_scene_parts, ec_scene_outlines, ec_scene_wedges, ec_scene_surfaces};
    ec_scene_work w = {.in = builder, .options = *options};
    int rc = EC_OK;
    for (size_t i = 0; rc == EC_OK && i < sizeof steps / sizeof *steps; i++)
        rc = steps[i](&w);
    if (rc == EC_OK)
        rc = hand_over(&w, scene);
    end(&w);
    return rc;
}

void ec_scene_destroy(ec_scene **scene)
{
    ec_scene *s = *scene;
    if (!s)
        return;
    for (int32_t i = 0; i < s->n_objects; i++)
        free(s->object[i]);
    free(s->object);
    free(s->material);
    free(s->vertex);
    free(s->vertex_normal);
    free(s->vertex_curvature);
    free(s->triangle);
    free(s->part);
    free(s->facet);
    free(s->facet_triangle);
    free(s->facet_edge);
    free(s->wedge);
    free(s->surface);
    free(s->surface_triangle);
    free(s);
    *scene = NULL;
}
