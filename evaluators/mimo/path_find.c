/* path_find.c: the paths of one transmitter and one receiver along given sequences. */
#include "path_field.h"
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

static int append(ec_path_list *l, const ec_path_course *c, int32_t branch)
{
    size_t steps = (size_t)c->depth;
    int status = list_room(l, 1, EC_PATH_DEPTH_MAX); /* memory also for a path without steps */

    if (status != EC_OK)
        return status;
    memcpy(l->step + l->n_steps, c->step, steps * sizeof *c->step);
    memcpy(l->point + l->n_steps, c->point, steps * sizeof *c->point);
    memcpy(l->direction + l->n_steps, c->direction, steps * sizeof *c->direction);
    ec_path_copy(c->direction[steps], l->arrival[l->n]);
    l->path[l->n++] = (ec_path){.first = l->n_steps,
                                .depth = c->depth,
                                .branch = branch,
                                .length = c->length,
                                .place = c->place,
                                .smooth = c->smooth};
    l->n_steps += steps;
    return EC_OK;
}

int ec_path_find(const ec_path_plan *plan, const ec_path_sequences *sequences, const double tx[3],
                 const double rx[3], ec_path_list *list)
{
    ec_path_course course;
    int status = EC_OK;

    for (size_t i = 0; i < sequences->n && status == EC_OK; i++) {
        const uint32_t *step = sequences->step + sequences->first[i];
        int32_t depth = (int32_t)(sequences->first[i + 1] - sequences->first[i]);
        int sides = ec_path_sides(plan->scene, depth, step);
        bool unresolved = sides == 0;
        for (int32_t branch = sides & 1 ? -1 : 0;
             branch < (sides & 2 ? EC_PATH_BRANCHES_MAX : 0) && status == EC_OK; branch++) {
            int found = ec_path_follow(&plan->view, depth, step, tx, rx, branch, &course);
            unresolved = unresolved || found == EC_PATH_UNRESOLVED;
            if (found == EC_PATH_FOUND && branch >= 0)
                ec_path_see_focus(plan->scene, tx, rx, &course);
            if (found == EC_PATH_FOUND)
                status = append(list, &course, branch);
        }
        list->unresolved += unresolved;
    }
    return status;
}
