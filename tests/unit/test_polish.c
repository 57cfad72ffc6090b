/* test_polish.c: the polish on graphs with a known solution: smooth, minimax, constrained, sorted
 * positions, each also with many genes; and what it leaves alone. */
#include "executor.h"
#include "polish.h"
#include "polish_lp.h"
#include "polish_problem.h"
#include "job_harness.h"

static ec_expr element(problem *p, int i)
{
    return ec_graph_slice(p->graph, p->x, i, 0);
}

static ec_expr number(problem *p, double value)
{
    return ec_graph_number(p->graph, value);
}

static ec_expr add(problem *p, ec_expr a, ec_expr b)
{
    return ec_graph_binary(p->graph, EC_OP_ADD, a, b);
}

static ec_expr sub(problem *p, ec_expr a, ec_expr b)
{
    return ec_graph_binary(p->graph, EC_OP_SUB, a, b);
}

static ec_expr mul(problem *p, ec_expr a, ec_expr b)
{
    return ec_graph_binary(p->graph, EC_OP_MUL, a, b);
}

static ec_expr square(problem *p, ec_expr a)
{
    return ec_graph_unary(p->graph, EC_OP_SQUARE, a);
}

static double value(problem *p, ec_expr expr, const double *genes)
{
    double v;
    double *out[1] = {&v};

    assert_int_equal(ec_evaluate_once(p->graph, p->backend, EC_FINAL, 1, &expr, genes,
                                      (size_t)ec_job_gene_count(p->job), NULL, 0, out, NULL, NULL),
                     EC_OK);
    return v;
}

static void polish(problem *p, int n, double *genes, int threads)
{
    ec_polish_info info = {.threads = threads};
    uint64_t evaluations = 0;

    int status = ec_polish(p->job, &info, n, genes, NULL, &evaluations);
    if (status != EC_OK)
        fail_msg("%s: %s", ec_status_name(status), ec_error_text());
}

static void test_smooth(void **state)
{
    problem p;
    double genes[4] = {-1.2, 1, 3, -2};

    (void)state;
    job_open_reals(&p, 2, -5, 5, 1);
    /* Rosenbrock */
    ec_expr valley =
        mul(&p, number(&p, 100), square(&p, sub(&p, element(&p, 1), square(&p, element(&p, 0)))));
    ec_expr f = add(&p, valley, square(&p, sub(&p, number(&p, 1), element(&p, 0))));
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    polish(&p, 2, genes, 2);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(genes[i] - 1) < 1e-3);
    job_close(&p);
}

/* CB2 of Charalambous and Bandler 1976: minimise the largest of three functions; 1.9522245 at
 * (1.13904, 0.89956). */
static ec_expr cb2(problem *p, int way)
{
    ec_expr a = add(p, square(p, element(p, 0)), square(p, square(p, element(p, 1))));
    ec_expr b = add(p, square(p, sub(p, number(p, 2), element(p, 0))),
                    square(p, sub(p, number(p, 2), element(p, 1))));
    ec_expr c = mul(p, number(p, 2),
                    ec_graph_unary(p->graph, EC_OP_EXP, sub(p, element(p, 1), element(p, 0))));
    ec_expr list[3] = {a, b, c};

    if (way == 0) /* over a list */
        return ec_graph_unary(p->graph, EC_OP_RMAX,
                              ec_graph_op(p->graph, EC_OP_CONCAT, 3, list, 0, NULL));
    if (way == 1) /* nested, and inside a rising function */
        return add(p, number(p, 1),
                   mul(p, number(p, 1e-3),
                       ec_graph_binary(p->graph, EC_OP_MAX, a,
                                       ec_graph_binary(p->graph, EC_OP_MAX, b, c))));
    /* the largest minimum of the negatives */
    for (int i = 0; i < 3; i++)
        list[i] = ec_graph_unary(p->graph, EC_OP_NEG, list[i]);
    return ec_graph_unary(p->graph, EC_OP_RMIN,
                          ec_graph_op(p->graph, EC_OP_CONCAT, 3, list, 0, NULL));
}

static void test_minimax(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        problem p;
        double genes[2] = {-1, 3};
        job_open_reals(&p, 2, -4, 4, 1);
        ec_expr f = cb2(&p, way);
        assert_int_equal(ec_job_add_objective(p.job, "f", f, way == 2, 0), EC_OK);
        polish(&p, 1, genes, 1);
        assert_true(fabs(value(&p, cb2(&p, 0), genes) - 1.9522245) < 1e-6);
        assert_true(fabs(genes[0] - 1.13904) < 1e-3 && fabs(genes[1] - 0.89956) < 1e-3);
        job_close(&p);
    }
}

/* A maximum that makes the cost smaller is no epigraph: minimise -max(x0, x1) + x0^2 + x1^2. */
static void test_wrong_direction(void **state)
{
    problem p;
    double genes[2] = {0.2, -0.3};

    (void)state;
    job_open_reals(&p, 2, -1, 1, 1);
    ec_expr m = ec_graph_binary(p.graph, EC_OP_MAX, element(&p, 0), element(&p, 1));
    ec_expr f = sub(&p, add(&p, square(&p, element(&p, 0)), square(&p, element(&p, 1))), m);
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    polish(&p, 1, genes, 1);
    assert_true(fabs(value(&p, f, genes) + 0.25) < 1e-6); /* (1/2, 0) */
    job_close(&p);
}

static void test_constraints(void **state)
{
    problem p;
    double genes[2] = {4, 4};

    (void)state;
    job_open_reals(&p, 2, -5, 5, 1);
    /* nearest point to the origin with x0 x1 >= 4 and x0 = 2 x1: (2 sqrt 2, sqrt 2) */
    ec_expr f = add(&p, square(&p, element(&p, 0)), square(&p, element(&p, 1)));
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    ec_constraint c = {
        .expr = mul(&p, element(&p, 0), element(&p, 1)), .min = 4, .max = INFINITY, .scale = 1};
    assert_int_equal(ec_job_add_constraint(p.job, "area", &c), EC_OK);
    ec_constraint e = {.expr = sub(&p, element(&p, 0), mul(&p, number(&p, 2), element(&p, 1))),
                       .min = 0,
                       .max = 0,
                       .tolerance = 1e-6,
                       .scale = 1};
    assert_int_equal(ec_job_add_constraint(p.job, "ratio", &e), EC_OK);
    polish(&p, 1, genes, 1);
    assert_true(value(&p, ec_job_violation(p.job), genes) == 0);
    assert_true(fabs(genes[0] - 2 * sqrt(2)) < 1e-4 && fabs(genes[1] - sqrt(2)) < 1e-4);
    job_close(&p);
}

/* Gaps as constraints over a minimum: max of x0 .. x3 apart by 1 with the last at most 3.5. */
static void test_minimum_as_constraint(void **state)
{
    problem p;
    double genes[4] = {0.1, 1.4, 2.6, 3.9};

    (void)state;
    job_open_reals(&p, 4, 0, 5, 1);
    ec_expr gaps = sub(&p, ec_graph_slice(p.graph, p.x, 1, 3), ec_graph_slice(p.graph, p.x, 0, 3));
    ec_constraint c = {
        .expr = ec_graph_unary(p.graph, EC_OP_RMIN, gaps), .min = 1, .max = INFINITY, .scale = 1};
    assert_int_equal(ec_job_add_constraint(p.job, "gap", &c), EC_OK);
    ec_expr f = ec_graph_unary(p.graph, EC_OP_RMAX, p.x);
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    polish(&p, 1, genes, 1);
    assert_true(value(&p, ec_job_violation(p.job), genes) == 0);
    assert_true(fabs(value(&p, f, genes) - 3) < 1e-5);
    job_close(&p);
}

/* Five positions on [-2, 2], ends pinned, gap 0.5, pulled to targets that would break the order. */
static void test_spaced(void **state)
{
    problem p;
    double genes[5], target[5] = {-2, 0.2, 0.1, 0.15, 2};
    int32_t five = 5;
    ec_backend_info backend = {.name = "cpu", .threads = 1};
    ec_variable_info info = {
        .name = "x", .kind = EC_VARIABLE_SPACED, .count = 5, .aperture = 4, .min_gap = 0.5};

    (void)state;
    assert_int_equal(ec_graph_create(&p.graph), EC_OK);
    assert_int_equal(ec_job_create(p.graph, "test", 1, &p.job), EC_OK);
    assert_int_equal(ec_backend_create(&backend, &p.backend), EC_OK);
    assert_int_equal(ec_job_add_variable(p.job, &info), 0);
    p.x = ec_job_variable(p.job, 0)->value;
    ec_expr d = sub(&p, p.x, ec_graph_constant(p.graph, 1, &five, target));
    ec_expr f = ec_graph_unary(p.graph, EC_OP_SUM, square(&p, d));
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    genes[0] = 0.9; /* out of order */
    genes[1] = 0.1;
    genes[2] = 0.4;
    polish(&p, 1, genes, 1);
    /* gaps tight: x = c - 0.5, c, c + 0.5 with c the mean of the targets, 0.15 */
    assert_true(fabs(value(&p, f, genes) - (0.55 * 0.55 + 0.05 * 0.05 + 0.5 * 0.5)) < 1e-5);
    assert_true(genes[0] <= genes[1] && genes[1] <= genes[2]);
    job_close(&p);
}

/* Nothing to move, or no gradient: the design comes back as it was. */
static void test_left_alone(void **state)
{
    problem p;
    double genes[3] = {0.4, -0.7, 2};
    const double before[3] = {0.4, -0.7, 2};

    (void)state;
    job_open_reals(&p, 2, -1, 1, 1);
    double min = 0, max = 5;
    ec_variable_info whole = {.name = "n", .kind = EC_VARIABLE_INTEGER, .min = &min, .max = &max};
    assert_int_equal(ec_job_add_variable(p.job, &whole), 1);
    ec_expr n = ec_job_variable(p.job, 1)->value;
    /* flat in the real variables wherever sign is */
    ec_expr f =
        add(&p, ec_graph_unary(p.graph, EC_OP_SIGN, add(&p, element(&p, 0), element(&p, 1))), n);
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    polish(&p, 1, genes, 1);
    assert_memory_equal(genes, before, sizeof genes);
    job_close(&p);
}

/* Genes of a group move with those of the design, by differences: the nearest point of
 * x0 + x1 + 2 g <= 1 to (1, 2, 3) lies along the limit's normal. Each design has a group. */
static void test_groups(void **state)
{
    problem p;
    double genes[4] = {0.1, -0.4, -1, 0.6}, group_genes[2] = {0.2, -0.8}, min = -5, max = 5;
    const double two = 2, three = 3, goal[3] = {1 - 8.0 / 6, 2 - 8.0 / 6, 3 - 2 * 8.0 / 6};
    ec_polish_info info = {.threads = 1};
    uint64_t evaluations = 0;

    (void)state;
    job_open_reals(&p, 2, -5, 5, 1);
    ec_variable_info shared = {
        .name = "g", .kind = EC_VARIABLE_REAL, .min = &min, .max = &max, .group = true};
    assert_int_equal(ec_job_add_variable(p.job, &shared), 1);
    ec_expr g = ec_job_variable(p.job, 1)->value;
    ec_expr f = add(&p, square(&p, sub(&p, element(&p, 0), number(&p, 1))),
                    add(&p, square(&p, sub(&p, element(&p, 1), number(&p, two))),
                        square(&p, sub(&p, g, number(&p, three)))));
    ec_constraint limit = {
        .expr = add(&p, add(&p, element(&p, 0), element(&p, 1)), mul(&p, number(&p, 2), g)),
        .min = -INFINITY,
        .max = 1,
        .scale = 1};
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    assert_int_equal(ec_job_add_constraint(p.job, "limit", &limit), EC_OK);
    assert_int_equal(ec_polish(p.job, &info, 2, genes, group_genes, &evaluations), EC_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(genes[2 * i] - goal[0]) < 1e-4);
        assert_true(fabs(genes[2 * i + 1] - goal[1]) < 1e-4);
        assert_true(fabs(group_genes[i] - goal[2]) < 1e-4);
        assert_true(genes[2 * i] + genes[2 * i + 1] + 2 * group_genes[i] <= 1);
    }
    assert_true(evaluations > 24); /* those of differences count */
    job_close(&p);
}

/* The Jacobian of the problem against differences, through a maximum, a product and a sort. */
static void test_jacobian(void **state)
{
    problem p;
    double genes[3] = {0.3, -0.8, 0.55};
    ec_polish_notes notes = {{0}, 0};
    ec_polish_problem *smooth = NULL;

    (void)state;
    job_open_reals(&p, 3, -2, 2, 1);
    ec_expr sorted = ec_graph_op(p.graph, EC_OP_SORT, 1, &p.x, 0, NULL);
    ec_expr wave = ec_graph_unary(p.graph, EC_OP_SIN, mul(&p, sorted, p.x));
    ec_expr top = ec_graph_unary(p.graph, EC_OP_RMAX, wave);
    ec_expr f = add(&p, square(&p, element(&p, 1)), ec_graph_unary(p.graph, EC_OP_EXP, top));
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    assert_int_equal(ec_polish_problem_create(p.job, p.backend, genes, 0, &notes, &smooth), EC_OK);
    assert_int_equal(smooth->n_cuts, 1);
    assert_int_equal(smooth->n_elements, 4);
    double t = smooth->cuts[0].start, jacobian[4][4], value_up[4];
    assert_int_equal(ec_polish_problem_values(smooth, genes, &t), EC_OK);
    assert_int_equal(ec_polish_problem_jacobian(smooth, genes, &t), EC_OK);
    assert_true(fabs(smooth->value[0] - value(&p, f, genes)) < 1e-14);
    memcpy(jacobian, smooth->jacobian, sizeof jacobian);
    for (int i = 0; i < 4; i++) {
        double step = 1e-5, moved[3], up = t, down = t;
        memcpy(moved, genes, sizeof moved);
        *(i < 3 ? &moved[i] : &up) += step;
        assert_int_equal(ec_polish_problem_values(smooth, moved, &up), EC_OK);
        memcpy(value_up, smooth->value, sizeof value_up);
        memcpy(moved, genes, sizeof moved);
        *(i < 3 ? &moved[i] : &down) -= step;
        assert_int_equal(ec_polish_problem_values(smooth, moved, &down), EC_OK);
        for (int r = 0; r < 4; r++)
            assert_true(fabs((value_up[r] - smooth->value[r]) / (2 * step) - jacobian[r][i]) <
                        1e-8);
    }
    ec_polish_problem_destroy(&smooth);
    job_close(&p);
}

/* ---- many genes: steps of linear programs ---- */

/* A program of two moves and one t, solved by hand. */
static void test_program(void **state)
{
    /* rows: d0 - d1 - t <= 1, -d0 - t <= 0.5, d1 / 2 - t <= 0; then d0 <= d1 */
    static const double row[] = {1, -1, -1, -1, 0, -1, 0, 0.5, -1};
    static const double limit[] = {1, 0.5, 0}, cost[] = {0, 0, 1};
    static const double low[] = {-1, -1}, high[] = {1, 1}, gap[] = {0};
    static const int32_t order[] = {0};
    ec_polish_lp lp = {.n = 2,
                       .n_t = 1,
                       .n_rows = 3,
                       .cost = cost,
                       .row = row,
                       .limit = limit,
                       .low = low,
                       .high = high,
                       .order = order,
                       .gap = gap};
    double move[3];

    (void)state;
    /* t >= d0 - d1 - 1, t >= -d0 - 0.5, t >= d1 / 2. Without the order: d1 = (d0 - 1) / 1.5 makes the
     * first and third equal, t = (d0 - 1) / 3 = -d0 - 0.5: d0 = -1/8, d1 = -3/4, t = -3/8. */
    assert_int_equal(ec_polish_lp_solve(&lp, move), EC_OK);
    assert_true(fabs(move[0] + 0.125) < 5e-3 && fabs(move[1] + 0.75) < 5e-3);
    assert_true(fabs(move[2] + 0.375) < 2e-3);
    /* With it: d0 = d1, t = d0 / 2 = -d0 - 0.5: d0 = -1/3, t = -1/6. */
    lp.n_order = 1;
    assert_int_equal(ec_polish_lp_solve(&lp, move), EC_OK);
    assert_true(fabs(move[0] + 1.0 / 3) < 5e-3 && fabs(move[1] + 1.0 / 3) < 5e-3);
    assert_true(fabs(move[2] + 1.0 / 6) < 2e-3 && move[0] <= move[1] + 1e-6);
}

/* Nothing but a smooth cost: a bowl whose axes part by 30. */
static void test_many_genes_smooth(void **state)
{
    enum { N = 100 };
    problem p;
    double genes[N], centre[N], weight[N];
    int32_t shape = N;

    (void)state;
    job_open_reals(&p, N, -2, 2, 1);
    for (int i = 0; i < N; i++) {
        centre[i] = sin(1.0 + i);
        weight[i] = 1 + 0.29 * i;
        genes[i] = 0;
    }
    ec_expr d = square(&p, sub(&p, p.x, ec_graph_constant(p.graph, 1, &shape, centre)));
    ec_expr f = ec_graph_unary(p.graph, EC_OP_SUM,
                               mul(&p, d, ec_graph_constant(p.graph, 1, &shape, weight)));
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    polish(&p, 1, genes, 1);
    assert_true(value(&p, f, genes) < 1e-6);
    job_close(&p);
}

/* The larger of two squared distances is lowest half way between the two points. */
static void test_many_genes(void **state)
{
    enum { N = 100 };
    problem p;
    double genes[2 * N], a[N], b[N], square_of_distance = 0;
    int32_t shape = N;

    (void)state;
    job_open_reals(&p, N, -2, 2, 1);
    for (int i = 0; i < N; i++) {
        a[i] = sin(1.0 + i);
        b[i] = cos(2.0 * i);
        square_of_distance += (a[i] - b[i]) * (a[i] - b[i]);
        genes[i] = 0.5 * cos(3.0 * i);
        genes[N + i] = -1;
    }
    ec_expr to_a = square(&p, sub(&p, p.x, ec_graph_constant(p.graph, 1, &shape, a)));
    ec_expr to_b = square(&p, sub(&p, p.x, ec_graph_constant(p.graph, 1, &shape, b)));
    ec_expr f = ec_graph_binary(p.graph, EC_OP_MAX, ec_graph_unary(p.graph, EC_OP_SUM, to_a),
                                ec_graph_unary(p.graph, EC_OP_SUM, to_b));
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    polish(&p, 2, genes, 2);
    for (int k = 0; k < 2; k++) {
        double excess = value(&p, f, genes + k * N) - 0.25 * square_of_distance;
        assert_true(excess > -1e-9 && excess < 1e-3 * square_of_distance);
    }
    job_close(&p);
}

/* The largest square under a mean of at least 1/2, from a start that does not have it. */
static void test_many_genes_infeasible(void **state)
{
    enum { N = 90 };
    problem p;
    double genes[N];

    (void)state;
    job_open_reals(&p, N, -1, 1, 1);
    for (int i = 0; i < N; i++)
        genes[i] = 0.4 * sin(1.0 + i);
    ec_expr f = ec_graph_unary(p.graph, EC_OP_RMAX, square(&p, p.x));
    ec_constraint c = {
        .expr = ec_graph_unary(p.graph, EC_OP_MEAN, p.x), .min = 0.5, .max = INFINITY, .scale = 1};
    assert_int_equal(ec_job_add_constraint(p.job, "mean", &c), EC_OK);
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    polish(&p, 1, genes, 1);
    assert_true(value(&p, ec_job_violation(p.job), genes) == 0);
    assert_true(fabs(value(&p, f, genes) - 0.25) < 1e-3);
    job_close(&p);
}

/* 80 positions pulled to the middle: the inner 78 end side by side. */
static void test_many_spaced(void **state)
{
    enum { N = 80, INNER = N - 2 };
    problem p;
    double genes[INNER], best = 2 * 30.0 * 30.0;
    ec_backend_info backend = {.name = "cpu", .threads = 1};
    ec_variable_info info = {
        .name = "x", .kind = EC_VARIABLE_SPACED, .count = N, .aperture = 60, .min_gap = 0.5};

    (void)state;
    assert_int_equal(ec_graph_create(&p.graph), EC_OK);
    assert_int_equal(ec_job_create(p.graph, "test", 1, &p.job), EC_OK);
    assert_int_equal(ec_backend_create(&backend, &p.backend), EC_OK);
    assert_int_equal(ec_job_add_variable(p.job, &info), 0);
    p.x = ec_job_variable(p.job, 0)->value;
    ec_expr f = ec_graph_unary(p.graph, EC_OP_SUM, square(&p, p.x));
    assert_int_equal(ec_job_add_objective(p.job, "f", f, false, 0), EC_OK);
    for (int i = 0; i < INNER; i++) {
        genes[i] = 0.5 + 0.5 * sin(1.0 + i);
        best += 0.25 * (i - 38.5) * (i - 38.5);
    }
    polish(&p, 1, genes, 1);
    double excess = value(&p, f, genes) - best;
    assert_true(excess > -1e-9 && excess < 1e-2);
    for (int i = 0; i + 1 < INNER; i++)
        assert_true(genes[i] <= genes[i + 1]);
    job_close(&p);
}

/* CB2 as a worst case over samples, each of which weighs one of the functions. At final fidelity there
 * is another sample, which the polish must not look at. */
static void test_samples(void **state)
{
    static const double search[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, final[3] = {2, 0, 0};
    const int32_t three = 3;
    problem p;

    (void)state;
    for (int way = 0; way < 2; way++) {
        double genes[2] = {3, 2};
        job_open_reals(&p, 2, -5, 5, 1);
        ec_expr a = add(&p, square(&p, element(&p, 0)), square(&p, square(&p, element(&p, 1))));
        ec_expr b = add(&p, square(&p, sub(&p, number(&p, 2), element(&p, 0))),
                        square(&p, sub(&p, number(&p, 2), element(&p, 1))));
        ec_expr c =
            mul(&p, number(&p, 2),
                ec_graph_unary(p.graph, EC_OP_EXP, sub(&p, element(&p, 1), element(&p, 0))));
        ec_expr list[3] = {a, b, c};
        ec_expr weight = ec_graph_draws(p.graph, 3, 1, 1, &three, search[0], final);
        ec_expr y =
            ec_graph_unary(p.graph, EC_OP_SUM,
                           mul(&p, weight, ec_graph_op(p.graph, EC_OP_CONCAT, 3, list, 0, NULL)));
        ec_expr worst;
        if (way == 0)
            worst = ec_graph_unary(p.graph, EC_OP_SAMPLE_MAX, y);
        else /* the largest least value */
            worst =
                ec_graph_unary(p.graph, EC_OP_SAMPLE_MIN, ec_graph_unary(p.graph, EC_OP_NEG, y));
        assert_int_equal(ec_job_add_objective(p.job, "f", worst, way == 1, 0), EC_OK);
        polish(&p, 1, genes, 1);
        assert_true(fabs(genes[0] - 1.13904) < 1e-3 && fabs(genes[1] - 0.89956) < 1e-3);
        double v, *out[1] = {&v};
        assert_int_equal(ec_evaluate_once(p.graph, p.backend, EC_REFINE, 1, &worst, genes, 2, NULL,
                                          0, out, NULL, NULL),
                         EC_OK);
        assert_true(fabs(fabs(v) - 1.9522245) < 1e-5);
        assert_true(fabs(fabs(value(&p, worst, genes)) - 2 * 1.9522245) < 1e-3);
        job_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jacobian),
        cmocka_unit_test(test_smooth),
        cmocka_unit_test(test_minimax),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_wrong_direction),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_minimum_as_constraint),
        cmocka_unit_test(test_spaced),
        cmocka_unit_test(test_left_alone),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_many_genes),
        cmocka_unit_test(test_many_genes_smooth),
        cmocka_unit_test(test_many_genes_infeasible),
        cmocka_unit_test(test_many_spaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
