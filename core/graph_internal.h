/* graph_internal.h: the graph's own storage, shared by graph.c, graph_gradient.c and executor.c. */
#ifndef EC_GRAPH_INTERNAL_H
#define EC_GRAPH_INTERNAL_H

#include "evaluator.h"

typedef struct ec_block {
    struct ec_block *next;
} ec_block;

struct ec_graph {
    ec_node **node;
    int32_t count, capacity;
    int32_t *table; /* open addressing over node numbers + 1, 0 is free */
    int32_t table_size;
    ec_block *blocks; /* everything that nodes point to */
    ec_call **call;
    int32_t n_calls, cap_calls;
    int32_t samples;       /* length of the sample axis in the search, 1 without one */
    int32_t final_samples; /* at final fidelity */
    bool sampled;          /* there is a sample axis; its lengths stay */
    int32_t owners;        /* that were numbered, from 1 */
    int32_t line;
};

/* Memory that lives as long as the graph; NULL when there is none. */
void *ec_graph_memory(ec_graph *graph, size_t bytes);

/* Bytes of the constant payload and the index table of a node. */
size_t ec_node_data_bytes(const ec_node *node);
size_t ec_node_index_bytes(const ec_node *node);

ec_expr ec_graph_gather_sum(ec_graph *graph, ec_expr a, int rank, const int32_t *shape,
                            int32_t table_size, const int32_t *table);
/* The adjoint of primal: in is its inputs, then one adjoint for each marked output. */
int ec_graph_vjp_call(ec_graph *graph, ec_call *primal, int32_t n_in, const ec_expr *in,
                      int32_t n_adjoint, const bool *adjoint, ec_call **call);

/* The range of an element-wise op over ranges of its inputs (those it does not have are not read). */
ec_interval ec_range_elementwise(ec_op op, bool complex, ec_interval a, ec_interval b,
                                 ec_interval c);

/* The samples of an EC_OP_SAMPLES node. */
static inline const double *ec_node_samples(const ec_node *n, bool final)
{
    return n->data + (final ? (size_t)n->par[3] : 0);
}

/* True for float64/float32/int32 nodes. */
static inline bool ec_node_real(const ec_node *n)
{
    return n->dtype != EC_C64 && n->dtype != EC_C128;
}

#endif
