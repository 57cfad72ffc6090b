/* A k-d tree without pointers: the middle of a range is its node, the axes take turns. */
#include "scene_internal.h"

static double coordinate(const ec_scene_points *p, int32_t i, int axis)
{
    return p->position[p->index[i]][axis];
}

static void swap(int32_t *index, int32_t i, int32_t j)
{
    int32_t t = index[i];
    index[i] = index[j];
    index[j] = t;
}

/* Puts the k-th of [low, high] along axis in its place, smaller ones before it (Hoare's select). */
static void split(ec_scene_points *p, int32_t low, int32_t high, int32_t k, int axis)
{
    while (low < high) {
        double pivot = coordinate(p, low + (high - low) / 2, axis);
        int32_t i = low, j = high;
        while (i <= j) {
            while (coordinate(p, i, axis) < pivot)
                i++;
            while (coordinate(p, j, axis) > pivot)
                j--;
            if (i <= j)
                swap(p->index, i++, j--);
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}

/* Depth is the logarithm of n. */
static void build(ec_scene_points *p, int32_t low, int32_t high, int axis)
{
    if (high <= low)
        return;
    int32_t middle = low + (high - low) / 2;
    split(p, low, high, middle, axis);
    build(p, low, middle - 1, (axis + 1) % 3);
    build(p, middle + 1, high, (axis + 1) % 3);
}

void ec_scene_points_build(ec_scene_points *points, const double (*position)[3], int32_t *index,
                           int32_t n)
{
    *points = (ec_scene_points){n, index, position};
    build(points, 0, n - 1, 0);
}

void ec_scene_points_free(ec_scene_points *points)
{
    free(points->index);
    *points = (ec_scene_points){0};
}

typedef struct query {
    const ec_scene_points *points;
    const double *low, *high;
    void (*found)(void *user, int32_t index);
    void *user;
} query;

static void look(const query *q, int32_t low, int32_t high, int axis)
{
    while (low <= high) {
        int32_t middle = low + (high - low) / 2;
        const double *at = q->points->position[q->points->index[middle]];
        bool inside = true;
        for (int i = 0; i < 3; i++)
            inside = inside && at[i] >= q->low[i] && at[i] <= q->high[i];
        if (inside)
            q->found(q->user, q->points->index[middle]);
        bool left = q->low[axis] <= at[axis], right = q->high[axis] >= at[axis];
        axis = (axis + 1) % 3;
        if (left && right)
            look(q, low, middle - 1, axis);
        if (right)
            low = middle + 1;
        else if (left)
            high = middle - 1;
        else
            return;
    }
}

void ec_scene_points_in_box(const ec_scene_points *points, const double low[3],
                            const double high[3], void (*found)(void *user, int32_t index),
                            void *user)
{
    query q = {points, low, high, found, user};
    look(&q, 0, points->n - 1, 0);
}
