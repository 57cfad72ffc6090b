/* optimizer_quality.c: how good the methods are: best, median and worst of many seeds on the problems
 * of problems.h. Not a test: a table to read.
 *
 *   optimizer_quality [--seeds N] [--evaluations N] [--backend NAME] [--problem NAME]... METHOD...
 *
 * METHOD is a name with options behind commas, "rand1bin,population=60,F=0.6"; all problems when none
 * is named; 25 seeds (from 1 on) and 150,000 evaluations when nothing is said. A run counts as solved
 * when it comes within 1e-6 of the lowest cost that is known.
 */
#include "method_options.h"
#include "problems.h"
#include "solve.h"
#include "wall_clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { PROBLEMS_MAX = 64, METHODS_MAX = 32, SEEDS_MAX = 1000, SETTINGS_MAX = 16 };
static const double close_enough = 1e-6;

typedef struct settings {
    const char *problems[PROBLEMS_MAX];
    char *methods[METHODS_MAX];
    int n_problems, n_methods;
    long seeds, evaluations;
    ec_backend *backend;
} settings;

/* A method with its options; the text is cut into its keys and values. */
typedef struct entrant {
    const ec_optimizer_def *def;
    size_t population;
    double options[EC_METHOD_OPTIONS_MAX];
} entrant;

static int complain(const char *what, const char *name)
{
    fprintf(stderr, "optimizer_quality: %s '%s'\n", what, name);
    return 1;
}

/* A number, or a word of the option's list. */
static double option_value(const ec_option_def *option, const char *text)
{
    const char *at = option && option->words ? option->words : "";

    for (int i = 0; *at; i++) {
        size_t n = strcspn(at, "|");
        if (strlen(text) == n && strncmp(at, text, n) == 0)
            return i;
        at += n + (at[n] == '|');
    }
    return strtod(text, NULL);
}

static const ec_option_def *find_option(const ec_optimizer_def *def, const char *key)
{
    for (size_t i = 0; i < def->n_options; i++)
        if (strcmp(def->options[i].key, key) == 0)
            return &def->options[i];
    return NULL;
}

static int read_method(const char *given, entrant *e)
{
    ec_method_setting list[SETTINGS_MAX] = {{NULL, 0}};
    char text[400], *save = NULL;
    int n = 0;

    snprintf(text, sizeof text, "%s", given);
    char *word = strtok_r(text, ",", &save);
    e->def = ec_optimizer_find(word);
    e->population = 0;
    if (!e->def)
        return complain("unknown method", given);
    while ((word = strtok_r(NULL, ",", &save)) && n + 1 < SETTINGS_MAX) {
        char *equals = strchr(word, '=');
        if (!equals)
            return complain("key=value is wanted, not", word);
        *equals = '\0';
        if (strcmp(word, "population") == 0) {
            e->population = strtoul(equals + 1, NULL, 10);
            continue;
        }
        list[n].key = word;
        list[n++].value = option_value(find_option(e->def, word), equals + 1);
        list[n].key = NULL;
    }
    return ec_method_options(e->def, list, e->options) ? 0 : complain("an unknown key in", given);
}

/* ---- runs ---- */

static int solve(const settings *s, const ec_problem *problem, const entrant *e, uint64_t seed,
                 double *f)
{
    ec_graph *graph = NULL;
    ec_job *job = NULL;
    ec_result *result = NULL;
    ec_solve_info info;

    int status = ec_problem_job(problem, seed, &graph, &job);
    ec_solve_info_default(&info);
    info.method = e->def->name;
    info.options = e->options;
    info.population = e->population;
    info.evaluations = (size_t)s->evaluations;
    if (status == EC_OK)
        status = ec_solve(job, s->backend, &info, &result);
    *f = status == EC_OK && result->found ? result->objective_final[0] : INFINITY;
    if (status < 0)
        fprintf(stderr, "%s, %s: %s\n", problem->name, e->def->name, ec_error_text());
    ec_result_destroy(&result);
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
    return status;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int compete(const settings *s, const ec_problem *problem, const char *method)
{
    double f[SEEDS_MAX], start = ec_wall_seconds();
    long solved = 0;
    entrant e;

    if (read_method(method, &e))
        return 1;
    for (long seed = 0; seed < s->seeds; seed++) {
        if (solve(s, problem, &e, (uint64_t)seed + 1, &f[seed]) < 0)
            return 1;
        solved += f[seed] <= problem->optimum + close_enough;
    }
    double seconds = (ec_wall_seconds() - start) / (double)s->seeds;
    qsort(f, (size_t)s->seeds, sizeof *f, compare_doubles);
    double median = 0.5 * (f[(s->seeds - 1) / 2] + f[s->seeds / 2]);
    printf("%-15s %-40s %12.6g %12.6g %12.6g %5ld/%ld %9.2f\n", problem->name, method, f[0], median,
           f[s->seeds - 1], solved, s->seeds, seconds);
    fflush(stdout);
    return 0;
}

/* ---- the command line ---- */

static int read_arguments(int argc, char **argv, settings *s, const char **backend)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strncmp(word, "--", 2) != 0) {
            if (s->n_methods < METHODS_MAX)
                s->methods[s->n_methods++] = argv[i];
            continue;
        }
        if (i + 1 == argc)
            return complain("a value is wanted behind", word);
        const char *value = argv[++i];
        if (strcmp(word, "--seeds") == 0)
            s->seeds = strtol(value, NULL, 10);
        else if (strcmp(word, "--evaluations") == 0)
            s->evaluations = strtol(value, NULL, 10);
        else if (strcmp(word, "--backend") == 0)
            *backend = value;
        else if (strcmp(word, "--problem") == 0 && s->n_problems < PROBLEMS_MAX)
            s->problems[s->n_problems++] = value;
        else
            return complain("unknown flag", word);
    }
    if (s->seeds < 1 || s->seeds > SEEDS_MAX || s->evaluations < 1)
        return complain("1 to 1000 seeds and at least one evaluation are wanted", "--seeds");
    return s->n_methods > 0 ? 0 : complain("methods are wanted, such as", "lshade");
}

int main(int argc, char **argv)
{
    settings s = {.seeds = 25, .evaluations = 150000};
    const char *backend = "cpu";
    int failed = read_arguments(argc, argv, &s, &backend);
    ec_backend_info info = {.name = backend};

    if (failed)
        return 2;
    if (s.n_problems == 0)
        for (const ec_problem *p = ec_problem_table; p->name; p++)
            s.problems[s.n_problems++] = p->name;
    if (ec_backend_create(&info, &s.backend) != EC_OK)
        return complain(ec_error_text(), backend);
    printf("%ld evaluations, %ld seeds, %s\n%-15s %-40s %12s %12s %12s %8s %9s\n", s.evaluations,
           s.seeds, s.backend->device, "problem", "method", "best", "median", "worst", "solved",
           "s a run");
    for (int k = 0; k < s.n_problems && !failed; k++) {
        const ec_problem *problem = ec_problem_find(s.problems[k]);
        if (!problem)
            failed = complain("unknown problem", s.problems[k]);
        for (int m = 0; m < s.n_methods && !failed; m++)
            failed = compete(&s, problem, s.methods[m]);
    }
    ec_backend_destroy(&s.backend);
    return failed;
}
