/* fdtd_designs.c: designs that a grid must be good for. */
#include "fdtd_lines_internal.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/executor.h"

/* Genes of the variables that a model's numbers depend on: of the group and of the candidate. */
typedef struct genes {
    size_t n[2];
    ec_interval *range; /* [group's, then the candidate's] */
    bool *moves;
} genes;

static int find_genes(const ec_graph *graph, int32_t n_in, const ec_expr *in, genes *g)
{
    const int32_t nodes = ec_graph_count(graph);
    bool *needed = calloc((size_t)nodes + 1, sizeof *needed);

    if (!needed)
        return ec_fail(EC_ERR_MEMORY, "no memory for a model's variables");
    ec_graph_reach(graph, n_in, in, needed);
    for (int pass = 0; pass < 2; pass++) { /* counts them, then takes their ranges */
        for (int32_t e = 0; e < nodes; e++) {
            const ec_node *n = ec_graph_node(graph, e);
            if (!needed[e] || n->op != EC_OP_VARIABLE)
                continue;
            const int side = n->axes & EC_AXIS_GROUP ? 0 : 1;
            const size_t first = (size_t)n->par[0], end = first + (size_t)n->elements;
            if (pass == 0) {
                g->n[side] = end > g->n[side] ? end : g->n[side];
                continue;
            }
            for (int32_t i = 0; i < n->elements; i++) {
                const size_t at = (side ? g->n[0] : 0) + first + (size_t)i;
                g->range[at] =
                    n->data ? (ec_interval){n->data[i], n->data[n->elements + i]} : n->range;
                g->moves[at] = g->range[at].lo < g->range[at].hi;
            }
        }
        if (pass == 0) {
            g->range = calloc(g->n[0] + g->n[1] + 1, sizeof *g->range);
            g->moves = calloc(g->n[0] + g->n[1] + 1, sizeof *g->moves);
            if (!g->range || !g->moves) {
                free(needed);
                return ec_fail(EC_ERR_MEMORY, "no memory for a model's variables");
            }
        }
    }
    free(needed);
    return EC_OK;
}

int ec_fdtd_model_designs(ec_fdtd_model *model, ec_graph *graph, const ec_expr *in)
{
    const int32_t n_in = model->n_numbers;
    genes g = {{0, 0}, NULL, NULL};
    double *points = NULL, **out = calloc((size_t)n_in + 1, sizeof *out), *value = NULL;
    ec_backend *backend = NULL;
    int32_t designs = 0;
    const size_t samples = (size_t)ec_graph_sample_count(graph, false);
    int status = find_genes(graph, n_in, in, &g);

    if (status >= 0)
        status = ec_fdtd_box_designs(g.n[0] + g.n[1], g.range, g.moves, &designs, &points);
    if (status >= 0) {
        model->designs = calloc((size_t)designs * (size_t)n_in + 1, sizeof *model->designs);
        value = calloc((size_t)n_in * samples + 1, sizeof *value);
        if (!out || !model->designs || !value)
            status = ec_fail(EC_ERR_MEMORY, "no memory for %d designs", designs);
    }
    if (status >= 0)
        status = ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = 1}, &backend);
    for (int32_t i = 0; i < n_in && status >= 0; i++)
        out[i] = value + (size_t)i * samples;
    for (int32_t d = 0; d < designs && status >= 0 && n_in > 0; d++) {
        const double *point = points + (size_t)d * (g.n[0] + g.n[1]);
        double *to = model->designs + (size_t)model->n_designs * (size_t)n_in;
        bool good = true;
        status = ec_evaluate_once(graph, backend, EC_SEARCH, n_in, in, point + g.n[0], g.n[1],
                                  point, g.n[0], out, NULL, NULL);
        for (int32_t i = 0; i < n_in; i++) { /* of samples the middle one stands for all */
            to[i] = out[i][ec_graph_node(graph, in[i])->axes & EC_AXIS_SAMPLE ? samples / 2 : 0];
            good = good && isfinite(to[i]);
        }
        if (good)
            model->n_designs++;
        else if (d == 0 && status >= 0)
            status = ec_fail(EC_ERR_RANGE, "sizes in the middle of all variables are not finite");
    }
    ec_backend_destroy(&backend);
    free(points);
    free(g.range);
    free(g.moves);
    free(value);
    free(out);
    return status;
}
