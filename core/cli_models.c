#include "cli_models.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli_patterns.h"
#include "evaluators/fdtd/fdtd_network.h"

/* Models written for one search: scripts with more save them on their own (best:save). */
enum { MOST_MODELS = 8 };

static int find_models(const ec_job *job, ec_call **calls, int *left_out)
{
    const ec_graph *graph = ec_job_graph(job);
    bool *needed = ec_cli_job_nodes(job);
    int n = 0;
    *left_out = 0;
    for (int32_t i = 0; needed && i < ec_graph_count(graph); i++) {
        const ec_node *node = ec_graph_node(graph, i);
        bool is_new = needed[i] && node->op == EC_OP_CALL_OUTPUT &&
                      node->call->mode == EC_MODE_RUN && node->call->def == &ec_evaluator_fdtd &&
                      ec_fdtd_port_count(node->call) > 0;
        for (int k = 0; is_new && k < n; k++)
            is_new = calls[k] != node->call;
        if (is_new && n < MOST_MODELS)
            calls[n++] = node->call;
        else if (is_new)
            (*left_out)++;
    }
    if (!needed)
        n = ec_fail(EC_ERR_MEMORY, "no memory for the files of models");
    free(needed);
    return n;
}

static int write_model(const ec_fdtd_network *design, const char *folder, const char *suffix,
                       ec_log *log)
{
    char path[4400];
    if (design->samples > 1)
        ec_log_write(log, EC_LOG_INFO, "sparameters%s: those of the first of %d samples (ec.over)",
                     suffix, (int)design->samples);
    snprintf(path, sizeof path, "sparameters%s.s%dp", suffix, (int)design->s.n_ports);
    ec_fdtd_network_say(design, path, log);
    snprintf(path, sizeof path, "%s/sparameters%s.s%dp", folder, suffix, (int)design->s.n_ports);
    int status = ec_fdtd_network_write(design, path);
    if (status < 0)
        return status;
    snprintf(path, sizeof path, "%s/sparameters%s.csv", folder, suffix);
    return ec_fdtd_network_write(design, path);
}

int ec_cli_models_write(ec_job *job, const ec_result *result, ec_backend *backend,
                        const char *folder, ec_log *log)
{
    ec_call *calls[MOST_MODELS];
    int left_out = 0, n = find_models(job, calls, &left_out), status = n < 0 ? n : EC_OK;
    for (int i = 0; i < n && status == EC_OK; i++) {
        ec_fdtd_winner winner = {ec_job_graph(job), job, result, backend, calls[i]};
        ec_fdtd_network *design = NULL;
        char suffix[16] = "";
        status = ec_fdtd_network_create(&winner, &design);
        if (status == EC_ERR_RANGE) { /* the search found nothing better */
            ec_log_write(log, EC_LOG_WARNING, "the files of a model were not written: %s",
                         ec_error_text());
            status = EC_OK;
            continue;
        }
        if (i > 0)
            snprintf(suffix, sizeof suffix, "_%d", i + 1);
        if (status == EC_OK)
            status = write_model(design, folder, suffix, log);
        ec_fdtd_network_destroy(&design);
    }
    if (left_out > 0)
        ec_log_write(log, EC_LOG_INFO,
                     "the first %d models were written, %d were not (best:save writes any)", n,
                     left_out);
    return status;
}
