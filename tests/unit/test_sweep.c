/* test_sweep.c: plans decode to the values that were asked for; a table is resumed by content, so
 * that exactly what lacks is evaluated; rows of other expressions are refused. */
#include "evaluator.h"
#include "hash.h"
#include "sweep_table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

/* ---- a model that counts its designs: y = a + 10 b, NaN where fail is set and a < 0.1 ---- */

typedef struct counter {
    size_t *designs, *runs;
    bool fail;
} counter;

typedef struct counting {
    ec_evaluator head;
    const counter *config;
} counting;

static int counting_plan(ec_backend *backend, const ec_plan_info *info, ec_evaluator **evaluator)
{
    counting *c = calloc(1, sizeof *c);

    c->head.def = info->call->def;
    c->head.backend = backend;
    c->config = info->call->config;
    *evaluator = &c->head;
    return EC_OK;
}

static int counting_run(ec_evaluator *evaluator, const ec_exec *exec, const ec_array *const *in,
                        ec_array *const *out, uint8_t *status, size_t n)
{
    const counter *config = ((counting *)evaluator)->config;
    const int lanes = EC_AXIS_CANDIDATE | EC_AXIS_GROUP;
    const double *a = in[0]->data, *b = in[1]->data;
    size_t at = in[0]->axes & lanes ? 1 : 0, bt = in[1]->axes & lanes ? 1 : 0;
    double *y = out[0]->data;

    (void)exec;
    *config->designs += n;
    ++*config->runs;
    for (size_t i = 0; i < n; i++) {
        y[i] = a[at * i] + 10 * b[bt * i];
        if (config->fail && a[at * i] < 0.1) {
            y[i] = (double)NAN;
            status[i] |= EC_CANDIDATE_EVALUATOR;
        }
    }
    return EC_OK;
}

static void counting_destroy(ec_evaluator **evaluator)
{
    free(*evaluator);
    *evaluator = NULL;
}

static void counting_fingerprint(const ec_call *call, int32_t output, ec_hash *hash)
{
    (void)output;
    ec_hash_integer(hash, ((const counter *)call->config)->fail);
}

static const ec_evaluator_def told = {.name = "counting",
                                      .plan = counting_plan,
                                      .run = counting_run,
                                      .destroy = counting_destroy,
                                      .config_destroy = free,
                                      .fingerprint = counting_fingerprint};
static const ec_evaluator_def untold = {.name = "counting",
                                        .plan = counting_plan,
                                        .run = counting_run,
                                        .destroy = counting_destroy,
                                        .config_destroy = free};

/* ---- problems ---- */

typedef struct problem {
    ec_graph *graph;
    ec_job *job;
    ec_backend *backend;
    ec_expr a, b;
    size_t designs, runs;
} problem;

static ec_expr add_real(problem *p, const char *name, double min, double max)
{
    ec_variable_info info = {.name = name, .kind = EC_VARIABLE_REAL, .min = &min, .max = &max};
    int v = ec_job_add_variable(p->job, &info);

    assert_true(v >= 0);
    return ec_job_variable(p->job, v)->value;
}

static void open_problem(problem *p, int threads)
{
    ec_backend_info backend = {.name = "cpu", .threads = threads};

    memset(p, 0, sizeof *p);
    assert_int_equal(ec_graph_create(&p->graph), EC_OK);
    assert_int_equal(ec_job_create(p->graph, "test", 1, &p->job), EC_OK);
    assert_int_equal(ec_backend_create(&backend, &p->backend), EC_OK);
}

/* a in [0, 1], b in [0, top]; the objective is the counted y, the record factor * a. */
static void create(problem *p, const ec_evaluator_def *def, double top, double factor, bool fail)
{
    ec_call_output output = {.name = "y", .dtype = EC_F64, .range = {-INFINITY, INFINITY}};
    counter *config = calloc(1, sizeof *config);
    ec_call *call = NULL;

    open_problem(p, 2);
    p->a = add_real(p, "a", 0, 1);
    p->b = add_real(p, "b", 0, top);
    ec_expr in[2] = {p->a, p->b};
    *config = (counter){&p->designs, &p->runs, fail};
    assert_int_equal(ec_graph_call(p->graph, def, config, 2, in, &call), EC_OK);
    assert_int_equal(
        ec_job_add_objective(p->job, "y", ec_graph_call_output(p->graph, call, &output), false, 0),
        EC_OK);
    ec_expr copy = ec_graph_binary(p->graph, EC_OP_MUL, p->a, ec_graph_number(p->graph, factor));
    assert_int_equal(ec_job_add_record(p->job, "copy", copy, 0), EC_OK);
}

static void destroy(problem *p)
{
    ec_job_destroy(&p->job);
    ec_graph_destroy(&p->graph);
    ec_backend_destroy(&p->backend);
}

static double *spaced(double *to, int n, double lo, double hi)
{
    for (int i = 0; i < n; i++)
        to[i] = i == n - 1 ? hi : lo + (hi - lo) * i / (n - 1);
    return to;
}

static ec_sweep_plan *grid(const problem *p, int na, int nb)
{
    static double a[1000], b[1000];
    ec_sweep_axis axes[2] = {{0, -1, na, spaced(a, na, 0, 1)}, {1, -1, nb, spaced(b, nb, 0, 1)}};
    ec_sweep_plan *plan = NULL;

    assert_int_equal(ec_sweep_grid(p->job, 2, axes, &plan), EC_OK);
    return plan;
}

/* Destroys the plan. folder NULL: no table. */
static ec_sweep *run(problem *p, ec_sweep_plan *plan, const char *folder, uint64_t script,
                     bool fresh, int *status)
{
    ec_store *kept = NULL;
    ec_sweep_table *table = NULL;
    ec_sweep *s = NULL;

    if (folder) {
        assert_int_equal(ec_store_open(folder, EC_STORE_WRITE, NULL, &kept), EC_OK);
        ec_sweep_table_info table_info = {kept, "sweep", folder, script, fresh, 0, NULL};
        assert_int_equal(ec_sweep_table_create(&table_info, &table), EC_OK);
    }
    ec_sweep_info info = {
        .plan = plan, .fidelity = EC_FINAL, .store = table ? ec_sweep_table_store(table) : NULL};
    p->designs = 0;
    *status = ec_sweep_run(p->job, p->backend, &info, &s);
    assert_int_equal(ec_sweep_table_destroy(&table), EC_OK);
    ec_store_close(&kept);
    ec_sweep_plan_destroy(&plan);
    return s;
}

static char *new_folder(void)
{
    static char folder[64];

    snprintf(folder, sizeof folder, "/tmp/eciton_sweep.XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static void remove_folder(const char *folder)
{
    char path[200];

    snprintf(path, sizeof path, "%s/sweep.csv", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/run.db", folder);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- plans ---- */

static void test_grid_of_every_kind(void **state)
{
    problem p;
    double lo = 0, hi = 1, whole_lo = 4, whole_hi = 6, mid = 0.25;
    ec_variable_info r = {
        .name = "r", .kind = EC_VARIABLE_REAL, .min = &lo, .max = &hi, .start = &mid, .n_start = 1};
    ec_variable_info n = {
        .name = "n", .kind = EC_VARIABLE_INTEGER, .min = &whole_lo, .max = &whole_hi};
    ec_variable_info c = {.name = "c", .kind = EC_VARIABLE_CHOICE, .n_from = 3, .sum = -1};
    ec_variable_info bits = {.name = "bits", .kind = EC_VARIABLE_BINARY, .count = 2, .sum = -1};
    ec_sweep_plan *plan = NULL;
    int status;

    (void)state;
    open_problem(&p, 1);
    assert_int_equal(ec_job_add_variable(p.job, &r), 0);
    assert_int_equal(ec_job_add_variable(p.job, &n), 1);
    assert_int_equal(ec_job_add_variable(p.job, &c), 2);
    assert_int_equal(ec_job_add_variable(p.job, &bits), 3);
    ec_expr value = ec_job_variable(p.job, 1)->value;
    assert_int_equal(ec_job_add_record(p.job, "n2", value, 0), EC_OK);
    double whole[] = {4, 5, 6}, index[] = {1, 3}, bit[] = {0, 1};
    ec_sweep_axis axes[3] = {{1, -1, 3, whole}, {2, -1, 2, index}, {3, 1, 2, bit}};
    assert_int_equal(ec_sweep_grid(p.job, 3, axes, &plan), EC_OK);
    assert_int_equal(plan->n, 12);
    assert_int_equal(plan->axis_length[2], 2);
    assert_string_equal(plan->axis_name[2], "bits[2]");
    ec_sweep *s = run(&p, plan, NULL, 0, false, &status);
    assert_int_equal(status, EC_OK);
    assert_int_equal(s->n_variable_columns, 5);
    for (size_t i = 0; i < 12; i++) {
        assert_true(ec_sweep_value(s, 0, i) == 0.25); /* its start */
        assert_true(ec_sweep_value(s, 1, i) == whole[i / 4]);
        assert_true(ec_sweep_value(s, 2, i) == index[i / 2 % 2]);
        assert_true(ec_sweep_value(s, 4, i) == bit[i % 2]);
        assert_true(ec_sweep_value(s, 5, i) == whole[i / 4]); /* the record */
    }
    assert_string_equal(s->columns[4].name, "bits[2]");
    ec_sweep_destroy(&s);
    /* one at a time: the base, then 3 + 2 + 2 */
    assert_int_equal(ec_sweep_one_at_a_time(p.job, 3, axes, &plan), EC_OK);
    assert_int_equal(plan->n, 8);
    s = run(&p, plan, NULL, 0, false, &status);
    assert_true(ec_sweep_value(s, 1, 1) == 4 && ec_sweep_value(s, 1, 3) == 6);
    assert_true(ec_sweep_value(s, 1, 4) == ec_sweep_value(s, 1, 0));
    assert_true(ec_sweep_value(s, 2, 4) == 1 && ec_sweep_value(s, 2, 5) == 3);
    ec_sweep_destroy(&s);
    double bad[] = {0, 7};
    ec_sweep_axis outside = {1, -1, 2, bad};
    assert_int_equal(ec_sweep_grid(p.job, 1, &outside, &plan), EC_ERR_RANGE);
    assert_non_null(strstr(ec_error_text(), "variable 'n': value 0"));
    ec_sweep_axis twice[2] = {axes[0], axes[0]};
    assert_true(ec_sweep_grid(p.job, 2, twice, &plan) < 0);
    assert_non_null(strstr(ec_error_text(), "'n' is given twice"));
    destroy(&p);
}

/* Positions, bits with a sum and distinct choices: whole designs come back as they were given, and
 * samples keep what the variables promise. */
static void test_dependent_elements(void **state)
{
    problem p;
    ec_variable_info x = {
        .name = "x", .kind = EC_VARIABLE_SPACED, .count = 4, .aperture = 4, .min_gap = 1};
    ec_variable_info on = {.name = "on", .kind = EC_VARIABLE_BINARY, .count = 3, .sum = 2};
    ec_variable_info c = {.name = "c",
                          .kind = EC_VARIABLE_CHOICE,
                          .count = 2,
                          .n_from = 3,
                          .distinct = true,
                          .sum = -1};
    ec_sweep_plan *plan = NULL;
    int status;

    (void)state;
    open_problem(&p, 1);
    assert_int_equal(ec_job_add_variable(p.job, &x), 0);
    assert_int_equal(ec_job_add_variable(p.job, &on), 1);
    assert_int_equal(ec_job_add_variable(p.job, &c), 2);
    assert_int_equal(ec_job_add_record(p.job, "x2", ec_job_variable(p.job, 0)->value, 0), EC_OK);
    double places[] = {-2, -1, 0.25, 2, -2, -0.5, 0.75, 2}, bits[] = {1, 0, 1, 0, 1, 1};
    double chosen[] = {3, 1, 2, 3};
    ec_sweep_axis axes[3] = {{0, -1, 2, places}, {1, -1, 2, bits}, {2, -1, 2, chosen}};
    assert_int_equal(ec_sweep_grid(p.job, 3, axes, &plan), EC_OK);
    assert_int_equal(plan->n, 8);
    ec_sweep *s = run(&p, plan, NULL, 0, false, &status);
    assert_int_equal(status, EC_OK);
    for (size_t i = 0; i < 8; i++) {
        for (int e = 0; e < 4; e++)
            assert_true(fabs(ec_sweep_value(s, e, i) - places[i / 4 * 4 + (size_t)e]) < 1e-12);
        for (int e = 0; e < 3; e++)
            assert_true(ec_sweep_value(s, 4 + e, i) == bits[i / 2 % 2 * 3 + (size_t)e]);
        for (int e = 0; e < 2; e++)
            assert_true(ec_sweep_value(s, 7 + e, i) == chosen[i % 2 * 2 + (size_t)e]);
    }
    ec_sweep_destroy(&s);
    ec_sampling_info sampling = {.method = EC_SAMPLING_LHS, .n = 200, .seed = 3};
    assert_int_equal(ec_sweep_sample(p.job, &sampling, 0, NULL, &plan), EC_OK);
    s = run(&p, plan, NULL, 0, false, &status);
    for (size_t i = 0; i < 200; i++) {
        for (int e = 1; e < 4; e++)
            assert_true(ec_sweep_value(s, e, i) - ec_sweep_value(s, e - 1, i) > 1 - 1e-12);
        assert_true(ec_sweep_value(s, 4, i) + ec_sweep_value(s, 5, i) + ec_sweep_value(s, 6, i) ==
                    2);
        assert_true(ec_sweep_value(s, 7, i) != ec_sweep_value(s, 8, i));
    }
    ec_sweep_destroy(&s);
    ec_sweep_axis one = {0, 1, 2, places};
    assert_int_equal(ec_sweep_grid(p.job, 1, &one, &plan), EC_ERR_UNSUPPORTED);
    assert_non_null(strstr(ec_error_text(), "x[2] cannot vary by itself"));
    double column[] = {-2, -2, -2};
    ec_sweep_axis list[2] = {{0, 0, 3, column}, {0, 1, 3, column}};
    assert_int_equal(ec_sweep_list(p.job, 2, list, &plan), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "'x' has 4 elements, 2 of them have a column"));
    destroy(&p);
}

static void test_too_many(void **state)
{
    problem p;
    static double values[100000];
    ec_sweep_axis axes[2] = {{0, -1, 100000, values}, {1, -1, 100000, values}};
    ec_sweep_plan *plan = NULL;

    (void)state;
    create(&p, &told, 1, 1, false);
    assert_int_equal(ec_sweep_grid(p.job, 2, axes, &plan), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "1e+10 designs are too many, allowed are 100000000"));
    assert_null(plan);
    destroy(&p);
}

/* ---- content ---- */

/* Equal designs of a list are evaluated once, and each has its values. */
static void test_equal_designs(void **state)
{
    problem p;
    double a[] = {0.5, 0.25, 0.5, -0.0, 0.0, 0.25};
    ec_sweep_axis list = {0, -1, 6, a};
    ec_sweep_plan *plan = NULL;
    int status;

    (void)state;
    create(&p, &told, 1, 1, false);
    assert_int_equal(ec_sweep_list(p.job, 1, &list, &plan), EC_OK);
    ec_sweep *s = run(&p, plan, NULL, 0, false, &status);
    assert_int_equal(s->distinct, 3);
    assert_int_equal(p.designs, 3);
    for (size_t i = 0; i < 6; i++) {
        assert_true(ec_sweep_value(s, 2, i) == a[i] + 5); /* b in the middle */
        assert_int_equal(s->state[i], EC_SWEEP_RUN);
    }
    ec_sweep_destroy(&s);
    destroy(&p);
}

static void change_store(const char *folder, const char *sql)
{
    char path[100];
    sqlite3 *db = NULL;

    snprintf(path, sizeof path, "%s/run.db", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static size_t count_lines(const char *folder)
{
    char path[100], line[1000];
    size_t n = 0;

    snprintf(path, sizeof path, "%s/sweep.csv", folder);
    FILE *file = fopen(path, "r");
    while (fgets(line, sizeof line, file))
        n++;
    fclose(file);
    return n;
}

static void assert_same(const ec_sweep *a, const ec_sweep *b)
{
    assert_int_equal(a->n, b->n);
    for (int32_t c = 0; c < a->n_columns; c++)
        for (size_t i = 0; i < a->n; i++) {
            double x = ec_sweep_value(a, c, i), y = ec_sweep_value(b, c, i);
            assert_true(memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y)));
        }
    assert_memory_equal(a->status, b->status, a->n);
}

/* A table that lacks 100 of 10,000 rows costs 100 designs. */
static void test_resumes_by_content(void **state)
{
    problem p;
    int status;
    const char *folder = new_folder();

    (void)state;
    create(&p, &told, 1, 1, true);
    ec_sweep *whole = run(&p, grid(&p, 100, 100), folder, 0, false, &status);
    assert_int_equal(status, EC_OK);
    assert_int_equal(p.designs, 10000);
    assert_int_equal(whole->failed, 1000); /* a < 0.1 */
    assert_int_equal(whole->by_bit[2], 1000);
    assert_int_equal(count_lines(folder), 10001);
    change_store(folder, "DELETE FROM rows_1 WHERE id % 100 = 37");
    ec_sweep *again = run(&p, grid(&p, 100, 100), folder, 0, false, &status);
    assert_int_equal(status, EC_OK);
    assert_int_equal(p.designs, 100);
    assert_int_equal(again->found, 9900);
    assert_int_equal(again->run, 100);
    assert_int_equal(again->failed, 1000);
    assert_same(whole, again);
    assert_int_equal(count_lines(folder), 10001);
    ec_sweep_destroy(&again);
    again = run(&p, grid(&p, 100, 100), folder, 0, false, &status);
    assert_int_equal(p.designs, 0);
    assert_same(whole, again);
    ec_sweep_destroy(&again);
    /* another plan takes what it shares: 34 x 34 of every third value */
    again = run(&p, grid(&p, 34, 34), folder, 0, false, &status);
    assert_int_equal(again->found + again->run, 34 * 34);
    assert_true(again->found >= 34 * 34 / 2); /* thirds are not always the same bits */
    ec_sweep_destroy(&again);
    ec_sweep_destroy(&whole);
    destroy(&p);
    remove_folder(folder);
}

/* Rows of other expressions, bounds, models, columns or scripts are refused with the reason. */
static void test_refuses_other_tables(void **state)
{
    problem p;
    int status;
    const char *folder = new_folder();

    (void)state;
    create(&p, &told, 1, 1, false);
    ec_sweep *s = run(&p, grid(&p, 3, 3), folder, 5, false, &status);
    assert_int_equal(status, EC_OK);
    ec_sweep_destroy(&s);
    destroy(&p);
    static const struct {
        const ec_evaluator_def *def;
        double top, factor;
        bool fail;
        const char *expected; /* NULL: rows are taken */
    } cases[] = {{&told, 1, 1, false, NULL},
                 {&told, 1, 2, false, "another recorded copy"},
                 {&told, 2, 1, false, "another variable b"},
                 {&told, 1, 1, true, "another objective y"},
                 {&untold, 1, 1, false, "another objective y"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        create(&p, cases[i].def, cases[i].top, cases[i].factor, cases[i].fail);
        /* another script: only evaluators that cannot tell their configuration care */
        s = run(&p, grid(&p, 3, 3), folder, 6, false, &status);
        if (cases[i].expected) {
            assert_int_equal(status, EC_ERR_FORMAT);
            assert_non_null(strstr(ec_error_text(), cases[i].expected));
            assert_non_null(strstr(ec_error_text(), "give another --out or name, or fresh = true"));
        } else {
            assert_int_equal(s->found, 9);
        }
        assert_int_equal(p.designs, 0);
        ec_sweep_destroy(&s);
        destroy(&p);
    }
    create(&p, &told, 1, 1, false);
    ec_sweep_plan *plan = grid(&p, 3, 3); /* before the record: plans know genes only */
    assert_int_equal(ec_job_add_record(p.job, "more", p.b, 0), EC_OK);
    s = run(&p, plan, folder, 5, false, &status);
    assert_int_equal(status, EC_ERR_FORMAT);
    assert_non_null(strstr(ec_error_text(), "have other variables, objectives, constraints or "
                                            "recorded quantities than this sweep"));
    s = run(&p, grid(&p, 3, 3), folder, 5, true, &status); /* fresh */
    assert_int_equal(status, EC_OK);
    assert_int_equal(s->run, 9);
    ec_sweep_destroy(&s);
    assert_int_equal(count_lines(folder), 10);
    change_store(folder, "UPDATE sweep SET origin = replace(origin, 'version: ', 'version: 9.');"
                         "DELETE FROM seal"); /* by which such a change is known as damage */
    s = run(&p, grid(&p, 3, 3), folder, 5, false, &status);
    assert_int_equal(status, EC_ERR_FORMAT);
    assert_non_null(strstr(ec_error_text(), "have version 9."));
    destroy(&p);
    remove_folder(folder);
}

/* What is written comes back to the bit. */
static void test_numbers_come_back(void **state)
{
    problem p;
    static const double numbers[] = {0,         -1,       1.0 / 3, 1e-310,           -2.5e300,
                                     123456789, 1e15 + 1, 0x1p53,  -999999999999999, 1e22};
    enum { N = sizeof numbers / sizeof *numbers };
    const char *folder = new_folder();
    int status;
    double lo = -1e301, hi = 1e301;
    ec_variable_info info = {.name = "v", .kind = EC_VARIABLE_REAL, .min = &lo, .max = &hi};

    (void)state;
    open_problem(&p, 1);
    assert_int_equal(ec_job_add_variable(p.job, &info), 0);
    ec_expr v = ec_job_variable(p.job, 0)->value;
    ec_expr root = ec_graph_unary(p.graph, EC_OP_SQRT, v); /* NaN of negative ones */
    assert_int_equal(ec_job_add_record(p.job, "v, \"again\"", v, 0), EC_OK);
    assert_int_equal(ec_job_add_record(p.job, "root", root, 0), EC_OK);
    ec_sweep *s[2];
    for (int i = 0; i < 2; i++) {
        ec_sweep_axis list = {0, -1, N, numbers};
        ec_sweep_plan *plan = NULL;
        assert_int_equal(ec_sweep_list(p.job, 1, &list, &plan), EC_OK);
        s[i] = run(&p, plan, folder, 0, false, &status);
        assert_int_equal(status, EC_OK);
    }
    assert_int_equal(s[1]->found, N);
    for (size_t i = 0; i < N; i++)
        assert_true(ec_sweep_value(s[1], 1, i) == numbers[i]);
    assert_same(s[0], s[1]);
    ec_sweep_destroy(&s[0]);
    ec_sweep_destroy(&s[1]);
    destroy(&p);
    remove_folder(folder);
}

/* ---- running ---- */

/* A variable that is shared by a group is computed once for neighbours that share its value. */
static void test_groups(void **state)
{
    problem p;
    double lo = 0, hi = 1;
    size_t designs = 0, runs = 0;
    ec_variable_info shared = {
        .name = "g", .kind = EC_VARIABLE_REAL, .min = &lo, .max = &hi, .group = true};
    ec_call_output output = {.name = "y", .dtype = EC_F64, .range = {-INFINITY, INFINITY}};
    counter *config = calloc(1, sizeof *config);
    ec_call *call = NULL;
    int status;

    (void)state;
    open_problem(&p, 1);
    assert_int_equal(ec_job_add_variable(p.job, &shared), 0);
    ec_expr g = ec_job_variable(p.job, 0)->value, a = add_real(&p, "a", 0, 1);
    ec_expr in[2] = {g, g};
    *config = (counter){&designs, &runs, false};
    assert_int_equal(ec_graph_call(p.graph, &told, config, 2, in, &call), EC_OK);
    ec_expr y = ec_graph_call_output(p.graph, call, &output); /* 11 g */
    assert_int_equal(
        ec_job_add_objective(p.job, "y", ec_graph_binary(p.graph, EC_OP_ADD, y, a), false, 0),
        EC_OK);
    assert_int_equal(ec_job_add_record(p.job, "group", y, 0), EC_OK);
    double values[20];
    ec_sweep_axis axes[2] = {{0, -1, 5, spaced(values, 5, 0, 1)},
                             {1, -1, 20, spaced(values, 20, 0, 1)}};
    double five[5];
    axes[0].values = spaced(five, 5, 0, 1);
    ec_sweep_plan *plan = NULL;
    assert_int_equal(ec_sweep_grid(p.job, 2, axes, &plan), EC_OK);
    ec_sweep *s = run(&p, plan, NULL, 0, false, &status);
    assert_int_equal(status, EC_OK);
    assert_int_equal(s->n, 100);
    assert_int_equal(designs, 5);
    for (size_t i = 0; i < 100; i++) {
        assert_true(fabs(ec_sweep_value(s, 2, i) - (11 * five[i / 20] + values[i % 20])) < 1e-12);
        assert_true(fabs(ec_sweep_value(s, 3, i) - 11 * five[i / 20]) < 1e-12);
    }
    ec_sweep_destroy(&s);
    destroy(&p);
}

static void test_same_bits(void **state)
{
    problem p;
    ec_sweep *s[3];
    static const size_t chunks[] = {0, 32, 0};
    static const int threads[] = {1, 2, 3};

    (void)state;
    for (int i = 0; i < 3; i++) {
        open_problem(&p, threads[i]);
        ec_expr a = add_real(&p, "a", 0, 1), b = add_real(&p, "b", 0, 1);
        ec_expr y = ec_graph_binary(p.graph, EC_OP_POW, ec_graph_unary(p.graph, EC_OP_EXP, a), b);
        assert_int_equal(ec_job_add_objective(p.job, "y", y, true, 0), EC_OK);
        ec_sampling_info sampling = {.method = EC_SAMPLING_SOBOL, .n = 5000, .seed = 3};
        ec_sweep_plan *plan = NULL;
        assert_int_equal(ec_sweep_sample(p.job, &sampling, 0, NULL, &plan), EC_OK);
        ec_sweep_info info = {.plan = plan, .chunk = chunks[i]};
        assert_int_equal(ec_sweep_run(p.job, p.backend, &info, &s[i]), EC_OK);
        s[i]->job = NULL; /* destroyed before it; nothing below looks */
        ec_sweep_plan_destroy(&plan);
        destroy(&p);
    }
    assert_same(s[0], s[1]);
    assert_same(s[0], s[2]);
    for (int i = 0; i < 3; i++)
        ec_sweep_destroy(&s[i]);
}

static void raise_flag(void *user, const ec_sweep *sweep, double seconds, double left)
{
    (void)seconds;
    (void)left;
    if (sweep->run >= 500)
        *(volatile int *)user = 1;
}

/* An interrupt keeps the rows so far. */
static void test_interrupt(void **state)
{
    problem p;
    volatile int flag = 0;
    ec_sweep *s = NULL;
    size_t open = 0;

    (void)state;
    create(&p, &told, 1, 1, false);
    ec_sweep_plan *plan = grid(&p, 100, 100);
    ec_sweep_info info = {.plan = plan,
                          .interrupt = &flag,
                          .progress = raise_flag,
                          .progress_user = (void *)(uintptr_t)&flag};
    assert_int_equal(ec_sweep_run(p.job, p.backend, &info, &s), EC_OK);
    assert_int_equal(s->stop, EC_STOP_INTERRUPT);
    assert_true(s->run >= 500 && s->run < 10000);
    assert_non_null(strstr(s->message, "interrupted after"));
    for (size_t i = 0; i < s->n; i++)
        open += s->state[i] == EC_SWEEP_OPEN;
    assert_int_equal(open + s->run, 10000);
    ec_sweep_destroy(&s);
    ec_sweep_plan_destroy(&plan);
    destroy(&p);
}

/* The best row of those that did not fail; feasible ones first. */
static void test_best(void **state)
{
    problem p;
    int status;
    size_t row;

    (void)state;
    create(&p, &told, 1, 1, true);
    ec_constraint limit = {.expr = p.b, .min = 0.45, .max = INFINITY, .tolerance = 0, .scale = 1};
    assert_int_equal(ec_job_add_constraint(p.job, "b", &limit), EC_OK);
    ec_sweep *s = run(&p, grid(&p, 11, 11), NULL, 0, false, &status);
    int32_t y = ec_sweep_find(s, EC_SWEEP_OBJECTIVE, 0);
    assert_true(ec_sweep_best(s, y, false, &row));
    assert_true(fabs(ec_sweep_value(s, y, row) - 5.1) < 1e-12); /* a 0.1, b 0.5 */
    assert_true(ec_sweep_best(s, y, true, &row));
    assert_int_equal(row, 120);
    assert_string_equal(s->columns[ec_sweep_find(s, EC_SWEEP_CONSTRAINT, 0)].name, "constraint:b");
    ec_sweep_destroy(&s);
    destroy(&p);
}

static void test_reasons(void **state)
{
    char text[100];

    (void)state;
    ec_sweep_reason(EC_CANDIDATE_EVALUATOR | EC_CANDIDATE_OVERFLOW, text, sizeof text);
    assert_string_equal(text, "evaluator+overflow");
    ec_sweep_reason(0, text, sizeof text);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_of_every_kind),
        cmocka_unit_test(test_dependent_elements),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_equal_designs),
        cmocka_unit_test(test_resumes_by_content),
        cmocka_unit_test(test_refuses_other_tables),
        cmocka_unit_test(test_numbers_come_back),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_reasons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
