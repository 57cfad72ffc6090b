/* path_device.c: scenes and hierarchies on backends. */
#include "path_device.h"

#include "path_internal.h"

#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS_MAX = 16 };

struct ec_path_device {
    ec_path_devices *of;
    ec_path_device *next;
    int32_t users;
    ec_backend *backend;
    ec_bvh_layout *layout;
    ec_path_view view;
    int32_t n_blocks;
    void *block[BLOCKS_MAX]; /* memory of the backend */
};

struct ec_path_devices {
    pthread_mutex_t lock; /* of the list, its copies' users, and while one is made */
    ec_path_device *first;
};

int ec_path_devices_create(ec_path_devices **devices)
{
    ec_path_devices *c = calloc(1, sizeof *c);

    if (!c || pthread_mutex_init(&c->lock, NULL) != 0) {
        free(c);
        return ec_fail(EC_ERR_MEMORY, "no memory for the copies of a scene");
    }
    *devices = c;
    return EC_OK;
}

void ec_path_devices_destroy(ec_path_devices **devices)
{
    if (!*devices)
        return;
    pthread_mutex_destroy(&(*devices)->lock);
    free(*devices);
    *devices = NULL;
}

/* *place becomes a copy of bytes on the backend. */
static int upload(ec_path_device *c, const void *from, size_t bytes, void *place)
{
    void **to = place;

    *to = NULL;
    if (bytes == 0)
        return EC_OK;
    int status = c->backend->ops->alloc(c->backend, bytes, to);
    if (status < 0)
        return status;
    c->block[c->n_blocks++] = *to;
    return c->backend->ops->upload(c->backend, *to, from, bytes);
}

static int upload_scene(ec_path_device *c)
{
    ec_scene *s = &c->view.scene;
    bool curved = s->n_surfaces > 0;
    size_t vertices = (size_t)s->n_vertices, triangles = (size_t)s->n_triangles, edges = 0,
           on_surfaces = 0, groups = 0;

    for (int32_t i = 0; i < s->n_facets; i++)
        edges += (size_t)s->facet[i].n_edges;
    for (int32_t i = 0; i < s->n_surfaces; i++)
        on_surfaces += (size_t)s->surface[i].count;
    groups = s->bound ? (on_surfaces + EC_SCENE_BOUND - 1) / EC_SCENE_BOUND : 0;
    const struct {
        void *place;
        size_t bytes;
    } arrays[] = {
        {&s->vertex, vertices * sizeof *s->vertex},
        {&s->vertex_normal, curved && s->vertex_normal ? vertices * sizeof *s->vertex_normal : 0},
        {&s->vertex_curvature,
         curved && s->vertex_curvature ? vertices * sizeof *s->vertex_curvature : 0},
        {&s->triangle, triangles * sizeof *s->triangle},
        {&s->part, triangles * sizeof *s->part},
        {&s->facet, (size_t)s->n_facets * sizeof *s->facet},
        {&s->facet_edge, edges * sizeof *s->facet_edge},
        {&s->wedge, (size_t)s->n_wedges * sizeof *s->wedge},
        {&s->surface, (size_t)s->n_surfaces * sizeof *s->surface},
        {&s->surface_triangle, on_surfaces * sizeof *s->surface_triangle},
        {&s->bound, groups * sizeof *s->bound},
        {&s->material, (size_t)s->n_materials * sizeof *s->material},
        {&c->view.surface_depth, (size_t)s->n_surfaces * sizeof(double)},
    };
    int status = EC_OK;

    s->facet_triangle = NULL; /* not asked for */
    s->object = NULL;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && status >= 0; i++)
        status = upload(c, *(void **)arrays[i].place, arrays[i].bytes, arrays[i].place);
    return status;
}

static void destroy(ec_path_device *c)
{
    for (int32_t i = 0; i < c->n_blocks; i++)
        c->backend->ops->release(c->backend, c->block[i]);
    ec_bvh_layout_destroy(&c->layout);
    free(c);
}

static int make(const ec_path_plan *plan, ec_backend *backend, ec_path_device **device)
{
    ec_path_device *c = calloc(1, sizeof *c);

    if (!c)
        return ec_fail(EC_ERR_MEMORY, "no memory for the copy of a scene");
    c->of = plan->devices;
    c->backend = backend;
    c->view = plan->view;
    if (backend->host_memory) { /* the plan's own will do */
        *device = c;
        return EC_OK;
    }
    int status = upload_scene(c);
    if (status >= 0 && plan->bvh)
        status = ec_bvh_lay_out(plan->bvh, backend, EC_BVH_AUTO, &c->layout);
    if (status < 0) {
        destroy(c);
        return status;
    }
    c->view.bvh = c->layout ? *ec_bvh_layout_view(c->layout) : (ec_bvh_view){0};
    *device = c;
    return EC_OK;
}

int ec_path_device_get(const ec_path_plan *plan, ec_backend *backend, ec_path_device **device)
{
    ec_path_devices *all = plan->devices;
    int status = EC_OK;

    pthread_mutex_lock(&all->lock);
    ec_path_device *c = all->first;
    while (c && c->backend != backend)
        c = c->next;
    if (!c) {
        status = make(plan, backend, &c);
        if (status >= 0) {
            c->next = all->first;
            all->first = c;
        }
    }
    if (status >= 0) {
        c->users++;
        *device = c;
    }
    pthread_mutex_unlock(&all->lock);
    return status;
}

void ec_path_device_release(ec_path_device **device)
{
    ec_path_device *c = *device;

    if (!c)
        return;
    *device = NULL;
    ec_path_devices *all = c->of;
    pthread_mutex_lock(&all->lock);
    if (--c->users == 0) {
        ec_path_device **link = &all->first;
        while (*link != c)
            link = &(*link)->next;
        *link = c->next;
        destroy(c);
    }
    pthread_mutex_unlock(&all->lock);
}

const ec_path_view *ec_path_device_view(const ec_path_device *device)
{
    return &device->view;
}
