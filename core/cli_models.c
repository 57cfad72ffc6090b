#include "cli_models.h"

#include <stdio.h>
#include <stdlib.h>

#include <string.h>

#include "cli_patterns.h"
#include "evaluators/fdtd/fdtd_view.h"
#include "output.h"

/* Models written for one search: scripts with more save them on their own (best:save). */
enum { MOST_MODELS = 8 };

static int write_sparameters(const ec_fdtd_network *design, const char *folder, const char *suffix,
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
    status = ec_fdtd_network_write(design, path);
    return status < 0 ? status : ec_fdtd_network_plot(design, path, log);
}

/* ERR_RANGE: the design cannot be computed. */
static int write_model(const ec_fdtd_winner *winner, const char *folder, const char *suffix,
                       ec_log *log)
{
    ec_fdtd_network *design = NULL;
    char path[4400];
    int status = EC_OK;
    if (ec_fdtd_port_count(winner->call) > 0)
        status = ec_fdtd_network_create(winner, &design);
    if (status == EC_OK && design)
        status = write_sparameters(design, folder, suffix, log);
    ec_fdtd_network_destroy(&design);
    snprintf(path, sizeof path, "%s/structure%s.csv", folder, suffix);
    return status < 0 ? status : ec_fdtd_structure_write(winner, path);
}

int ec_cli_models_write(ec_job *job, const ec_result *result, ec_backend *backend,
                        const char *folder, ec_log *log)
{
    ec_call *calls[MOST_MODELS];
    int left_out = 0,
        n = ec_cli_job_calls(job, &ec_evaluator_fdtd, NULL, MOST_MODELS, calls, &left_out),
        status = n < 0 ? n : EC_OK;
    for (int i = 0; i < n && status == EC_OK; i++) {
        ec_fdtd_winner winner = {.graph = ec_job_graph(job),
                                 .job = job,
                                 .result = result,
                                 .backend = backend,
                                 .call = calls[i]};
        char suffix[16] = "";
        if (i > 0)
            snprintf(suffix, sizeof suffix, "_%d", i + 1);
        status = write_model(&winner, folder, suffix, log);
        if (status == EC_ERR_RANGE) { /* the search found nothing better */
            ec_log_write(log, EC_LOG_WARNING, "the files of a model were not written: %s",
                         ec_error_text());
            status = EC_OK;
        }
    }
    if (left_out > 0)
        ec_log_write(log, EC_LOG_INFO,
                     "the first %d models were written, %d were not (best:save writes any)", n,
                     left_out);
    return status;
}

/* ---- check ----------------------------------------------------------------------------------- */

/* NAME.vtm and NAME_cuts.png, or NAME.png. */
static int write_view(const ec_fdtd_winner *design, const char *view, int i, ec_log *log)
{
    const char *ending = strrchr(view, '.');
    char path[4400], suffix[16] = "";
    if (i > 0)
        snprintf(suffix, sizeof suffix, "_%d", i + 1);
    snprintf(path, sizeof path, "%.*s%s%s", (int)(ending - view), view, suffix, ending);
    const char *slash = strrchr(path, '/');
    char folder[4400] = "";
    if (slash && slash != path)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    int status = *folder ? ec_output_folder(folder) : EC_OK;
    if (status == EC_OK)
        status = ec_fdtd_view_write(design, path, log);
    if (status == EC_OK)
        printf("  written: %s\n", path);
    if (status < 0 || strcmp(ending, ".vtm") != 0)
        return status;
    snprintf(path, sizeof path, "%.*s%s_cuts.png", (int)(ending - view), view, suffix);
    return ec_fdtd_view_write(design, path, log);
}

/* Prints and views the models among the nodes. */
static int look(ec_fdtd_winner *design, const bool *needed, const char *view, int *views,
                ec_log *log)
{
    ec_call *calls[MOST_MODELS];
    char text[EC_FDTD_DESCRIPTION];
    int left_out = 0, status = EC_OK;
    const int n = ec_cli_calls_of(design->graph, needed, &ec_evaluator_fdtd, NULL, MOST_MODELS,
                                  calls, &left_out);
    for (int i = 0; i < n && status == EC_OK; i++) {
        ec_fdtd_describe(calls[i], text, sizeof text);
        printf(n > 1 ? "  model %d\n" : "  model\n", i + 1);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            printf("    %s\n", line);
        design->call = calls[i];
        status = view ? write_view(design, view, (*views)++, log) : EC_OK;
    }
    if (n == 0 && view)
        return ec_fail(EC_ERR_ARGUMENT, "--view: there is no model of ec.fdtd to look at here");
    if (left_out > 0)
        printf("  and %d models more\n", left_out);
    return status;
}

int ec_cli_models_check(ec_job *job, ec_backend *backend, const char *view, ec_log *log)
{
    const size_t own = (size_t)ec_job_gene_count(job),
                 shared = (size_t)ec_job_group_gene_count(job);
    double *genes = malloc((own + 3 * shared + 1) * sizeof *genes);
    bool *needed = ec_cli_job_nodes(job);
    int status = EC_OK, views = 0;
    if (!genes || !needed) {
        status = ec_fail(EC_ERR_MEMORY, "no memory for a design");
    } else {
        double *group = genes + own, *low = group + shared, *high = low + shared;
        ec_job_start_genes(job, 0, genes);
        ec_job_gene_bounds(job, true, low, high, NULL);
        for (size_t i = 0; i < shared; i++)
            group[i] = 0.5 * (low[i] + high[i]);
        ec_fdtd_winner start = {.graph = ec_job_graph(job),
                                .backend = backend,
                                .genes = genes,
                                .group_genes = group,
                                .n_genes = own,
                                .n_group_genes = shared,
                                .at_search = true};
        status = look(&start, needed, view, &views, log);
    }
    free(genes);
    free(needed);
    return status;
}

int ec_cli_models_check_values(ec_graph *graph, int32_t n, const ec_expr *values,
                               ec_backend *backend, const char *view, int *views, ec_log *log)
{
    bool *needed = malloc((size_t)ec_graph_count(graph) + 1);
    if (!needed)
        return ec_fail(EC_ERR_MEMORY, "no memory for a check");
    ec_graph_reach(graph, n, values, needed);
    ec_fdtd_winner fixed = {.graph = graph, .backend = backend};
    int status = look(&fixed, needed, view, views, log);
    ec_call *calls[MOST_MODELS];
    int left_out = 0, models = ec_cli_calls_of(graph, needed, &ec_evaluator_fdtd, NULL, MOST_MODELS,
                                               calls, &left_out);
    for (int i = 0; i < models && status == EC_OK; i++) {
        bool *wanted = calloc((size_t)calls[i]->n_out + 1, sizeof *wanted);
        ec_estimate one = {.least = 0};
        for (int32_t e = 0; wanted && e < ec_graph_count(graph); e++) {
            const ec_node *node = ec_graph_node(graph, e);
            if (needed[e] && node->op == EC_OP_CALL_OUTPUT && node->call == calls[i])
                wanted[node->output] = true;
        }
        status = wanted ? ec_evaluator_fdtd.estimate(calls[i], EC_FINAL, wanted, backend, &one)
                        : ec_fail(EC_ERR_MEMORY, "no memory for a check");
        if (status == EC_OK && one.most > 0)
            printf("  %s\n  %.3g to %.3g s\n", one.text, one.least, one.most);
        free(wanted);
    }
    free(needed);
    return status;
}
