#include "mimo_warnings.h"

#include "../../core/executor.h"
#include "mimo_internal.h"

#include <stdlib.h>

/* Sequences of all pairs that are computed once more for a warning: some seconds on a core. */
static const double most_work = 1e8;

/* Entries of H above 0 dB; *most: the largest |h|^2, *at: where. */
static size_t count_gains(size_t n, const ec_c128 *h, double *most, size_t *at)
{
    size_t above = 0;

    *most = 0;
    *at = 0;
    for (size_t i = 0; i < n; i++) {
        double gain = h[i].re * h[i].re + h[i].im * h[i].im;
        above += gain > 1;
        if (gain > *most) {
            *most = gain;
            *at = i;
        }
    }
    return above;
}

/* h: [samples][n] */
static void warn_gains(const ec_mimo_winner *w, size_t n, size_t samples, const ec_c128 *h,
                       ec_log *log)
{
    const ec_mimo_parts p = ec_mimo_parts_of(w->call);
    double most;
    size_t at, above = count_gains(n * samples, h, &most, &at);

    if (above == 0)
        return;
    size_t entry = at % n;
    size_t tx = entry % (size_t)p.n_tx, rx = entry / (size_t)p.n_tx % (size_t)p.n_rx;
    size_t receiver = entry / (size_t)(p.n_tx * p.n_rx) % (size_t)p.receivers;
    ec_log_write(
        log, EC_LOG_WARNING,
        "ec.mimo: path gains above 0 dB, which passive antennas cannot have: %zu of %zu "
        "entries of H, the largest %.3g dB (receiver %zu, rx %zu, tx %zu): rays are wrong so "
        "near to an antenna, an edge or a focus",
        above, n * samples, 10 * log10(most), receiver + 1, rx + 1, tx + 1);
}

static void warn_pathless(size_t n, const double *paths, const char *of_samples, ec_log *log)
{
    size_t none = 0;

    for (size_t i = 0; i < n; i++)
        none += paths[i] == 0;
    if (none > 0)
        ec_log_write(
            log, EC_LOG_WARNING,
            "ec.mimo: %zu of %zu pairs of antennas%s have no path: h is 0 there (more depth, "
            "diffraction or transmissions may find one)",
            none, n, of_samples);
}

static size_t samples_of(const ec_graph *graph, ec_expr e)
{
    return ec_graph_node(graph, e)->axes & EC_AXIS_SAMPLE
               ? (size_t)ec_graph_sample_count(graph, true)
               : 1;
}

int ec_mimo_warn(const ec_mimo_winner *w, ec_log *log)
{
    const ec_expr e[2] = {ec_mimo_value(w->graph, w->call, EC_MIMO_CHANNEL),
                          ec_mimo_value(w->graph, w->call, EC_MIMO_PATHS)};
    const ec_result *r = w->result;
    uint8_t failed = 0;

    if (e[0] < 0 || e[1] < 0)
        return e[0] < 0 ? e[0] : e[1];
    size_t entries = (size_t)ec_graph_node(w->graph, e[0])->elements;
    size_t pairs = (size_t)ec_graph_node(w->graph, e[1])->elements;
    size_t samples = samples_of(w->graph, e[0]), path_samples = samples_of(w->graph, e[1]);
    if ((double)(pairs * samples) * ec_mimo_parts_of(w->call).sequences->n > most_work)
        return EC_OK;
    double *h = malloc(2 * entries * samples * sizeof *h);
    double *paths = malloc(pairs * path_samples * sizeof *paths);
    double *const out[2] = {h, paths};
    int status = h && paths ? EC_OK : ec_fail(EC_ERR_MEMORY, "mimo: no memory for channels");
    if (status == EC_OK)
        status = ec_evaluate_once(w->graph, w->backend, EC_FINAL, 2, e, r ? r->genes : NULL,
                                  r ? (size_t)r->n_genes : 0, r ? r->group_genes : NULL,
                                  r ? (size_t)r->n_group_genes : 0, out, &failed, NULL);
    if (status == EC_OK && !(failed & ~EC_CANDIDATE_NOT_FINITE)) {
        warn_gains(w, entries, samples, (const ec_c128 *)(void *)h, log);
        warn_pathless(pairs * path_samples, paths, path_samples > 1 ? " and samples (ec.over)" : "",
                      log);
    }
    free(h);
    free(paths);
    return status < 0 ? status : EC_OK;
}
