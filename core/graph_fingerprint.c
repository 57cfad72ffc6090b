/* graph_fingerprint.c: a hash of each node from its own content and the hashes of its inputs. */
#include "graph_fingerprint.h"
#include "graph_internal.h"
#include "hash.h"

#include <stdlib.h>

static void hash_node(const ec_node *node, uint64_t unknown, const uint64_t *hashes, ec_hash *hash)
{
    ec_hash_integer(hash, node->op);
    ec_hash_integer(hash, node->dtype);
    ec_hash_integer(hash, node->axes);
    ec_hash_integer(hash, node->rank);
    for (int i = 0; i < node->rank; i++)
        ec_hash_integer(hash, node->shape[i]);
    ec_hash_integer(hash, node->n_in);
    for (int32_t i = 0; i < node->n_in; i++)
        ec_hash_integer(hash, (int64_t)hashes[node->in[i]]);
    ec_hash_number(hash, node->range.lo);
    ec_hash_number(hash, node->range.hi);
    ec_hash_bytes(hash, node->data, ec_node_data_bytes(node));
    ec_hash_bytes(hash, node->index, ec_node_index_bytes(node));
    /* the owner of a variable counts jobs of the script, which tells nothing */
    int parameters = node->op == EC_OP_VARIABLE ? 1 : 4;
    for (int i = 0; i < parameters; i++)
        ec_hash_number(hash, node->par[i]);
    const ec_call *call = node->op == EC_OP_CALL_OUTPUT ? node->call : NULL;
    if (!call)
        return;
    ec_hash_text(hash, call->def->name);
    ec_hash_text(hash, call->out[node->output].name);
    ec_hash_integer(hash, call->mode);
    if (call->mode == EC_MODE_RUN && call->def->fingerprint)
        call->def->fingerprint(call, node->output, hash);
    else
        ec_hash_integer(hash, (int64_t)unknown);
}

int ec_graph_fingerprint(const ec_graph *graph, int32_t n, const ec_expr *exprs, uint64_t unknown,
                         uint64_t *fingerprints)
{
    size_t count = (size_t)graph->count;
    bool *needed = (bool *)malloc(count + 1);
    uint64_t *hashes = (uint64_t *)calloc(count + 1, sizeof *hashes);
    int status =
        needed && hashes ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory for the graph's hash");

    if (status == EC_OK)
        ec_graph_reach(graph, n, exprs, needed);
    for (size_t i = 0; i < count && status == EC_OK; i++) {
        ec_hash hash = ec_hash_begin();
        if (needed[i])
            hash_node(graph->node[i], unknown, hashes, &hash);
        hashes[i] = hash.value;
    }
    for (int32_t i = 0; i < n && status == EC_OK; i++)
        fingerprints[i] = hashes[exprs[i]];
    free(needed);
    free(hashes);
    return status;
}
