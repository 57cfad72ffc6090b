/* path_find.c: the paths of one transmitter and one receiver along given sequences. */
#include "path_internal.h"

#include <stdlib.h>
#include <string.h>

static int room(void **memory, size_t capacity, size_t bytes)
{
    void *larger = realloc(*memory, capacity * bytes);

    if (!larger)
        return ec_fail(EC_ERR_MEMORY, "no memory for %zu paths or interactions", capacity);
    *memory = larger;
    return EC_OK;
}

static int list_room(ec_path_list *l, size_t paths, size_t steps)
{
    int status = EC_OK;

    if (l->n + paths > l->capacity) {
        size_t more = 2 * l->capacity + 64;
        status = room((void **)&l->path, more, sizeof *l->path);
        if (status == EC_OK)
            status = room((void **)&l->arrival, more, sizeof *l->arrival);
        if (status == EC_OK)
            l->capacity = more;
    }
    if (status == EC_OK && l->n_steps + steps > l->steps_capacity) {
        size_t more = 2 * l->steps_capacity + 64 + steps;
        status = room((void **)&l->step, more, sizeof *l->step);
        if (status == EC_OK)
            status = room((void **)&l->point, more, sizeof *l->point);
        if (status == EC_OK)
            status = room((void **)&l->direction, more, sizeof *l->direction);
        if (status == EC_OK)
            l->steps_capacity = more;
    }
    return status;
}

void ec_path_list_clear(ec_path_list *list)
{
    list->n = list->n_steps = list->unresolved = 0;
}

void ec_path_list_free(ec_path_list *list)
{
    free(list->path);
    free(list->step);
    free(list->point);
    free(list->direction);
    free(list->arrival);
    memset(list, 0, sizeof *list);
}

static void append(ec_path_list *l, uint32_t step, const double point[3], const double direction[3])
{
    l->step[l->n_steps] = step;
    ec_path_copy(point, l->point[l->n_steps]);
    ec_path_copy(direction, l->direction[l->n_steps]);
    l->n_steps++;
}

/* Puts the path into the list if nothing blocks it, with the slabs it passes. */
static int add_clear(const ec_path_plan *plan, int32_t depth, const uint32_t *step,
                     const double tx[3], const double rx[3], int32_t branch, const ec_path_trace *t,
                     ec_path_list *list)
{
    ec_path_slabs slabs = {.limit = plan->options.transmissions};
    size_t first = list->n_steps;
    int status = list_room(list, 1, EC_PATH_DEPTH_MAX);

    for (int32_t i = 0; i < depth; i++)
        if (ec_path_kind(step[i]) == EC_PATH_CURVED &&
            !ec_path_surface_holds(plan, ec_path_index(step[i]), t->point[i]))
            return EC_OK;
    for (int32_t i = 0; i <= depth && status == EC_OK; i++) {
        const double *from = i ? t->point[i - 1] : tx, *to = i < depth ? t->point[i] : rx;
        int32_t skip[4], n_skip = 0;
        if (i > 0)
            n_skip += ec_path_parts_of(plan->scene, step[i - 1], skip);
        if (i < depth)
            n_skip += ec_path_parts_of(plan->scene, step[i], skip + n_skip);
        if (!ec_path_clear(plan, from, to, skip, n_skip, &slabs)) {
            list->n_steps = first;
            return EC_OK;
        }
        slabs.limit -= slabs.n;
        for (int32_t k = 0; k < slabs.n; k++) {
            double p[3];
            ec_path_along(from, slabs.at[k], t->direction[i], p);
            append(list, ec_path_step(EC_PATH_TRANSMISSION, slabs.facet[k]), p, t->direction[i]);
        }
        if (i < depth)
            append(list, step[i], t->point[i], t->direction[i]);
    }
    if (status != EC_OK)
        return status;
    ec_path_copy(t->direction[depth], list->arrival[list->n]);
    list->path[list->n++] = (ec_path){.first = first,
                                      .depth = (int32_t)(list->n_steps - first),
                                      .branch = branch,
                                      .length = t->length,
                                      .place = t->place,
                                      .smooth = t->smooth};
    return EC_OK;
}

/* Which sides of the curved surfaces of a sequence are to be tried: bit 0 the outside of shapes,
 * bit 1 their inside, or the several points of an interpolated surface. */
static int sides_of(const ec_scene *s, int32_t depth, const uint32_t *step)
{
    int sides = 3;
    bool curved = false;

    for (int32_t i = 0; i < depth; i++) {
        if (ec_path_kind(step[i]) != EC_PATH_CURVED)
            continue;
        const ec_surface *c = &s->surface[ec_path_index(step[i])];
        sides &= c->kind == EC_SURFACE_MESH ? 2 : c->thin ? 3 : c->inward ? 2 : 1;
        curved = true;
    }
    return curved ? sides : 1;
}

int ec_path_find(const ec_path_plan *plan, const ec_path_sequences *sequences, const double tx[3],
                 const double rx[3], ec_path_list *list)
{
    ec_path_trace t;
    int status = EC_OK;

    for (size_t i = 0; i < sequences->n && status == EC_OK; i++) {
        const uint32_t *step = sequences->step + sequences->first[i];
        int32_t depth = (int32_t)(sequences->first[i + 1] - sequences->first[i]);
        int sides = sides_of(plan->scene, depth, step);
        bool unresolved = sides == 0;
        for (int32_t branch = sides & 1 ? -1 : 0;
             branch < (sides & 2 ? EC_PATH_BRANCHES_MAX : 0) && status == EC_OK; branch++) {
            int found =
                ec_path_exact(plan->scene, depth, step, tx, rx, branch, plan->tolerance, &t);
            unresolved = unresolved || found == EC_PATH_UNRESOLVED;
            if (found == EC_PATH_FOUND)
                status = add_clear(plan, depth, step, tx, rx, branch, &t, list);
        }
        list->unresolved += unresolved;
    }
    return status;
}
