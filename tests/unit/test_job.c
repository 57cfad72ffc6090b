/* test_job.c: variables decode as they promise, start designs come back as the values that were
 * given, goals and constraints become the cost and the violation, mistakes get a sentence. */
#include "executor.h"
#include "job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    ec_graph *graph;
    ec_job *job;
    ec_backend *backend;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    ec_backend_info info = {.name = "cpu", .threads = 1};

    if (!f || ec_graph_create(&f->graph) != EC_OK ||
        ec_job_create(f->graph, "test", 7, &f->job) != EC_OK ||
        ec_backend_create(&info, &f->backend) != EC_OK)
        return -1;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    ec_job_destroy(&f->job);
    ec_graph_destroy(&f->graph);
    ec_backend_destroy(&f->backend);
    free(f);
    return 0;
}

/* Decoded value of variable v at genes. */
static void decode(fixture *f, int v, const double *genes, double *value)
{
    ec_expr expr = ec_job_variable(f->job, v)->value;
    double *out[1] = {value};

    assert_int_equal(ec_evaluate_once(f->graph, f->backend, EC_SEARCH, 1, &expr, genes,
                                      (size_t)ec_job_gene_count(f->job), NULL, 0, out, NULL, NULL),
                     EC_OK);
}

static double scalar(fixture *f, ec_expr expr, const double *genes)
{
    double value;
    double *out[1] = {&value};

    assert_true(expr >= 0);
    assert_int_equal(ec_evaluate_once(f->graph, f->backend, EC_FINAL, 1, &expr, genes,
                                      (size_t)ec_job_gene_count(f->job), NULL, 0, out, NULL, NULL),
                     EC_OK);
    return value;
}

/* The call failed, and its sentence has this in it. */
static void assert_refused(int status, const char *words)
{
    assert_true(status < 0);
    if (!strstr(ec_error_text(), words))
        fail_msg("'%s' is not in '%s'", words, ec_error_text());
}

static void test_real(void **state)
{
    fixture *f = *state;
    double min[2] = {-1, 2}, max[2] = {1, 5}, start[4] = {0.5, 3, -1, 5}, value[2], genes[2];
    ec_variable_info info = {.name = "x",
                             .kind = EC_VARIABLE_REAL,
                             .count = 2,
                             .min = min,
                             .max = max,
                             .start = start,
                             .n_start = 2};

    assert_int_equal(ec_job_add_variable(f->job, &info), 0);
    assert_int_equal(ec_job_gene_count(f->job), 2);
    assert_int_equal(ec_job_start_count(f->job), 2);
    ec_job_start_genes(f->job, 1, genes);
    decode(f, 0, genes, value);
    assert_true(value[0] == -1 && value[1] == 5);
    bool integral[2] = {true, true};
    double lo[2], hi[2];
    ec_job_gene_bounds(f->job, false, lo, hi, integral);
    assert_true(lo[0] == -1 && hi[1] == 5 && !integral[0]);
}

static void test_integer(void **state)
{
    fixture *f = *state;
    double min = -2, max = 3, start = 3, value, lo, hi;
    ec_variable_info info = {.name = "n",
                             .kind = EC_VARIABLE_INTEGER,
                             .min = &min,
                             .max = &max,
                             .start = &start,
                             .n_start = 1};
    double genes[][2] = {{-2.5, -2}, {-1.51, -2}, {-1.49, -1}, {0.2, 0}, {2.7, 3}, {3.5, 3}};

    assert_int_equal(ec_job_add_variable(f->job, &info), 0);
    ec_job_gene_bounds(f->job, false, &lo, &hi, NULL);
    assert_true(lo == -2.5 && hi == 3.5);
    for (size_t i = 0; i < sizeof genes / sizeof *genes; i++) {
        decode(f, 0, genes[i], &value);
        assert_true(value == genes[i][1]);
    }
    double gene;
    ec_job_start_genes(f->job, 0, &gene);
    decode(f, 0, &gene, &value);
    assert_true(value == 3);
}

static void test_binary(void **state)
{
    fixture *f = *state;
    double start[5] = {1, 0, 0, 1, 0}, value[5], genes[10];
    ec_variable_info free_bits = {.name = "b", .kind = EC_VARIABLE_BINARY, .count = 5, .sum = -1};
    ec_variable_info two = {.name = "two",
                            .kind = EC_VARIABLE_BINARY,
                            .count = 5,
                            .sum = 2,
                            .start = start,
                            .n_start = 1};
    double g[10] = {0.49, 0.5, 1, 0, 0.7, 0.1, 0.9, 0.3, 0.2, 0.8};

    assert_int_equal(ec_job_add_variable(f->job, &free_bits), 0);
    assert_int_equal(ec_job_add_variable(f->job, &two), 1);
    decode(f, 0, g, value);
    assert_memory_equal(value, ((double[]){0, 1, 1, 0, 1}), sizeof value);
    decode(f, 1, g, value);
    assert_memory_equal(value, ((double[]){0, 1, 0, 0, 1}), sizeof value);
    ec_job_start_genes(f->job, 0, genes);
    decode(f, 1, genes, value);
    assert_memory_equal(value, start, sizeof value);
}

static void test_choice(void **state)
{
    fixture *f = *state;
    double start[3] = {7, 1, 4}, value[3], genes[4], plain;
    ec_variable_info one = {.name = "one", .kind = EC_VARIABLE_CHOICE, .n_from = 4};
    ec_variable_info three = {.name = "three",
                              .kind = EC_VARIABLE_CHOICE,
                              .count = 3,
                              .n_from = 7,
                              .distinct = true,
                              .start = start,
                              .n_start = 1};

    assert_int_equal(ec_job_add_variable(f->job, &one), 0);
    assert_int_equal(ec_job_add_variable(f->job, &three), 1);
    double g[4] = {4, 0, 0, 0}; /* the upper bound is still the last item */
    decode(f, 0, g, &plain);
    assert_true(plain == 4);
    g[0] = 1.99;
    decode(f, 0, g, &plain);
    assert_true(plain == 2);
    ec_job_start_genes(f->job, 0, genes);
    decode(f, 1, genes, value);
    assert_memory_equal(value, start, sizeof value);
    /* no index twice, whatever the genes */
    double hi[4];
    ec_job_gene_bounds(f->job, false, NULL, hi, NULL);
    for (int trial = 0; trial < 200; trial++) {
        for (int i = 0; i < 4; i++)
            g[i] = hi[i] * ((trial * (7 + 4 * i)) % 101) / 100.0;
        decode(f, 1, g, value);
        for (int i = 0; i < 3; i++) {
            assert_true(value[i] >= 1 && value[i] <= 7);
            for (int k = 0; k < i; k++)
                assert_true(value[i] != value[k]);
        }
    }
}

static void check_spaced(fixture *f, int v, const double *genes, int count, double aperture,
                         double gap, bool symmetric)
{
    double x[64];

    decode(f, v, genes, x);
    assert_true(x[0] == -aperture / 2 && x[count - 1] == aperture / 2);
    for (int i = 0; i + 1 < count; i++)
        assert_true(x[i + 1] - x[i] >= gap * (1 - 1e-12));
    for (int i = 0; symmetric && i < count; i++)
        assert_true(x[i] == -x[count - 1 - i]);
}

static void test_spaced(void **state)
{
    static const struct {
        int count;
        double aperture, gap;
        bool symmetric;
        int genes;
    } cases[] = {{17, 9.744, 0.5, false, 15}, {37, 21.996, 0.5, true, 17}, {8, 4, 0.5, true, 3},
                 {3, 2, 0.1, false, 1},       {5, 3, 0, true, 1},          {6, 2.5, 0.5, false, 4},
                 {2, 1, 0.5, false, 0},       {2, 1, 0.5, true, 0}};
    fixture *f = *state;
    double genes[128];
    char name[8] = "x0";

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ec_variable_info info = {.name = name,
                                 .kind = EC_VARIABLE_SPACED,
                                 .count = cases[c].count,
                                 .aperture = cases[c].aperture,
                                 .min_gap = cases[c].gap,
                                 .symmetric = cases[c].symmetric};
        name[1] = (char)('0' + c);
        int v = ec_job_add_variable(f->job, &info);
        assert_int_equal(v, (int)c);
        assert_int_equal(ec_job_variable(f->job, v)->n_genes, cases[c].genes);
    }
    assert_true(ec_job_gene_count(f->job) < 128);
    for (int trial = 0; trial < 50; trial++) {
        for (int i = 0; i < ec_job_gene_count(f->job); i++)
            genes[i] = trial == 0 ? 0 : trial == 1 ? 1 : ((trial * (13 + 6 * i)) % 97) / 96.0;
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            /* a fixed layout (no slack) has its genes at 0 */
            const ec_variable *variable = ec_job_variable(f->job, (int)c);
            double hi[128];
            ec_job_gene_bounds(f->job, false, NULL, hi, NULL);
            for (int i = 0; i < variable->n_genes; i++)
                genes[variable->first_gene + i] *= hi[variable->first_gene + i] > 0;
            check_spaced(f, (int)c, genes, cases[c].count, cases[c].aperture, cases[c].gap,
                         cases[c].symmetric);
        }
    }
}

/* The published 17-element design, in any order, comes back to 1e-9. */
static void test_spaced_start(void **state)
{
    static const double best[17] = {-4.8720, -3.8482, -3.0993, -2.3328, -1.7743, -1.2743,
                                    -0.7743, -0.2743, 0.2257,  0.7257,  1.2257,  1.7257,
                                    2.2450,  2.7450,  3.4263,  4.2417,  4.8720};
    fixture *f = *state;
    double start[17], genes[15], x[17];
    ec_variable_info info = {.name = "x",
                             .kind = EC_VARIABLE_SPACED,
                             .count = 17,
                             .aperture = 9.744,
                             .min_gap = 0.5,
                             .start = start,
                             .n_start = 1};

    for (int i = 0; i < 17; i++)
        start[i] = best[(i * 5) % 17];
    assert_int_equal(ec_job_add_variable(f->job, &info), 0);
    ec_job_start_genes(f->job, 0, genes);
    decode(f, 0, genes, x);
    for (int i = 0; i < 17; i++)
        assert_true(fabs(x[i] - best[i]) < 1e-9);

    double half[5] = {-2, -1.1, 0, 1.1, 2};
    ec_variable_info pair = {.name = "y",
                             .kind = EC_VARIABLE_SPACED,
                             .count = 5,
                             .aperture = 4,
                             .min_gap = 0.5,
                             .symmetric = true,
                             .start = half,
                             .n_start = 1};
    assert_int_equal(ec_job_add_variable(f->job, &pair), 1);
    double all[16], y[5];
    ec_job_start_genes(f->job, 0, all);
    decode(f, 1, all, y);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(y[i] - half[i]) < 1e-12);

    info.name = "z";
    start[3] += 0.01; /* now too close to a neighbour, or off the end */
    start[0] = 4.0;
    assert_refused(ec_job_add_variable(f->job, &info), "the design ends at");
    half[1] = -1.2;
    pair.name = "w";
    assert_refused(ec_job_add_variable(f->job, &pair), "mirror");
    assert_int_equal(ec_job_variable_count(f->job), 2);
    assert_int_equal(ec_job_gene_count(f->job), 16);
}

static void test_goals(void **state)
{
    fixture *f = *state;
    double min[3] = {-5, -5, -5}, max[3] = {5, 5, 5}, genes[3] = {1, 2, -4};
    ec_variable_info info = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = 3, .min = min, .max = max};

    assert_int_equal(ec_job_add_variable(f->job, &info), 0);
    ec_expr x = ec_job_variable(f->job, 0)->value;
    ec_expr sum = ec_graph_unary(f->graph, EC_OP_SUM, x);
    assert_int_equal(ec_job_add_objective(f->job, "sum", sum, true, 3), EC_OK);
    assert_true(scalar(f, ec_job_cost(f->job, 0), genes) == 1); /* -(1 + 2 - 4) */
    assert_true(ec_job_violation(f->job) == -1);

    ec_constraint c = {.expr = x, .min = -3, .max = 1.5, .tolerance = 0.25, .scale = 0.5};
    assert_int_equal(ec_job_add_constraint(f->job, "box", &c), EC_OK);
    /* element 2 is 0.25 above 1.5 + 0.25, element 3 is 0.75 below -3 - 0.25; both over 0.5 */
    assert_true(fabs(scalar(f, ec_job_violation(f->job), genes) - 2.0) < 1e-12);
    ec_constraint e = {.expr = sum, .min = 2, .max = 2, .scale = 1};
    assert_int_equal(ec_job_add_constraint(f->job, "equal", &e), EC_OK);
    assert_true(fabs(scalar(f, ec_job_violation(f->job), genes) - 5.0) < 1e-12);
    double good[3] = {1.75, 1.5, -1.25};
    assert_true(scalar(f, ec_job_violation(f->job), good) == 0);
    /* a NaN is no met constraint */
    ec_constraint n = {.expr =
                           ec_graph_unary(f->graph, EC_OP_SQRT, ec_graph_slice(f->graph, x, 0, 0)),
                       .min = 0,
                       .max = INFINITY,
                       .scale = 1};
    assert_int_equal(ec_job_add_constraint(f->job, "root", &n), EC_OK);
    good[0] = -1;
    good[2] = 1.5;
    assert_true(isnan(scalar(f, ec_job_violation(f->job), good)));
}

/* ---- start designs ---- */

static void test_start_outside(void **state)
{
    fixture *f = *state;
    double min[2] = {-1, 0}, max[2] = {1, 0}, start[4] = {0.5, 3, -7, 0}, genes[2];
    ec_variable_info x = {.name = "x",
                          .kind = EC_VARIABLE_REAL,
                          .count = 2,
                          .min = min,
                          .max = max,
                          .start = start,
                          .n_start = 2};

    assert_int_equal(ec_job_add_variable(f->job, &x), 0);
    ec_job_start_genes(f->job, 0, genes);
    assert_true(genes[0] == 0.5 && genes[1] == 0);
    ec_job_start_genes(f->job, 1, genes);
    assert_true(genes[0] == -1 && genes[1] == 0);
}

typedef struct heard {
    int lines;
    char text[400];
} heard;

static void listen(void *user, ec_log_level level, const char *text)
{
    heard *h = user;

    assert_true(level == EC_LOG_WARNING);
    h->lines++;
    snprintf(h->text, sizeof h->text, "%s", text);
}

/* x, two reals; n, an integer; "a, b" picks one of three; c is the objective. */
static void add_mixture(fixture *f)
{
    double min[2] = {-1, 0}, max[2] = {1, 4}, low = 1, high = 9;
    ec_variable_info x = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = 2, .min = min, .max = max};
    ec_variable_info n = {.name = "n", .kind = EC_VARIABLE_INTEGER, .min = &low, .max = &high};
    ec_variable_info p = {.name = "a, \"b\"", .kind = EC_VARIABLE_CHOICE, .n_from = 3};

    assert_int_equal(ec_job_add_variable(f->job, &x), 0);
    assert_int_equal(ec_job_add_variable(f->job, &n), 1);
    assert_int_equal(ec_job_add_variable(f->job, &p), 2);
    ec_expr value = ec_job_variable(f->job, 1)->value;
    assert_int_equal(ec_job_add_objective(f->job, "c", value, false, 0), EC_OK);
}

static void test_read_designs(void **state)
{
    fixture *f = *state;
    heard h = {0, ""};
    ec_log log = {EC_LOG_DEBUG, listen, &h};
    double genes[3 * 4];
    size_t n;
    static const char *const layouts[] = {
        "# rows\r\n\"a, \"\"b\"\"\"; x[2] ;n;x[1];c;status\r\n2;3;4;0.5;nan;0\r\n\r\n",
        "x,n,\"a, \"\"b\"\"\"\n0.5,4,2\n3,,\n",
        "name,index,value,kind\nc,1,nan,objective\n\"a, \"\"b\"\"\",1,2,variable\n"
        "x,2,3,variable\nx,1,0.5,variable\nn,1,4,variable",
    };

    add_mixture(f);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ec_job_read_designs(f->job, layouts[i], "f", &log, NULL, &n), EC_OK);
        assert_int_equal(n, 1);
        assert_int_equal(ec_job_read_designs(f->job, layouts[i], "f", &log, genes, &n), EC_OK);
        assert_true(genes[0] == 0.5 && genes[1] == 3 && genes[2] == 4 && genes[3] == 1.5);
    }
    assert_int_equal(h.lines, 0);
    const char *outside = "x[1],x[2],n,\"a, \"\"b\"\"\"\n0,9,1,1\n0,0,5,3\n-2,-0.5,10,2\n";
    assert_int_equal(ec_job_read_designs(f->job, outside, "f", &log, genes, &n), EC_OK);
    assert_int_equal(n, 3);
    assert_true(genes[1] == 4 && genes[8] == -1 && genes[9] == 0 && genes[10] == 9);
    assert_int_equal(h.lines, 1);
    assert_non_null(strstr(h.text, "4 values"));
    assert_non_null(strstr(h.text, "x[2] = 9 in line 2 (0 to 4)"));
}

static void test_refused_designs(void **state)
{
    fixture *f = *state;
    double genes[4];
    size_t n;
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "empty"},
        {"x[1],x[2],n,\"a, \"\"b\"\"\"\n", "no design"},
        {"x[1],n,\"a, \"\"b\"\"\"\n0,1,1\n", "no column 'x[2]'; expected are x[1] to x[2], n, a"},
        {"x[1],x[2],x[3],n\n", "column 'x[3]'"},
        {"x[1],x[1]\n", "two columns"},
        {"x,x[1]\n", "two columns"},
        {"x[1],x[2],n,\"a, \"\"b\"\"\"\n0,1,1\n", "line 2 has fewer fields"},
        {"x[1],x[2],n,\"a, \"\"b\"\"\"\n0,1,1,1,1\n", "line 2 has more fields"},
        {"x[1],x[2],n,\"a, \"\"b\"\"\"\n0,,1,1\n", "line 2: '' of column 'x[2]' is not a number"},
        {"x[1],x[2],n,\"a, \"\"b\"\"\"\n0,nan,1,1\n", "line 2: variable 'x'"},
        {"x[1],x[2],n,\"a, \"\"b\"\"\"\n0,0,1.5,1\n", "not a whole number"},
        {"x[1],x[2],n,\"a, \"\"b\"\"\"\n0,0,1,4\n", "from 1 to 3"},
        {"x,n,\"a, \"\"b\"\"\"\n0,1,1\n", "no value of 'x[2]'"},
        {"x,n,\"a, \"\"b\"\"\"\n0,1,1\n0,1,\n", "line 3: column 'n' has more values"},
        {"name,index,value,kind\nx,3,1,variable\n", "line 2: variable 'x' has no element 3"},
        {"name,index,value,kind\ny,1,1,variable\n", "column 'y'"},
    };

    add_mixture(f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(ec_job_read_designs(f->job, bad[i].text, "f", NULL, genes, &n),
                       bad[i].words);
}

static void test_refusals(void **state)
{
    fixture *f = *state;
    double min[2] = {0, 0}, max[2] = {1, 1}, bad[2] = {2, 0.5}, nan[2] = {NAN, 1};
    ec_variable_info info = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = 2, .min = min, .max = max};
    ec_variable_info v = info;

    assert_int_equal(ec_job_add_variable(f->job, &info), 0);
    assert_refused(ec_job_add_variable(f->job, &info), "twice");
    v.name = "";
    assert_refused(ec_job_add_variable(f->job, &v), "name");
    v.name = "y";
    v.min = bad;
    assert_refused(ec_job_add_variable(f->job, &v), "above max");
    v.min = nan;
    assert_refused(ec_job_add_variable(f->job, &v), "finite");
    v.min = min;
    v.count = -1;
    assert_refused(ec_job_add_variable(f->job, &v), "count");
    v.count = 2;
    v.start = nan;
    v.n_start = 1;
    assert_refused(ec_job_add_variable(f->job, &v), "not a number");
    ec_variable_info whole = {
        .name = "n", .kind = EC_VARIABLE_INTEGER, .count = 2, .min = min, .max = bad};
    whole.max = (double[]){1.5, 2};
    assert_refused(ec_job_add_variable(f->job, &whole), "whole");
    ec_variable_info bits = {.name = "b", .kind = EC_VARIABLE_BINARY, .count = 3, .sum = 4};
    assert_refused(ec_job_add_variable(f->job, &bits), "sum");
    ec_variable_info pick = {
        .name = "p", .kind = EC_VARIABLE_CHOICE, .count = 4, .n_from = 3, .distinct = true};
    assert_refused(ec_job_add_variable(f->job, &pick), "distinct");
    ec_variable_info gaps = {
        .name = "g", .kind = EC_VARIABLE_SPACED, .count = 9, .aperture = 3.9, .min_gap = 0.5};
    assert_refused(ec_job_add_variable(f->job, &gaps), "aperture");
    gaps.count = 1;
    assert_refused(ec_job_add_variable(f->job, &gaps), "count");
    assert_int_equal(ec_job_variable_count(f->job), 1);

    ec_expr x = ec_job_variable(f->job, 0)->value;
    ec_expr first = ec_graph_slice(f->graph, x, 0, 0), one = ec_graph_number(f->graph, 1);
    assert_refused(ec_job_add_objective(f->job, "f", x, false, 0), "a number is needed");
    assert_refused(ec_job_add_objective(f->job, "f", one, false, 0), "constant");
    assert_refused(ec_job_add_objective(f->job, "f", 1 << 30, false, 0), "expression");
    ec_expr z = ec_graph_binary(f->graph, EC_OP_COMPLEX, first, one);
    assert_refused(ec_job_add_objective(f->job, "f", z, false, 0), "complex");
    assert_int_equal(ec_job_add_objective(f->job, "f", first, false, 0), EC_OK);
    assert_refused(ec_job_add_record(f->job, "f", first, 0), "already");
    ec_constraint c = {.expr = first, .min = -INFINITY, .max = INFINITY, .scale = 1};
    assert_refused(ec_job_add_constraint(f->job, "c", &c), "needed");
    c.min = 2;
    c.max = 1;
    assert_refused(ec_job_add_constraint(f->job, "c", &c), "above max");
    c.max = 3;
    c.scale = 0;
    assert_refused(ec_job_add_constraint(f->job, "c", &c), "scale");
    c.scale = 1;
    c.tolerance = -1;
    assert_refused(ec_job_add_constraint(f->job, "c", &c), "tolerance");
}

/* Equal variables of two jobs on one graph are two nodes, and no job takes the other's. */
static void test_two_jobs(void **state)
{
    fixture *f = *state;
    double min = 0, max = 1;
    ec_variable_info v = {.name = "x", .kind = EC_VARIABLE_REAL, .min = &min, .max = &max};
    ec_job *other = NULL;

    assert_int_equal(ec_job_create(f->graph, "other", 7, &other), EC_OK);
    assert_int_equal(ec_job_add_variable(f->job, &v), 0);
    assert_int_equal(ec_job_add_variable(other, &v), 0);
    ec_expr own = ec_job_variable(f->job, 0)->value, foreign = ec_job_variable(other, 0)->value;
    assert_true(own != foreign);
    ec_expr sum = ec_graph_binary(f->graph, EC_OP_ADD, own, foreign);
    assert_refused(ec_job_add_objective(f->job, "f", sum, false, 0), "another job");
    assert_refused(ec_job_add_record(f->job, "r", foreign, 0), "another job");
    assert_int_equal(ec_job_add_objective(f->job, "f", own, false, 0), EC_OK);
    ec_job_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_real, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_integer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_binary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_choice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spaced_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_start_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_designs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_designs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_goals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_jobs, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
