/* bvh_internal.h: the binary tree between bvh_build.c, which makes it, and bvh_layout.c. */
#ifndef EC_BVH_INTERNAL_H
#define EC_BVH_INTERNAL_H

#include "bvh.h"

enum {
    EC_BVH_MOST_TRIANGLES =
        80000000, /* a leaf's number has 27 bits, references are 1.5 times more */
    /* Below this depth nodes are halved, so no path is longer than 40 + log2 of all references, 67:
     * the stacks of the layouts are made for that. */
    EC_BVH_SAH_DEPTH = 40
};

/* Nodes in preorder: the left child follows its parent. */
typedef struct ec_bvh_tree_node {
    float low[3];
    int32_t right; /* -1: a leaf, one piece of one triangle */
    float high[3];
    int32_t what; /* the leaf's triangle, or the number of leaves below */
} ec_bvh_tree_node;

struct ec_bvh {
    ec_bvh_stats stats;
    double centre[3];
    float size;
    int32_t n_nodes, n_triangles; /* no nodes where there are no triangles */
    ec_bvh_tree_node *node;
    float (*corner)[3][3]; /* [triangle][vertex][axis], from the centre */
    int32_t *part;
};

static inline float ec_bvh_half_area(const float low[3], const float high[3])
{
    float x = high[0] - low[0], y = high[1] - low[1], z = high[2] - low[2];
    return x * y + y * z + z * x;
}

#endif
