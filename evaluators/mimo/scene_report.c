/* What a scene is made of, in words. */
#include "scene_internal.h"

#include <stdarg.h>

static const char *const surface_names[] = {"cylinders", "spheres", "cones", "curved meshes"};

typedef struct writer {
    char *text;
    size_t size, length; /* length as it would be without a limit */
} writer;

static void add(writer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(writer *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    bool room = to->length < to->size;
    int n = vsnprintf(room ? to->text + to->length : NULL, room ? to->size - to->length : 0, format,
                      list);
    va_end(list);
    to->length += n > 0 ? (size_t)n : 0;
}

static void add_count(writer *to, int64_t count, const char *what)
{
    if (count > 0)
        add(to, ", %lld %s", (long long)count, what);
}

static void add_wedges(writer *to, const ec_scene *s)
{
    int64_t edges = 0, corners = 0, free_edges = 0;
    for (int32_t i = 0; i < s->n_wedges; i++) {
        free_edges += s->wedge[i].n > 2 - 1e-9;
        corners += s->wedge[i].n < 1;
        edges += s->wedge[i].n > 1 && s->wedge[i].n <= 2 - 1e-9;
    }
    add(to, "  wedges: %lld outer edges, %lld free edges, %lld inner corners\n", (long long)edges,
        (long long)free_edges, (long long)corners);
}

static void add_surfaces(writer *to, const ec_scene *s)
{
    if (s->n_surfaces == 0)
        return;
    add(to, "  curved surfaces:");
    const char *start = " ";
    for (int kind = EC_SURFACE_CYLINDER; kind <= EC_SURFACE_MESH; kind++) {
        int64_t count = 0;
        for (int32_t i = 0; i < s->n_surfaces; i++)
            count += s->surface[i].kind == kind;
        if (count > 0) {
            add(to, "%s%lld %s", start, (long long)count, surface_names[kind]);
            start = ", ";
        }
    }
    add(to, "\n");
}

static void add_materials(writer *to, const ec_scene *s)
{
    for (int32_t m = 0; m < s->n_materials; m++) {
        int64_t count = 0;
        for (int32_t f = 0; f < s->n_facets; f++)
            count += s->facet[f].material == m ? s->facet[f].count : 0;
        for (int32_t f = 0; f < s->n_surfaces; f++)
            count += s->surface[f].material == m ? s->surface[f].count : 0;
        const ec_material *material = &s->material[m];
        add(to, "  material %s: %lld triangles, ", material->name, (long long)count);
        if (material->kind == EC_MATERIAL_PEC)
            add(to, "perfect conductor");
        else if (material->kind == EC_MATERIAL_ITU)
            add(to, "ITU-R P.2040 %s", ec_material_itu_name(material->itu));
        else
            add(to, "eps_r %g, %g S/m, loss tangent %g", material->eps_r, material->conductivity,
                material->loss_tangent);
        if (material->thickness > 0)
            add(to, ", slab of %g m", material->thickness);
        add(to, "\n");
    }
}

static bool is_called(const ec_scene *s, int32_t object, int32_t like)
{
    return object == like || strcmp(s->object[object], s->object[like]) == 0;
}

/* Objects of a name as one, the first of them. */
static void add_objects(writer *to, const ec_scene *s)
{
    enum { MOST = 24 };
    int32_t said = 0, names = 0;
    for (int32_t i = 0; i < s->n_objects; i++) {
        bool before = false;
        for (int32_t j = 0; j < i && !before; j++)
            before = is_called(s, i, j);
        names += !before;
        if (before || said == MOST)
            continue;
        int64_t count = 0;
        for (int32_t f = 0; f < s->n_facets; f++)
            count += is_called(s, s->facet[f].object, i) ? s->facet[f].count : 0;
        for (int32_t f = 0; f < s->n_surfaces; f++)
            count += is_called(s, s->surface[f].object, i) ? s->surface[f].count : 0;
        add(to, "  object %s: %lld triangles\n", s->object[i], (long long)count);
        said++;
    }
    if (names > said)
        add(to, "  and %d objects more\n", (int)(names - said));
}

size_t ec_scene_report_text(const ec_scene *s, char *text, size_t size)
{
    const ec_scene_report *r = &s->report;
    writer to = {text, size, 0};
    add(&to,
        "scene of %d triangles in %d objects: %d facets, %d wedges, %d curved surfaces; from (%g, "
        "%g, "
        "%g) to (%g, %g, %g) m\n",
        (int)s->n_triangles, (int)s->n_objects, (int)s->n_facets, (int)s->n_wedges,
        (int)s->n_surfaces, s->low[0], s->low[1], s->low[2], s->high[0], s->high[1], s->high[2]);
    add(&to, "  read: %lld triangles, %lld vertices", (long long)r->triangles_read,
        (long long)r->vertices_read);
    add_count(&to, r->welded, "vertices welded");
    add_count(&to, r->degenerate, "triangles without an area dropped");
    add_count(&to, r->duplicate, "double triangles dropped");
    add_count(&to, r->split, "triangles cut at vertices on their edges");
    add_count(&to, r->flipped, "triangles turned round");
    add(&to, " (tolerance %.3g m)\n", r->weld_tolerance);
    add(&to, "  %lld solids, %lld rooms, %lld sheets", (long long)r->solids, (long long)r->rooms,
        (long long)r->sheets);
    add_count(&to, r->non_manifold, "edges of more than two triangles");
    add(&to, "\n");
    add_wedges(&to, s);
    add_surfaces(&to, s);
    if (r->curved_edges + r->curved_outlines + r->resting > 0)
        add(&to,
            "  without diffraction: %lld rims of curved surfaces, %lld curved outlines, %lld edges "
            "that lie on other facets\n",
            (long long)r->curved_edges, (long long)r->curved_outlines, (long long)r->resting);
    add_materials(&to, s);
    add_objects(&to, s);
    return to.length;
}

void ec_scene_report_warn(const ec_scene *s, ec_log *log)
{
    const ec_scene_report *r = &s->report;
    if (r->non_manifold > 0)
        ec_log_write(log, EC_LOG_WARNING,
                     "the scene has %lld edges of more than two triangles: walls that meet, or "
                     "faces that are there twice",
                     (long long)r->non_manifold);
    if (r->flipped > 0)
        ec_log_write(log, EC_LOG_WARNING,
                     "the scene had %lld triangles that faced the other way than their neighbours; "
                     "they were turned round",
                     (long long)r->flipped);
    if (r->split > 0)
        ec_log_write(log, EC_LOG_WARNING,
                     "the scene had %lld triangles with vertices of others on their edges; they "
                     "were cut there",
                     (long long)r->split);
    if (r->degenerate + r->duplicate > 0)
        ec_log_write(log, EC_LOG_WARNING,
                     "the scene had %lld triangles without an area and %lld double ones; they were "
                     "dropped",
                     (long long)r->degenerate, (long long)r->duplicate);
}
