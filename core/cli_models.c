#include "cli_models.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli_patterns.h"
#include "evaluators/fdtd/fdtd_network.h"

/* Models written for one search: scripts with more save them on their own (best:save). */
enum { MOST_MODELS = 8 };

static bool has_ports(const ec_call *call)
{
    return ec_fdtd_port_count(call) > 0;
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
    int left_out = 0,
        n = ec_cli_job_calls(job, &ec_evaluator_fdtd, has_ports, MOST_MODELS, calls, &left_out),
        status = n < 0 ? n : EC_OK;
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
