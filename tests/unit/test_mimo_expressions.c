/* Channels whose inputs live on different axes: transmitters of groups, frequencies of designs and of
 * samples. The bits are those of plain calls, and the work is done once. */
#include <math.h>

#include "evaluators/mimo/path.h"
#include "mimo_harness.h"

static ec_scene *room; /* 8 x 5 x 3 m of concrete, a pillar and a ball of metal within */

/* ---- launches, counted ----------------------------------------------------------------------- */

static const ec_backend_ops *plain;
static size_t sights, pairs, spectra; /* lanes of kernels */

static int counted(ec_backend *backend, const ec_kernel *kernel, const void *args, size_t lanes,
                   size_t ny)
{
    sights += strcmp(kernel->name, "mimo_sight") == 0 ? lanes : 0;
    pairs += strcmp(kernel->name, "path_pairs") == 0 ? lanes : 0;
    spectra += strcmp(kernel->name, "mimo_spectrum") == 0 ? lanes * ny : 0;
    return plain->launch(backend, kernel, args, lanes, ny);
}

static int setup(void **state)
{
    static const char *const material[] = {"itu_concrete", "pec", "pec"};
    static ec_backend_ops ops;
    ec_shape shape[3];

    (void)state;
    ec_shape_default(EC_SHAPE_BOX, &shape[0]);
    memcpy(shape[0].at, (double[]){4, 2.5, 1.5}, sizeof shape[0].at);
    memcpy(shape[0].size, (double[]){8, 5, 3}, sizeof shape[0].size);
    shape[0].inward = true;
    ec_shape_default(EC_SHAPE_BOX, &shape[1]);
    memcpy(shape[1].at, (double[]){4, 2, 1.2}, sizeof shape[1].at);
    memcpy(shape[1].size, (double[]){0.4, 0.4, 2.4}, sizeof shape[1].size);
    ec_shape_default(EC_SHAPE_SPHERE, &shape[2]);
    memcpy(shape[2].at, (double[]){5.5, 4, 1}, sizeof shape[2].at);
    shape[2].radius = 0.5;
    room = mimo_scene(3, shape, material);
    assert_int_equal(mimo_open_cpu(), EC_OK);
    plain = cpu->ops;
    ops = *plain;
    ops.launch = counted;
    cpu->ops = &ops;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cpu->ops = plain;
    ec_backend_destroy(&cpu);
    ec_scene_destroy(&room);
    return 0;
}

/* ---- links ------------------------------------------------------------------------------------ */

enum { TX = 2, RX = 3, GROUPS = 3, N = 70, PAIRS = TX * RX };

static const double tones[2] = {3.5e9, 3.6e9};

static ec_graph *graph(void)
{
    ec_graph *g = NULL;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    return g;
}

/* Two transmitters and three receivers that move along x. */
static ec_mimo_config config(ec_graph *g, ec_expr tx, ec_expr rx)
{
    static const double ty[TX] = {0.8, 1.4}, ry[RX] = {3.3, 3.4, 3.5};
    const int32_t two = TX, three = RX;
    ec_mimo_config c = mimo_config(room, 2, tones);
    c.depth = 2;
    c.diffractions = 1;
    c.tx.at[0] = tx;
    c.tx.at[1] = ec_graph_constant(g, 1, &two, ty);
    c.tx.at[2] = ec_graph_number(g, 1.7);
    c.tx.count = TX;
    c.rx.at[0] = rx;
    c.rx.at[1] = ec_graph_constant(g, 1, &three, ry);
    c.rx.at[2] = ec_graph_number(g, 1.2);
    c.rx.count = RX;
    return c;
}

static ec_expr variable(ec_graph *g, bool group, int32_t first, int32_t n)
{
    const double low[4] = {0.5, 0.5, 0.5, 0.5}, high[4] = {3.5, 3.5, 3.5, 3.5};
    return ec_graph_variable(g, group, first, n, low, high);
}

static ec_expr value(ec_graph *g, const ec_mimo_config *c, ec_mimo_output output)
{
    return ec_mimo_value(g, mimo_link(g, c), output);
}

/* ---- a population ----------------------------------------------------------------------------- */

typedef struct population {
    ec_array X, XG;
    int32_t *map;
    uint8_t *status;
} population;

static double gene(size_t design, size_t i)
{
    return 0.55 + 2.9 * (double)((design * 37 + i * 53 + 11) % 101) / 101;
}

static void *take(size_t bytes)
{
    void *memory = NULL;
    assert_int_equal(cpu->ops->alloc(cpu, bytes, &memory), EC_OK);
    return memory;
}

/* Genes: RX of the candidate, then TX which are those of its group. */
static population make(void)
{
    population p = {.map = take(128 * sizeof(int32_t)), .status = take(128)};
    const int32_t genes = RX + TX, shared = TX;
    assert_int_equal(ec_array_create(cpu, &p.X, EC_F64, EC_AXIS_CANDIDATE, 1, &genes, N, 1), EC_OK);
    assert_int_equal(ec_array_create(cpu, &p.XG, EC_F64, EC_AXIS_GROUP, 1, &shared, GROUPS, 1),
                     EC_OK);
    double *x = p.X.data, *xg = p.XG.data;
    memset(p.map, 0, 128 * sizeof *p.map); /* padding is read */
    for (size_t i = 0; i < N; i++) {
        p.map[i] = (int32_t)(i * 7 % GROUPS);
        for (size_t k = 0; k < RX; k++)
            x[k * p.X.ld + i] = gene(i, k);
        for (size_t k = 0; k < TX; k++)
            x[(RX + k) * p.X.ld + i] = gene(1000 + (size_t)p.map[i], k);
    }
    for (size_t i = 0; i < GROUPS; i++)
        for (size_t k = 0; k < TX; k++)
            xg[k * p.XG.ld + i] = gene(1000 + i, k);
    return p;
}

static void release(population *p)
{
    ec_array_release(cpu, &p->X);
    ec_array_release(cpu, &p->XG);
    cpu->ops->release(cpu, p->map);
    cpu->ops->release(cpu, p->status);
}

static ec_executor *run(ec_graph *g, population *p, int32_t n, const ec_expr *out, size_t groups)
{
    ec_executor *executor = NULL;
    ec_executor_info info = {
        .n_outputs = n, .outputs = out, .max_candidates = N, .max_groups = groups};
    assert_int_equal(ec_executor_create(g, cpu, &info, &executor), EC_OK);
    sights = pairs = spectra = 0;
    assert_int_equal(
        ec_executor_run(executor, &p->X, groups ? &p->XG : NULL, p->map, p->status, N, groups),
        EC_OK);
    return executor;
}

/* Transmitters of a group: the bits of a design whose transmitters are its own, looked at once a
 * group. */
static void test_groups(void **state)
{
    (void)state;
    population p = make();
    ec_graph *g = graph();
    ec_expr rx = variable(g, false, 0, RX);
    ec_mimo_config own = config(g, variable(g, false, RX, TX), rx);
    ec_mimo_config shared = config(g, variable(g, true, 0, TX), rx);
    ec_mimo_output outputs[3] = {EC_MIMO_CHANNEL, EC_MIMO_PATHS, EC_MIMO_UNRESOLVED};
    ec_expr a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = value(g, &own, outputs[i]);
        b[i] = value(g, &shared, outputs[i]);
    }
    ec_executor *x = run(g, &p, 3, a, 0);
    assert_int_equal(sights, 3 * N * (TX + RX)); /* three calls */
    ec_executor *y = run(g, &p, 3, b, GROUPS);
    assert_int_equal(sights, 3 * (GROUPS * TX + N * RX));
    for (int i = 0; i < 3; i++) {
        const ec_array *u = ec_executor_output(x, i), *v = ec_executor_output(y, i);
        size_t size = ec_dtype_size(u->dtype);
        const char *from = u->data, *to = v->data;
        for (size_t e = 0; e < u->elements; e++)
            assert_memory_equal(from + e * u->ld * size, to + e * v->ld * size, N * size);
    }
    const double *count = ec_executor_output(y, 1)->data;
    assert_true(count[0] > 5);
    for (int i = 0; i < N; i++)
        assert_int_equal(p.status[i], 0);
    ec_executor_destroy(&x);
    ec_executor_destroy(&y);
    release(&p);
    ec_graph_destroy(&g);
}

/* What antennas are said not to have has no path: as many paths as when every sequence is tried. */
static void test_sight(void **state)
{
    (void)state;
    population p = make();
    ec_graph *g = graph();
    ec_path_options options;
    ec_path_plan *plan = NULL;
    ec_path_sequences *all = NULL;
    ec_path_list list = {0};
    ec_mimo_config c = config(g, variable(g, false, RX, TX), variable(g, false, 0, RX));
    c.depth = 3;
    ec_expr paths = value(g, &c, EC_MIMO_PATHS);
    ec_executor *x = run(g, &p, 1, &paths, 0);
    const ec_array *a = ec_executor_output(x, 0);
    ec_path_options_default(&options);
    options.diffractions = 1;
    assert_int_equal(ec_path_plan_create(room, &options, &plan), EC_OK);
    const ec_path_box tx = {{0.5, 0.8, 1.7}, {3.5, 1.4, 1.7}},
                      rx = {{0.5, 3.3, 1.2}, {3.5, 3.5, 1.2}};
    assert_int_equal(ec_path_enumerate(plan, &tx, &rx, &all), EC_OK);
    for (size_t i = 0; i < N; i += 5)
        for (size_t e = 0; e < PAIRS; e++) {
            size_t t = e % TX, r = e / TX;
            const double *genes = (const double *)p.X.data + i;
            double from[3] = {genes[(RX + t) * p.X.ld], t ? 1.4 : 0.8, 1.7};
            double to[3] = {genes[r * p.X.ld], 3.3 + 0.1 * (double)r, 1.2};
            ec_path_list_clear(&list);
            assert_int_equal(ec_path_find(plan, all, from, to, &list), EC_OK);
            assert_true(((const double *)a->data)[e * a->ld + i] == (double)list.n);
        }
    ec_path_list_free(&list);
    ec_path_sequences_destroy(&all);
    ec_path_plan_destroy(&plan);
    ec_executor_destroy(&x);
    release(&p);
    ec_graph_destroy(&g);
}

/* So many antennas that move that a bit stands for several sequences: the bits of one alone. */
static void test_many(void **state)
{
    enum { MANY = 3500 };
    (void)state;
    ec_graph *g = graph();
    const int32_t many = MANY;
    const double low = 0, high = 0.1, gene = 0.04;
    double *dx = malloc(MANY * sizeof *dx), *y = malloc(MANY * sizeof *y);
    ec_c128 *all = malloc(MANY * sizeof *all);
    double *out = &all->re;
    uint8_t status;
    assert_true(dx && y && all);
    for (int i = 0; i < MANY; i++) {
        dx[i] = 0.5 + 0.03 * (i % 100);
        y[i] = 0.3 + 0.1 * (i / 100);
    }
    ec_expr move = ec_graph_variable(g, false, 0, 0, &low, &high);
    ec_mimo_config c = config(g, ec_graph_number(g, 3), move);
    c.n_frequencies = 1;
    c.tx.at[1] = ec_graph_number(g, 0.8);
    c.tx.count = 1;
    c.rx.count = MANY;
    c.rx.at[0] = ec_graph_binary(g, EC_OP_ADD, ec_graph_constant(g, 1, &many, dx), move);
    c.rx.at[1] = ec_graph_constant(g, 1, &many, y);
    ec_expr h = value(g, &c, EC_MIMO_CHANNEL);
    const ec_node *n = ec_graph_node(g, h);
    const ec_node *seen = ec_graph_node(g, n->call->in[7]);
    assert_true(n->call->n_in == 8 && seen->elements > 0);
    assert_true((size_t)seen->elements * sizeof(double) <= (size_t)1 << 18);
    assert_int_equal(
        ec_evaluate_once(g, cpu, EC_SEARCH, 1, &h, &gene, 1, NULL, 0, &out, &status, NULL), EC_OK);
    assert_int_equal(status, 0);
    for (int i = 0; i < MANY; i += 311) {
        ec_c128 alone;
        double *to = &alone.re;
        c.rx.count = 1;
        c.rx.at[0] = ec_graph_binary(g, EC_OP_ADD, ec_graph_number(g, dx[i]), move);
        c.rx.at[1] = ec_graph_number(g, y[i]);
        ec_expr one = value(g, &c, EC_MIMO_CHANNEL);
        assert_int_equal(
            ec_evaluate_once(g, cpu, EC_SEARCH, 1, &one, &gene, 1, NULL, 0, &to, &status, NULL),
            EC_OK);
        assert_memory_equal(&alone, &all[i], sizeof alone);
    }
    free(dx);
    free(y);
    free(all);
    ec_graph_destroy(&g);
}

/* A group whose transmitter is in the pillar fails all of its designs, and no other. */
static void test_group_fails(void **state)
{
    (void)state;
    population p = make();
    ec_graph *g = graph();
    const double low = 3.5, high = 4.4;
    const int32_t two = TX;
    ec_mimo_config c =
        config(g, variable(g, true, 0, TX), ec_graph_variable(g, false, 0, 0, &low, &high));
    const double x[TX] = {3.9, 1}, y[TX] = {2, 1};
    c.tx.at[0] = ec_graph_binary(
        g, EC_OP_MIN, ec_graph_constant(g, 1, &two, x),
        ec_graph_binary(g, EC_OP_ADD, variable(g, true, 0, TX), ec_graph_number(g, 0.4)));
    c.tx.at[1] = ec_graph_constant(g, 1, &two, y);
    ec_expr h = value(g, &c, EC_MIMO_CHANNEL);
    double *xg = p.XG.data, *rx = p.X.data;
    xg[0] = 3.5, xg[1] = 1, xg[2] = 2;
    for (int i = 0; i < N; i++)
        rx[i] = 3.5 + 0.01 * i;
    ec_executor *e = run(g, &p, 1, &h, GROUPS);
    for (int i = 0; i < N; i++)
        assert_int_equal(p.status[i], p.map[i] == 0 ? EC_CANDIDATE_MISPLACED : 0);
    ec_executor_destroy(&e);
    release(&p);
    ec_graph_destroy(&g);
}

/* ---- frequencies ------------------------------------------------------------------------------ */

enum { SAMPLES = 40 };

static double sampled(size_t s, size_t f)
{
    return 3e9 + 5e7 * (double)s + 1e9 * (double)f;
}

static void near(const ec_c128 *a, const ec_c128 *b)
{
    /* phases of some hundred turns, figures of concrete by other functions */
    double off = hypot(a->re - b->re, a->im - b->im), size = hypot(a->re, a->im);
    if (!(off <= 1e-10 * size + 1e-14))
        fail_msg("%g %+gj against %g %+gj", a->re, a->im, b->re, b->im);
}

/* Samples of a frequency from one tracing: the channels of calls at each of them. */
static void test_samples(void **state)
{
    (void)state;
    population p = make();
    ec_graph *g = graph();
    const int32_t two = 2;
    double list[SAMPLES][2];
    ec_mimo_config c = config(g, variable(g, false, RX, TX), variable(g, false, 0, RX));
    for (size_t s = 0; s < SAMPLES; s++)
        for (size_t f = 0; f < 2; f++)
            list[s][f] = sampled(s, f);
    ec_mimo_config fixed = c;
    c.frequencies = ec_graph_samples(g, SAMPLES, 1, &two, list[0]);
    ec_expr out[2] = {value(g, &c, EC_MIMO_CHANNEL), value(g, &c, EC_MIMO_PATHS)};
    ec_executor *x = run(g, &p, 2, out, 0);
    assert_int_equal(pairs, 2 * N * PAIRS); /* two calls */
    assert_int_equal(spectra, 2 * 2 * SAMPLES);
    const ec_array *h = ec_executor_output(x, 0), *paths = ec_executor_output(x, 1);
    assert_int_equal(h->samples, SAMPLES);
    const ec_c128 *got = h->data;
    const double *count = paths->data;
    for (size_t s = 0; s < SAMPLES; s += 13) {
        fixed.frequency = list[s];
        ec_expr want[2] = {value(g, &fixed, EC_MIMO_CHANNEL), value(g, &fixed, EC_MIMO_PATHS)};
        ec_executor *y = run(g, &p, 2, want, 0);
        const ec_array *w = ec_executor_output(y, 0), *v = ec_executor_output(y, 1);
        for (size_t e = 0; e < 2 * PAIRS; e++)
            for (size_t i = 0; i < N; i++)
                near((const ec_c128 *)w->data + e * w->ld + i,
                     got + s * h->sample_stride + e * h->ld + i);
        for (size_t e = 0; e < PAIRS; e++)
            assert_memory_equal((const double *)v->data + e * v->ld,
                                count + s * paths->sample_stride + e * paths->ld,
                                N * sizeof *count);
        ec_executor_destroy(&y);
    }
    ec_executor_destroy(&x);
    release(&p);
    ec_graph_destroy(&g);
}

/* A frequency of each design, in a memory so small that batches are cut: bits of the design alone. */
static void test_designs(void **state)
{
    (void)state;
    population p = make();
    ec_graph *g = graph();
    const double low = 0.5, high = 3.5;
    ec_expr own = ec_graph_variable(g, false, 1, 0, &low, &high);
    ec_mimo_config c = config(g, variable(g, false, RX, TX), variable(g, false, 0, RX));
    c.frequencies =
        ec_graph_binary(g, EC_OP_ADD, ec_graph_binary(g, EC_OP_MUL, own, ec_graph_number(g, 1e8)),
                        ec_graph_number(g, 3e9));
    ec_expr h = value(g, &c, EC_MIMO_CHANNEL);
    ec_executor *executor = NULL;
    ec_executor_info info = {
        .n_outputs = 1, .outputs = &h, .max_candidates = N, .memory_budget = 3000000};
    assert_int_equal(ec_executor_create(g, cpu, &info, &executor), EC_OK);
    assert_int_equal(ec_executor_run(executor, &p.X, NULL, NULL, p.status, N, 0), EC_OK);
    const ec_array *a = ec_executor_output(executor, 0);
    for (size_t i = 0; i < N; i += 23) {
        double x[RX + TX], f = 3e9 + 1e8 * gene(i, 1);
        ec_c128 alone[PAIRS], fixed[PAIRS];
        double *out = &alone[0].re;
        uint8_t status;
        for (size_t k = 0; k < RX + TX; k++)
            x[k] = ((const double *)p.X.data)[k * p.X.ld + i];
        assert_int_equal(
            ec_evaluate_once(g, cpu, EC_SEARCH, 1, &h, x, RX + TX, NULL, 0, &out, &status, NULL),
            EC_OK);
        ec_mimo_config one = c;
        one.frequencies = -1;
        one.n_frequencies = 1;
        one.frequency = &f;
        ec_expr e = value(g, &one, EC_MIMO_CHANNEL);
        out = &fixed[0].re;
        assert_int_equal(
            ec_evaluate_once(g, cpu, EC_SEARCH, 1, &e, x, RX + TX, NULL, 0, &out, &status, NULL),
            EC_OK);
        for (size_t k = 0; k < PAIRS; k++) {
            assert_memory_equal(&alone[k], (const ec_c128 *)a->data + k * a->ld + i, sizeof *alone);
            near(&fixed[k], &alone[k]);
        }
    }
    ec_executor_destroy(&executor);
    release(&p);
    ec_graph_destroy(&g);
}

/* A frequency that is the same for all is a list; bits too. */
static void test_constant(void **state)
{
    (void)state;
    ec_graph *g = graph();
    const int32_t two = 2;
    double x[RX + TX] = {1, 2, 3, 1.5, 2.5};
    ec_c128 h[2][2 * PAIRS];
    ec_mimo_config c = config(g, variable(g, false, RX, TX), variable(g, false, 0, RX));
    for (int i = 0; i < 2; i++) {
        double *out = &h[i][0].re;
        uint8_t status;
        ec_expr e = value(g, &c, EC_MIMO_CHANNEL);
        assert_int_equal(
            ec_evaluate_once(g, cpu, EC_SEARCH, 1, &e, x, RX + TX, NULL, 0, &out, &status, NULL),
            EC_OK);
        c.frequency = NULL;
        c.frequencies = ec_graph_constant(g, 1, &two, tones);
    }
    assert_memory_equal(h[0], h[1], sizeof h[0]);
    ec_graph_destroy(&g);
}

static void test_refused(void **state)
{
    (void)state;
    const double low[3] = {-1, 1e9, 1e9}, high[3] = {4e9, 300e9, 4e9};
    const char *const said[3] = {"above 0", "from 1 to 100 GHz, not for 300 GHz", NULL};
    ec_graph *g = graph();
    for (int i = 0; i < 3; i++) {
        ec_call *call = NULL;
        ec_mimo_config c = config(g, variable(g, false, RX, TX), variable(g, false, 0, RX));
        c.frequencies = ec_graph_variable(g, false, 0, 0, &low[i], &high[i]);
        int status = ec_mimo_call(g, &c, &call);
        assert_int_equal(status, said[i] ? EC_ERR_RANGE : EC_OK);
        if (said[i])
            assert_non_null(strstr(ec_error_text(), said[i]));
    }
    /* coupling that depends on the frequency needs frequencies that are known */
    double at[2] = {1e9, 5e9};
    ec_c128 none[8] = {{0, 0}};
    const ec_touchstone s = {.n_ports = 2, .n_frequencies = 2, .frequency = at, .s = none};
    ec_call *call = NULL;
    ec_mimo_config c = config(g, variable(g, false, RX, TX), variable(g, false, 0, RX));
    c.frequencies = ec_graph_variable(g, false, 0, 0, &low[2], &high[2]);
    c.tx.coupling = &s;
    assert_int_equal(ec_mimo_call(g, &c, &call), EC_ERR_UNSUPPORTED);
    ec_graph_destroy(&g);
}

/* ---- stopping --------------------------------------------------------------------------------- */

static bool asked(void *user)
{
    (void)user;
    return pairs > 0; /* as soon as some were traced */
}

/* One design with 20,000 pairs is left before they are all traced. */
static void test_interrupt(void **state)
{
    enum { USERS = 10000 };
    (void)state;
    ec_graph *g = graph();
    const int32_t users = USERS;
    double *x = malloc(USERS * sizeof *x), *y = malloc(USERS * sizeof *y), genes[TX] = {1.5, 2.5};
    assert_true(x && y);
    for (int i = 0; i < USERS; i++) {
        x[i] = 0.5 + 0.029 * (i % 100);
        y[i] = 0.3 + 0.043 * (i / 100);
    }
    ec_mimo_config c = config(g, variable(g, false, 0, TX), ec_graph_constant(g, 1, &users, x));
    c.rx.at[1] = ec_graph_constant(g, 1, &users, y);
    c.rx.count = USERS;
    ec_expr h = value(g, &c, EC_MIMO_CHANNEL);
    double *out = malloc(2 * 2 * USERS * TX * sizeof *out);
    assert_non_null(out);
    ec_interrupt stop = {asked, NULL};
    pairs = 0;
    assert_int_equal(
        ec_evaluate_until(g, cpu, EC_SEARCH, 1, &h, genes, TX, NULL, 0, &out, NULL, &stop, NULL),
        EC_STOPPED);
    assert_true(pairs > 0 && pairs < USERS * TX / 2);
    free(out);
    free(x);
    free(y);
    ec_graph_destroy(&g);
}

/* With the device's flag set no sequence is tried. */
static void test_stop_flag(void **state)
{
    (void)state;
    int32_t flag = 0;
    population p = make();
    ec_graph *g = graph();
    ec_mimo_config c = config(g, variable(g, false, RX, TX), variable(g, false, 0, RX));
    ec_expr paths = value(g, &c, EC_MIMO_PATHS);
    ec_executor *executor = NULL;
    ec_executor_info info = {.n_outputs = 1, .outputs = &paths, .max_candidates = N, .stop = &flag};
    assert_int_equal(ec_executor_create(g, cpu, &info, &executor), EC_OK);
    assert_true(ec_executor_capturable(executor));
    assert_int_equal(ec_executor_run(executor, &p.X, NULL, NULL, p.status, N, 0), EC_OK);
    const ec_array *a = ec_executor_output(executor, 0);
    double *count = a->data, before = count[0];
    assert_true(before > 0);
    flag = 1;
    for (size_t k = 0; k < RX + TX; k++)
        ((double *)p.X.data)[k * p.X.ld] = gene(77, k);
    memset(p.status, 0, N);
    ((double *)p.X.data)[0] = 99; /* outside of the box: not looked at */
    assert_int_equal(ec_executor_run(executor, &p.X, NULL, NULL, p.status, N, 0), EC_OK);
    assert_int_equal(p.status[0], 0);
    ec_executor_destroy(&executor);
    release(&p);
    ec_graph_destroy(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),    cmocka_unit_test(test_sight),
        cmocka_unit_test(test_many),      cmocka_unit_test(test_group_fails),
        cmocka_unit_test(test_samples),   cmocka_unit_test(test_designs),
        cmocka_unit_test(test_constant),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_interrupt), cmocka_unit_test(test_stop_flag)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
