#include "cli_sweep.h"

#include "cli_models.h"

#include <stdlib.h>
#include <string.h>

#include "sweep_output.h"

int ec_cli_sweep_result(ec_cli_report *report, const ec_sweep *sweep, const ec_sweep_plan *plan,
                        const char *name)
{
    const ec_cli_options *options = report->options;
    char *text = NULL, error[1024];
    /* the files first: printing may wait for whoever reads it */
    int written =
        options->out ? ec_sweep_output_plots(sweep, plan, options->out, name, report->log) : EC_OK;
    snprintf(error, sizeof error, "%s", ec_error_text());
    int status =
        options->json ? ec_sweep_output_json(sweep, &text) : ec_sweep_output_summary(sweep, &text);
    if (status < 0)
        return status;
    if (options->json) {
        free(report->json);
        report->json = text;
    } else {
        fputs(text, stdout);
        free(text);
        fflush(stdout);
    }
    return written < 0 ? ec_fail(written, "%s", error) : EC_OK;
}

int ec_cli_sweep_sensitivity(ec_cli_report *report, const ec_sensitivity *sensitivity,
                             const ec_sweep *sweep, const char *name)
{
    const ec_cli_options *options = report->options;
    char *text = NULL;
    int status = options->out ? ec_sensitivity_write(sensitivity, options->out, name) : EC_OK;
    if (status == EC_OK)
        status = options->json ? ec_sweep_output_json(sweep, &text)
                               : ec_sensitivity_summary(sensitivity, sweep, &text);
    if (status < 0)
        return status;
    if (options->json) {
        free(report->json);
        report->json = text;
        return EC_OK;
    }
    fputs(text, stdout);
    free(text);
    fflush(stdout);
    return EC_OK;
}

int ec_cli_sweep_check(ec_cli_report *report, ec_job *job, const ec_sweep_info *info)
{
    ec_check check;
    int status = ec_sweep_check(job, report->backend, info, &check);
    if (status < 0)
        return status;
    ec_cli_report_job(job);
    status = ec_cli_models_check(job, report->backend, report->options->view, report->log);
    if (status < 0)
        return status;
    printf("  sweep of %zu designs", info->plan->n);
    for (int32_t i = 0; i < info->plan->n_axes; i++)
        printf("%s%s %zu", i ? " x " : ": ", info->plan->axis_name[i], info->plan->axis_length[i]);
    printf("\n");
    ec_cli_report_plan(&check);
    printf(", %s %.3g s for the sweep\n", check.seconds_most > 0 ? "at least" : "about",
           (double)info->plan->n * check.seconds_per_evaluation);
    return EC_OK;
}
