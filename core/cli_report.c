#include "cli_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluators/array_pattern/array_pattern.h"
#include "output.h"

/* Patterns written for one search: scripts with more arrays have their own way to save them. */
enum { MOST_PATTERNS = 4 };

/* ---- which nodes a job uses ------------------------------------------------------------------ */

/* All goals, constraints and records of the job; malloc'ed. */
static ec_expr *job_outputs(const ec_job *job, int32_t *count)
{
    int32_t no = ec_job_objective_count(job), nc = ec_job_constraint_count(job),
            nr = ec_job_record_count(job);
    ec_expr *e = malloc((size_t)(no + nc + nr + 1) * sizeof *e);
    int32_t n = 0;
    for (int32_t i = 0; e && i < no; i++)
        e[n++] = ec_job_objective(job, i)->expr;
    for (int32_t i = 0; e && i < nc; i++)
        e[n++] = ec_job_constraint(job, i)->expr;
    for (int32_t i = 0; e && i < nr; i++)
        e[n++] = ec_job_record(job, i)->expr;
    *count = n;
    return e;
}

/* Nodes that the job needs; malloc'ed, ec_graph_count long. */
static bool *job_nodes(const ec_job *job)
{
    const ec_graph *graph = ec_job_graph(job);
    int32_t n;
    ec_expr *outputs = job_outputs(job, &n);
    bool *needed = malloc((size_t)ec_graph_count(graph) + 1);
    if (outputs && needed)
        ec_graph_reach(graph, n, outputs, needed);
    if (!outputs) {
        free(needed);
        needed = NULL;
    }
    free(outputs);
    return needed;
}

static bool is_array_output(const ec_node *node)
{
    return node->op == EC_OP_CALL_OUTPUT && node->call->mode == EC_MODE_RUN &&
           strcmp(node->call->def->name, "array_pattern") == 0;
}

/* How each metric of the job reads the pattern. */
static void print_definitions(const ec_job *job)
{
    const ec_graph *graph = ec_job_graph(job);
    bool *needed = job_nodes(job);
    for (int32_t i = 0; needed && i < ec_graph_count(graph); i++) {
        const ec_node *node = ec_graph_node(graph, i);
        if (!needed[i] || !is_array_output(node))
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
    static const double most = -1; /* dB over the pattern's maximum */
    ec_graph *graph = ec_job_graph(job);
    bool *needed = job_nodes(job);
    int32_t n = ec_graph_count(graph);
    bool warned = false;
    for (int32_t i = 0; needed && i < n && !warned; i++) {
        if (!needed[i] || !is_array_output(ec_graph_node(graph, i)))
            continue;
        ec_expr level = ec_array_look_level(graph, i);
        double *value = NULL;
        int32_t length = 0;
        if (level < 0 ||
            ec_result_value(job, result, report->backend, level, &value, &length, NULL) < 0)
            continue;
        for (int32_t k = 0; k < length && !warned; k++)
            warned = value[k] < most;
        if (warned) {
            const ec_node *node = ec_graph_node(graph, i);
            ec_log_write(report->log, EC_LOG_WARNING,
                         "%s: the look direction lies %.3g dB below the pattern's maximum: is the "
                         "array steered there?",
                         node->call->out[node->output].name, -value[0]);
        }
        free(value);
    }
    free(needed);
}

/* ---- patterns -------------------------------------------------------------------------------- */

static int find_arrays(const ec_job *job, ec_call **calls)
{
    const ec_graph *graph = ec_job_graph(job);
    bool *needed = job_nodes(job);
    int n = 0;
    for (int32_t i = 0; needed && i < ec_graph_count(graph); i++) {
        const ec_node *node = ec_graph_node(graph, i);
        bool is_new = needed[i] && is_array_output(node);
        for (int k = 0; is_new && k < n; k++)
            is_new = calls[k] != node->call;
        if (is_new && n < MOST_PATTERNS)
            calls[n++] = node->call;
    }
    free(needed);
    return n;
}

static double *in_degrees(const double *radians, int32_t n)
{
    double *to = malloc((size_t)n * sizeof *to);
    for (int32_t i = 0; to && i < n; i++)
        to[i] = radians[i] * (180 / EC_PI);
    return to;
}

/* |F|^2 to dB over its largest value; directions that are none become NaN. */
static void to_level(const ec_array_config *c, double *power, int32_t n)
{
    double peak = 0;
    for (int32_t i = 0; i < n; i++) {
        double u = c->kind == EC_ARRAY_GRID_UV ? c->a[i / c->nb]
                   : c->kind == EC_ARRAY_CUT_U ? c->a[i]
                                               : 0;
        double v = c->kind == EC_ARRAY_GRID_UV ? c->b[i % c->nb]
                   : c->kind == EC_ARRAY_CUT_U ? c->fixed
                                               : 0;
        if (u * u + v * v > 1 + 1e-9)
            power[i] = NAN;
        else if (power[i] > peak)
            peak = power[i];
    }
    for (int32_t i = 0; i < n; i++)
        if (!isnan(power[i]))
            power[i] = 10 * log10(fmax(power[i] / peak, 1e-20));
}

typedef struct pattern_memory {
    double *level, *axis[2], *fine[2];
    char name[32], title[300];
} pattern_memory;

/* Each interval of an ascending grid in equal parts, so that it has `least` points or more;
 * malloc'ed. */
static double *refine(const double *at, int32_t n, int32_t least, int32_t *count)
{
    int32_t parts = n > 1 && n < least ? (least - 1 + n - 2) / (n - 1) : 1;
    int32_t total = (n - 1) * parts + 1;
    double *fine = malloc((size_t)total * sizeof *fine);
    for (int32_t i = 0; fine && i < total; i++) {
        int32_t k = i / parts, part = i % parts;
        fine[i] = part ? at[k] + (at[k + 1] - at[k]) * ((double)part / parts) : at[k];
    }
    *count = total;
    return fine;
}

/* The same array on a finer grid, so that nulls are drawn sharp; the given call where that is not
 * possible or takes too long. */
static ec_call *finer_call(ec_graph *graph, ec_call *call, pattern_memory *memory)
{
    enum { CUT = 1001, SURFACE = 181, INPUTS = 9 };
    static const double most_terms = 1e9; /* elements times directions */
    ec_array_config c = *ec_array_call_config(call);
    bool surface = c.kind == EC_ARRAY_GRID_UV || c.kind == EC_ARRAY_GRID_THETA_PHI;
    if (c.kind == EC_ARRAY_DIRECTIONS || call->n_in < INPUTS)
        return call;
    memory->fine[0] = refine(c.a, c.na, surface ? SURFACE : CUT, &c.na);
    memory->fine[1] = surface ? refine(c.b, c.nb, SURFACE, &c.nb) : NULL;
    double directions = (double)c.na * (surface ? c.nb : 1);
    if (!memory->fine[0] || (surface && !memory->fine[1]) || c.elements * directions > most_terms)
        return call;
    c.a = memory->fine[0];
    c.b = memory->fine[1];
    const ec_expr *e = call->in;
    ec_array_inputs in = {e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8]};
    ec_call *fine = NULL;
    return ec_array_call(graph, &c, &in, &fine) == EC_OK ? fine : call;
}

/* "NAME: sll_db = -20.1443", and which sample is drawn. */
static void write_title(const ec_job *job, const ec_result *result, int32_t samples, char *text,
                        size_t size)
{
    int n = snprintf(text, size, "%.120s: %.60s = %.6g", ec_job_name(job),
                     ec_job_objective(job, 0)->name, result->objective_final[0]);
    if (result->violation > 0)
        n += snprintf(text + n, size - (size_t)n, " (infeasible)");
    if (samples > 1)
        snprintf(text + n, size - (size_t)n, ", first of %d samples", (int)samples);
}

static int make_pattern(const ec_cli_report *report, ec_job *job, const ec_result *result,
                        ec_call *call, int number, pattern_memory *memory, ec_output_pattern *p)
{
    static const char *const axis[][2] = {
        {"u", NULL}, {"u", "v"}, {"theta_deg", NULL}, {"phi_deg", NULL}, {"theta_deg", "phi_deg"},
        {NULL, NULL}};
    ec_graph *graph = ec_job_graph(job);
    call = finer_call(graph, call, memory);
    const ec_array_config *c = ec_array_call_config(call);
    ec_expr power = ec_graph_unary(graph, EC_OP_ABS2, ec_array_pattern(graph, call));
    int32_t length = 0, n = c->nb > 0 ? c->na * c->nb : c->na;
    int status = power < 0 ? power
                           : ec_result_value(job, result, report->backend, power, &memory->level,
                                             &length, NULL);
    if (status < 0)
        return status;
    if (length < n || c->kind == EC_ARRAY_DIRECTIONS)
        return EC_STOPPED;         /* no curve to draw */
    to_level(c, memory->level, n); /* of several samples, the first */
    bool degrees = c->kind != EC_ARRAY_CUT_U && c->kind != EC_ARRAY_GRID_UV;
    if (degrees) {
        memory->axis[0] = in_degrees(c->a, c->na);
        memory->axis[1] = c->b ? in_degrees(c->b, c->nb) : NULL;
        if (!memory->axis[0] || (c->b && !memory->axis[1]))
            return ec_fail(EC_ERR_MEMORY, "no memory for the pattern");
    }
    snprintf(memory->name, sizeof memory->name, number ? "pattern_%d" : "pattern", number + 1);
    write_title(job, result, length / n, memory->title, sizeof memory->title);
    if (length > n)
        ec_log_write(report->log, EC_LOG_INFO,
                     "%s: the pattern of the first of %d samples (ec.over) is written",
                     memory->name, (int)(length / n));
    *p = (ec_output_pattern){
        .name = memory->name,
        .title = memory->title,
        .axis = {axis[c->kind][0], axis[c->kind][1]},
        .n = {c->na, c->nb},
        .at = {degrees ? memory->axis[0] : c->a, degrees ? memory->axis[1] : c->b},
        .value = "level_db",
        .level = memory->level,
        .floor = NAN};
    return EC_OK;
}

/* The tables first: a pattern has to be computed and drawn, which can fail. */
static int write_files(const ec_cli_report *report, ec_job *job, const ec_result *result)
{
    ec_call *calls[MOST_PATTERNS];
    char folder[4200];
    snprintf(folder, sizeof folder, report->searches > 1 ? "%s/search_%d" : "%s",
             report->options->out, report->searches);
    int status = ec_output_all(job, result, folder, 0, NULL, report->log);
    int found = result->found ? find_arrays(job, calls) : 0, n = 0;
    for (int i = 0; status >= 0 && i < found; i++) {
        pattern_memory memory = {NULL};
        ec_output_pattern pattern;
        status = make_pattern(report, job, result, calls[i], n, &memory, &pattern);
        if (status == EC_OK) {
            n++;
            status = ec_output_plot(&pattern, folder, NULL, report->log);
        }
        free(memory.level);
        free(memory.fine[0]);
        free(memory.fine[1]);
        free(memory.axis[0]);
        free(memory.axis[1]);
    }
    return status;
}

/* ---- the result ------------------------------------------------------------------------------ */

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
        fflush(stdout);
    }
    if (result->found)
        warn_look(report, job, result);
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

int ec_cli_report_check(ec_cli_report *report, ec_job *job, const ec_solve_info *info)
{
    const ec_graph *graph = ec_job_graph(job);
    ec_check check;
    int status = ec_solve_check(job, report->backend, info, &check);
    if (status < 0)
        return status;
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
    printf("  genes %d, method %s, population %zu\n",
           (int)(ec_job_gene_count(job) + ec_job_group_gene_count(job)), info->method,
           check.population);
    printf("  graph of %d nodes, %d evaluator call%s\n", (int)check.nodes, (int)check.calls,
           check.calls == 1 ? "" : "s");
    printf("  memory %.3g MB and %.3g kB a design, %zu designs at a time\n",
           (double)check.bytes_fixed / 1e6, (double)check.bytes_per_candidate / 1e3, check.chunk);
    printf("  %.3g us an evaluation", check.seconds_per_evaluation * 1e6);
    double evaluations = (double)info->evaluations;
    if (!info->evaluations && info->generations)
        evaluations = (double)info->generations * (double)check.population;
    if (evaluations > 0)
        printf(", about %.3g s for the search", evaluations * check.seconds_per_evaluation);
    else if (info->seconds > 0)
        printf(", the search ends after %g s", info->seconds);
    printf("%s\n", info->polish ? ", the polish not included" : "");
    return EC_OK;
}
