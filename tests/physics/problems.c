/* problems.c: see problems.h. */
#include "problems.h"

#include "random.h"

#include <string.h>

enum { D_MAX = EC_PROBLEM_GENES_MAX };

/* ---- short names for nodes ---- */

static ec_expr num(ec_graph *g, double value)
{
    return ec_graph_number(g, value);
}

static ec_expr vec(ec_graph *g, int32_t n, const double *values)
{
    return ec_graph_constant(g, 1, &n, values);
}

static ec_expr add(ec_graph *g, ec_expr a, ec_expr b)
{
    return ec_graph_binary(g, EC_OP_ADD, a, b);
}

static ec_expr sub(ec_graph *g, ec_expr a, ec_expr b)
{
    return ec_graph_binary(g, EC_OP_SUB, a, b);
}

static ec_expr mul(ec_graph *g, ec_expr a, ec_expr b)
{
    return ec_graph_binary(g, EC_OP_MUL, a, b);
}

static ec_expr unary(ec_graph *g, ec_op op, ec_expr a)
{
    return ec_graph_unary(g, op, a);
}

static ec_expr sum(ec_graph *g, ec_expr a)
{
    double all = 0;

    return ec_graph_op(g, EC_OP_SUM, 1, &a, 1, &all);
}

static ec_expr mean(ec_graph *g, ec_expr a)
{
    double all = 0;

    return ec_graph_op(g, EC_OP_MEAN, 1, &a, 1, &all);
}

/* ---- shift and rotation ---- */

/* Draw k of the problem's own stream. */
static double draw(const ec_problem *p, uint32_t purpose, uint32_t k)
{
    ec_random_stream stream = ec_random_make(2014, (uint32_t)(p - ec_problem_table), purpose, 0);
    uint32_t out[4];

    ec_random_words(&stream, 0, k, out);
    return ec_uniform_53(out[0], out[1]);
}

void ec_problem_shift(const ec_problem *p, double *o)
{
    for (int32_t i = 0; i < p->genes; i++)
        o[i] = 160 * draw(p, 1, (uint32_t)i) - 80;
}

/* Gaussian rows, orthogonalised twice by Gram and Schmidt. */
void ec_problem_rotation(const ec_problem *p, double *matrix)
{
    int32_t n = p->genes;

    for (int32_t r = 0; r < n; r++) {
        double *row = matrix + r * n, norm = 0;

        for (int32_t i = 0; i < n; i++)
            row[i] = ec_normal(draw(p, 2, (uint32_t)(r * n + i)));
        for (int32_t k = 0; k < 2 * r; k++) {
            const double *other = matrix + k % r * n;
            double product = 0;
            for (int32_t i = 0; i < n; i++)
                product += row[i] * other[i];
            for (int32_t i = 0; i < n; i++)
                row[i] -= product * other[i];
        }
        for (int32_t i = 0; i < n; i++)
            norm += row[i] * row[i];
        for (int32_t i = 0; i < n; i++)
            row[i] /= sqrt(norm);
    }
}

/* z = scale M (x - o) */
static ec_expr turned(ec_graph *g, const ec_problem *p, ec_expr x)
{
    double o[D_MAX], matrix[D_MAX * D_MAX];

    ec_problem_shift(p, o);
    ec_problem_rotation(p, matrix);
    for (int32_t i = 0; i < p->genes * p->genes; i++)
        matrix[i] *= p->scale;
    return ec_graph_matvec(g, sub(g, x, vec(g, p->genes, o)), p->genes, matrix);
}

static ec_expr sphere(ec_graph *g, const ec_problem *p, ec_expr x)
{
    return sum(g, unary(g, EC_OP_SQUARE, turned(g, p, x)));
}

static ec_expr rosenbrock(ec_graph *g, const ec_problem *p, ec_expr x)
{
    ec_expr z = add(g, turned(g, p, x), num(g, 1));
    ec_expr a = ec_graph_slice(g, z, 0, p->genes - 1), b = ec_graph_slice(g, z, 1, p->genes - 1);
    ec_expr bend = unary(g, EC_OP_SQUARE, sub(g, unary(g, EC_OP_SQUARE, a), b));
    ec_expr slope = unary(g, EC_OP_SQUARE, sub(g, a, num(g, 1)));

    return sum(g, add(g, mul(g, bend, num(g, 100)), slope));
}

static ec_expr turns(ec_graph *g, ec_expr z)
{
    return unary(g, EC_OP_COS, mul(g, z, num(g, 2 * EC_PI)));
}

static ec_expr rastrigin(ec_graph *g, const ec_problem *p, ec_expr x)
{
    ec_expr z = turned(g, p, x), ten = num(g, 10);

    return sum(g, sub(g, add(g, unary(g, EC_OP_SQUARE, z), ten), mul(g, turns(g, z), ten)));
}

static ec_expr ackley(ec_graph *g, const ec_problem *p, ec_expr x)
{
    ec_expr z = turned(g, p, x);
    ec_expr size = unary(g, EC_OP_SQRT, mean(g, unary(g, EC_OP_SQUARE, z)));
    ec_expr bowl = mul(g, unary(g, EC_OP_EXP, mul(g, size, num(g, -0.2))), num(g, -20));
    ec_expr waves = unary(g, EC_OP_EXP, mean(g, turns(g, z)));

    return sub(g, add(g, bowl, num(g, 20 + exp(1.0))), waves);
}

static ec_expr griewank(ec_graph *g, const ec_problem *p, ec_expr x)
{
    ec_expr z = turned(g, p, x), product = num(g, 1);
    double root[D_MAX];

    for (int32_t i = 0; i < p->genes; i++)
        root[i] = 1 / sqrt(i + 1.0);
    ec_expr waves = unary(g, EC_OP_COS, mul(g, z, vec(g, p->genes, root)));
    for (int32_t i = 0; i < p->genes; i++)
        product = mul(g, product, ec_graph_slice(g, waves, i, 0));
    ec_expr bowl = mul(g, sum(g, unary(g, EC_OP_SQUARE, z)), num(g, 1.0 / 4000));
    return sub(g, add(g, bowl, num(g, 1)), product);
}

/* ---- problems of CEC 2011 ---- */

static const double fm_target[6] = {1, 5, -1.5, 4.8, 2, 4.9};

static void fm_best(const ec_problem *p, double *x)
{
    (void)p;
    memcpy(x, fm_target, sizeof fm_target);
}

/* a1 sin(w1 t th + a2 sin(w2 t th + a3 sin(w3 t th))) for t = 0 .. 100, th = 2 pi / 100 */
static ec_expr fm_wave(ec_graph *g, const ec_expr parameter[6])
{
    double t[101];

    for (int i = 0; i <= 100; i++)
        t[i] = 2 * EC_PI * i / 100;
    ec_expr time = vec(g, 101, t), y = num(g, 0);
    for (int i = 2; i >= 0; i--) {
        ec_expr angle = add(g, mul(g, parameter[2 * i + 1], time), y);
        y = mul(g, parameter[2 * i], unary(g, EC_OP_SIN, angle));
    }
    return y;
}

static ec_expr fm_sound(ec_graph *g, const ec_problem *p, ec_expr x)
{
    ec_expr parameter[6], target[6];

    (void)p;
    for (int32_t i = 0; i < 6; i++) {
        parameter[i] = ec_graph_slice(g, x, i, 0);
        target[i] = num(g, fm_target[i]);
    }
    return sum(g, unary(g, EC_OP_SQUARE, sub(g, fm_wave(g, parameter), fm_wave(g, target))));
}

/* Directions: 299 around the circle (sample 299 is sample 0), and the two nulls at 50 and 120 rad. */
enum { CIRCLE = 299, DIRECTIONS = CIRCLE + 2, ELEMENTS = 12 };

static void circle_matrices(double *c, double *s)
{
    for (int i = 0; i < DIRECTIONS; i++) {
        double phi = i < CIRCLE ? 2 * EC_PI * i / CIRCLE : i == CIRCLE ? 50 : 120;
        for (int m = 0; m < ELEMENTS; m++) {
            double at = 2 * EC_PI * m / ELEMENTS, angle = 6 * (cos(phi - at) - cos(EC_PI - at));
            c[i * ELEMENTS + m] = cos(angle);
            s[i * ELEMENTS + m] = sin(angle);
        }
    }
}

/* Amplitude of the field in all directions. */
static ec_expr circle_field(ec_graph *g, ec_expr x)
{
    double c[DIRECTIONS * ELEMENTS], s[DIRECTIONS * ELEMENTS];
    ec_expr half = ec_graph_slice(g, x, 0, 6), angle = ec_graph_slice(g, x, 6, 6);
    ec_expr twice[2] = {half, half}, turned_back[2] = {angle, unary(g, EC_OP_NEG, angle)};

    circle_matrices(c, s);
    ec_expr amplitude = ec_graph_op(g, EC_OP_CONCAT, 2, twice, 0, NULL);
    ec_expr phase =
        mul(g, ec_graph_op(g, EC_OP_CONCAT, 2, turned_back, 0, NULL), num(g, EC_PI / 180));
    ec_expr re = mul(g, amplitude, unary(g, EC_OP_COS, phase));
    ec_expr im = mul(g, amplitude, unary(g, EC_OP_SIN, phase));
    ec_expr field_re =
        sub(g, ec_graph_matvec(g, re, DIRECTIONS, c), ec_graph_matvec(g, im, DIRECTIONS, s));
    ec_expr field_im =
        add(g, ec_graph_matvec(g, re, DIRECTIONS, s), ec_graph_matvec(g, im, DIRECTIONS, c));
    return unary(g, EC_OP_ABS, ec_graph_binary(g, EC_OP_COMPLEX, field_re, field_im));
}

static ec_expr steps_to_null(ec_graph *g, ec_expr y, ec_expr at, double direction)
{
    ec_expr in[2] = {y, at};
    double parameters[3] = {direction, 1, 150};

    return ec_graph_op(g, EC_OP_WALK_MIN, 2, in, 3, parameters);
}

static ec_expr circular_array(ec_graph *g, const ec_problem *p, ec_expr x)
{
    double all = 0, circular[2] = {1, 0}, step = 360.0 / CIRCLE;
    ec_expr field = circle_field(g, x), zero = num(g, 0);
    ec_expr y = ec_graph_slice(g, field, 0, CIRCLE), nulls = ec_graph_slice(g, field, CIRCLE, 2);
    ec_expr peak = ec_graph_op(g, EC_OP_RMAX, 1, &y, 1, &all);
    ec_expr at = ec_graph_op(g, EC_OP_ARGMAX, 1, &y, 1, &all);
    ec_expr maxima = ec_graph_op(g, EC_OP_LOCAL_MAXIMA, 1, &y, 2, circular);
    ec_expr lobes = ec_graph_where(g, ec_graph_binary(g, EC_OP_LT, y, peak), maxima, zero);
    ec_expr lobe = ec_graph_op(g, EC_OP_RMAX, 1, &lobes, 1, &all);

    (void)p;
    ec_expr level = unary(g, EC_OP_LOG10, ec_graph_binary(g, EC_OP_DIV, lobe, peak));
    ec_expr steps = add(g, steps_to_null(g, y, at, 1), steps_to_null(g, y, at, -1));
    ec_expr wide = sub(g, mul(g, steps, num(g, step)), num(g, 80));
    ec_expr off = unary(g, EC_OP_ABS, sub(g, mul(g, at, num(g, step)), num(g, 180)));
    ec_expr near = ec_graph_binary(g, EC_OP_LT, off, num(g, 5));
    ec_expr cost = mul(g, level, num(g, 20));
    cost = add(g, cost, ec_graph_binary(g, EC_OP_MAX, zero, wide));
    cost = add(g, cost, ec_graph_binary(g, EC_OP_DIV, sum(g, nulls), peak));
    return add(g, cost, ec_graph_where(g, near, zero, off));
}

/* ---- the table ---- */

#define TURNED(word, function, d, factor)                                                          \
    {                                                                                              \
        .name = word, .genes = d, .min = {-100, -100}, .max = {100, 100}, .scale = factor,         \
        .cost = function, .best = ec_problem_shift                                                 \
    }

const ec_problem ec_problem_table[] = {
    TURNED("sphere10", sphere, 10, 1),
    TURNED("rosenbrock10", rosenbrock, 10, 0.1),
    TURNED("rastrigin10", rastrigin, 10, 0.0512),
    TURNED("ackley10", ackley, 10, 0.32),
    TURNED("griewank10", griewank, 10, 6),
    TURNED("sphere30", sphere, 30, 1),
    TURNED("rosenbrock30", rosenbrock, 30, 0.1),
    TURNED("rastrigin30", rastrigin, 30, 0.0512),
    TURNED("ackley30", ackley, 30, 0.32),
    TURNED("griewank30", griewank, 30, 6),
    {.name = "fm_sound",
     .genes = 6,
     .min = {-6.4, -6.4},
     .max = {6.35, 6.35},
     .cost = fm_sound,
     .best = fm_best},
    {.name = "circular_array",
     .genes = 12,
     .min = {0.2, -180},
     .max = {1, 180},
     .optimum = -21.8425,
     .cost = circular_array},
    {.name = NULL},
};

const ec_problem *ec_problem_find(const char *name)
{
    for (const ec_problem *p = ec_problem_table; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

void ec_problem_bounds(const ec_problem *p, double *min, double *max)
{
    for (int32_t i = 0; i < p->genes; i++) {
        min[i] = p->min[2 * i / p->genes];
        max[i] = p->max[2 * i / p->genes];
    }
}

int ec_problem_job(const ec_problem *p, uint64_t seed, ec_graph **graph, ec_job **job)
{
    double min[D_MAX], max[D_MAX];
    ec_variable_info x = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = p->genes, .min = min, .max = max};

    *graph = NULL;
    *job = NULL;
    ec_problem_bounds(p, min, max);
    int status = ec_graph_create(graph);
    if (status == EC_OK)
        status = ec_job_create(*graph, p->name, seed, job);
    if (status == EC_OK)
        status = ec_job_add_variable(*job, &x);
    if (status >= 0)
        status = ec_job_add_objective(
            *job, "f", p->cost(*graph, p, ec_job_variable(*job, 0)->value), false, 0);
    if (status < 0) {
        ec_job_destroy(job);
        ec_graph_destroy(graph);
    }
    return status;
}
