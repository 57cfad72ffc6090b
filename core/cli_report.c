#include "cli_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli_links.h"
#include "cli_models.h"
#include "cli_patterns.h"
#include "evaluators/array_pattern/array_pattern.h"
#include "output.h"

/* How each metric of the job reads the pattern. */
static void print_definitions(const ec_job *job)
{
    const ec_graph *graph = ec_job_graph(job);
    bool *needed = ec_cli_job_nodes(job);
    for (int32_t i = 0; needed && i < ec_graph_count(graph); i++) {
        const ec_node *node = ec_graph_node(graph, i);
        if (!needed[i] || !ec_cli_is_array_output(node))
            continue;
        char text[300] = "";
        ec_array_definition(graph, i, text, sizeof text);
        if (text[0])
            printf("  %s: %s\n", node->call->out[node->output].name, text);
    }
    free(needed);
}

/* Says when the winner does not point where its metrics look: a forgotten steering, most often. */
static void warn_look(const ec_cli_report *report, ec_job *job, const ec_result *result)
{
    ec_graph *graph = ec_job_graph(job);
    bool *needed = ec_cli_job_nodes(job);
    int32_t n = ec_graph_count(graph);
    bool warned = false;
    for (int32_t i = 0; needed && i < n && !warned; i++) {
        if (!needed[i] || !ec_cli_is_array_output(ec_graph_node(graph, i)))
            continue;
        ec_expr level = ec_array_look_level(graph, i);
        double *value = NULL;
        int32_t length = 0;
        if (level < 0 ||
            ec_result_value(job, result, report->backend, level, &value, &length, NULL) < 0)
            continue;
        char text[300];
        for (int32_t k = 0; k < length && !warned; k++)
            warned = ec_array_look_warning(graph, i, value[k], text, sizeof text);
        if (warned)
            ec_log_write(report->log, EC_LOG_WARNING, "%s", text);
        free(value);
    }
    free(needed);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* The tables first: a pattern has to be computed and drawn, which can fail. */
static int write_files(const ec_cli_report *report, ec_job *job, const ec_result *result)
{
    char folder[4200];
    snprintf(folder, sizeof folder, report->searches > 1 ? "%s/search_%d" : "%s",
             report->options->out, report->searches);
    int status = ec_output_all(job, result, folder, 0, NULL, report->log);
    if (status < 0 || !result->found)
        return status;
    status = ec_cli_patterns_write(job, result, report->backend, folder, report->log);
    if (status == EC_OK)
        status = ec_cli_links_write(job, result, report->backend, folder, report->log);
    return status < 0 ? status
                      : ec_cli_models_write(job, result, report->backend, folder, report->log);
}

int ec_cli_report_result(ec_cli_report *report, ec_job *job, const ec_result *result)
{
    char *text = NULL;
    report->searches++;
    /* the files first: printing may wait for whoever reads it */
    int written = report->options->out ? write_files(report, job, result) : EC_OK;
    char error[1024];
    snprintf(error, sizeof error, "%s", ec_error_text());
    int status = report->options->json ? ec_output_json(job, result, &text)
                                       : ec_output_table(job, result, &text);
    if (status < 0)
        return status;
    if (report->options->json) {
        free(report->json);
        report->json = text;
    } else {
        fputs(text, stdout);
        free(text);
        print_definitions(job);
        if (result->found)
            ec_cli_links_print(job, result, report->backend, report->log);
        fflush(stdout);
    }
    if (result->found) {
        warn_look(report, job, result);
        ec_cli_links_warn(job, result, report->backend, report->log);
    }
    return written < 0 ? ec_fail(written, "%s", error) : EC_OK;
}

/* ---- check ----------------------------------------------------------------------------------- */

static void print_shape(const ec_node *node, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, node->rank ? "list" : "number");
    for (int i = 0; i < node->rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, i ? " x %d" : " of %d", node->shape[i]);
    if (node->axes & EC_AXIS_SAMPLE && n < size)
        snprintf(text + n, size - n, ", over samples");
}

static void print_line(const ec_graph *graph, const char *kind, const char *name, ec_expr expr)
{
    const ec_node *node = ec_graph_node(graph, expr);
    char shape[80];
    print_shape(node, shape, sizeof shape);
    printf("  %-10s %-16s %-16s from %.6g to %.6g\n", kind, name, shape, node->range.lo,
           node->range.hi);
}

/* How many samples of ec.over a design meets, when the job has any. */
static void print_samples(const ec_job *job)
{
    const ec_graph *graph = ec_job_graph(job);
    bool *needed = ec_cli_job_nodes(job), sampled = false;
    int32_t samples = ec_graph_sample_count(graph, false);
    int32_t final_samples = ec_graph_sample_count(graph, true);

    for (int32_t i = 0; needed && i < ec_graph_count(graph); i++)
        sampled |= needed[i] && ec_graph_node(graph, i)->axes & EC_AXIS_SAMPLE;
    free(needed);
    if (!sampled)
        return;
    printf("  samples    %d for each design", (int)samples);
    if (final_samples != samples)
        printf(", %d others for the final figures", (int)final_samples);
    printf("\n");
}

void ec_cli_report_job(const ec_job *job)
{
    const ec_graph *graph = ec_job_graph(job);

    printf("%s\n", ec_job_name(job));
    for (int32_t i = 0; i < ec_job_variable_count(job); i++)
        print_line(graph, "variable", ec_job_variable(job, i)->name,
                   ec_job_variable(job, i)->value);
    for (int32_t i = 0; i < ec_job_objective_count(job); i++)
        print_line(graph, ec_job_objective(job, i)->maximize ? "maximize" : "minimize",
                   ec_job_objective(job, i)->name, ec_job_objective(job, i)->expr);
    for (int32_t i = 0; i < ec_job_constraint_count(job); i++)
        print_line(graph, "subject to", ec_job_constraint(job, i)->name,
                   ec_job_constraint(job, i)->expr);
    for (int32_t i = 0; i < ec_job_record_count(job); i++)
        print_line(graph, "record", ec_job_record(job, i)->name, ec_job_record(job, i)->expr);
    print_samples(job);
}

void ec_cli_report_plan(const ec_check *check)
{
    printf("  graph of %d nodes, %d evaluator call%s\n", (int)check->nodes, (int)check->calls,
           check->calls == 1 ? "" : "s");
    printf("  memory %.3g MB and %.3g kB a design, %zu designs at a time\n",
           (double)check->bytes_fixed / 1e6, (double)check->bytes_per_candidate / 1e3,
           check->chunk);
    if (check->seconds_most > 0)
        printf("  %s\n%s%s%s  %.3g to %.3g s a design", check->estimate,
               check->estimate_final[0] ? "  at final fidelity " : "", check->estimate_final,
               check->estimate_final[0] ? "\n" : "", check->seconds_per_evaluation,
               check->seconds_most);
    else
        printf("  %.3g us an evaluation", check->seconds_per_evaluation * 1e6);
}

int ec_cli_report_check(ec_cli_report *report, ec_job *job, const ec_solve_info *info)
{
    ec_check check;
    int status = ec_solve_check(job, report->backend, info, &check);
    if (status < 0)
        return status;
    ec_cli_report_job(job);
    status = ec_cli_models_check(job, report->backend, report->options->view, report->log);
    if (status < 0)
        return status;
    printf("  genes %d, method %s, population %zu\n",
           (int)(ec_job_gene_count(job) + ec_job_group_gene_count(job)), info->method,
           check.population);
    ec_cli_report_plan(&check);
    double evaluations = (double)info->evaluations;
    if (!info->evaluations && info->generations)
        evaluations = (double)info->generations * (double)check.population;
    if (evaluations > 0)
        printf(", %s %.3g s for the search", check.seconds_most > 0 ? "at least" : "about",
               evaluations * check.seconds_per_evaluation);
    else if (info->seconds > 0)
        printf(", the search ends after %g s", info->seconds);
    if (check.seconds_final > 0)
        printf(", %.3g s for final figures of %zu design%s", check.seconds_final,
               check.final_designs, check.final_designs == 1 ? "" : "s");
    printf("%s\n", info->polish ? ", the polish not included" : "");
    return EC_OK;
}
