/* test_fdtd.c: structures on a Yee grid against exact answers. */
#include "fdtd_harness.h"

/* Frequencies of a metal box of this size, found between two corners where no mode has a node. */
static void modes_of(const double size[3], double cell, double dielectric, int64_t steps,
                     double from, double to, int32_t count, double *modes)
{
    ec_fdtd_config c;
    ec_fdtd_material filling = fdtd_material("filling", 4, 0);
    ec_fdtd_object half =
        fdtd_box("half", 0, (double[]){0, 0, 0}, (double[]){dielectric, size[1], size[2]});
    const double x = 3 * cell, y = 2 * cell, z = 4 * cell;
    ec_fdtd_port port[4] = {
        fdtd_port(EC_FDTD_CURRENT, "in", (double[]){x, y, z}, (double[]){x, y + 2 * cell, z}, 1),
        fdtd_port(EC_FDTD_PROBE, "out", (double[]){size[0] - x, y, size[2] - z},
                  (double[]){size[0] - x, y + 2 * cell, size[2] - z}, 1)};
    double frequency[] = {from, to};

    ec_fdtd_config_default(&c);
    fdtd_walls(&c, EC_FDTD_WALL_PEC);
    fdtd_domain(&c, (double[]){0, 0, 0}, size);
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = cell;
    c.n_frequencies = 2;
    c.frequency = frequency;
    c.ports = port;
    c.n_ports = 2;
    c.max_steps = steps;
    c.decay_db = INFINITY;
    if (dielectric > 0) {
        c.objects = &half;
        c.n_objects = 1;
        c.materials = &filling;
        c.n_materials = 1;
    }
    ec_fdtd_what what = {
        .output = EC_FDTD_MODES, .i = 1, .j = 0, .count = count, .from = from, .to = to};
    if (fdtd_values(cpu, &c, 1, &what, (double *[]){modes}) < 0)
        fail_msg("%s", ec_error_text());
}

/* On a uniform grid the modes of an empty box are known exactly: sin^2(w dt / 2) / (c dt)^2 is the sum
 * of sin^2(k_i d / 2) / d^2 (Taflove and Hagness 2005, equation 4.12), k_i = m_i pi / size_i. */
static double grid_mode(const double size[3], double d, const int m[3])
{
    const double dt = 0.99 * d / (EC_LIGHT_SPEED * sqrt(3));
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        const double s = sin(0.5 * m[i] * EC_PI / size[i] * d) / d;
        sum += s * s;
    }
    return asin(EC_LIGHT_SPEED * dt * sqrt(sum)) / (EC_PI * dt);
}

static void empty_cavity(void **state)
{
    static const int modes[][3] = {{1, 0, 1}, {1, 0, 2}, {2, 0, 1}, {2, 0, 2}};
    const double size[3] = {50 * mm, 20 * mm, 60 * mm}, cell = 2 * mm;
    double found[5];
    (void)state;

    modes_of(size, cell, 0, 12000, 3e9, 7.85e9, 5, found);
    for (int i = 0; i < 4; i++) {
        const double exact = grid_mode(size, cell, modes[i]);
        if (!(fabs(found[i] - exact) < 1e-5 * exact))
            fail_msg("mode %d: %.9g Hz, the grid has %.9g Hz", i, found[i], exact);
    }
    assert_true(isnan(found[4]));
}

/* Half filled with eps_r 4: the reference list to 1 %, which the coarse grid allows. */
static void half_filled_cavity(void **state)
{
    static const double list[] = {2.32378e9, 3.32294e9, 4.43169e9, 4.50412e9, 5.26902e9};
    double found[5];
    (void)state;

    modes_of((double[]){50 * mm, 20 * mm, 60 * mm}, 2 * mm + 0.5 * mm, 25 * mm, 12000, 2e9, 5.3e9,
             5, found);
    for (int i = 0; i < 5; i++)
        if (!(fabs(found[i] - list[i]) < 0.01 * list[i]))
            fail_msg("mode %d: %.9g Hz, expected %.9g Hz", i, found[i], list[i]);
}

/* Two ports at the ends of a wire over a ground in the open: its S-parameters by everything that must
 * not matter: alone or beside others, with one thread or as many as there are, each on its own. */
enum { N = 3, DESIGNS = 5 };

static void line_of(ec_backend *backend, int32_t n, const double *lengths, ec_c128 *s)
{
    static const double frequency[N] = {2e9, 4e9, 6e9};
    ec_fdtd_config c;
    ec_fdtd_object strip = fdtd_object(EC_FDTD_WIRE, "strip"),
                   ground = fdtd_object(EC_FDTD_PLATE, "ground");
    ec_fdtd_port port[2] = {
        fdtd_port(EC_FDTD_LUMPED, "in", (double[]){0, 0, 0}, (double[]){0, 0, 2 * mm}, 50),
        fdtd_port(EC_FDTD_LUMPED, "out", (double[]){0, 0, 0}, (double[]){0, 0, 2 * mm}, 75)};
    ec_fdtd_material board = fdtd_material("board", 2.2, 0.01);
    ec_graph *g = NULL;
    ec_call *call = NULL;
    double range[2] = {9 * mm, 15 * mm};

    assert_int_equal(ec_graph_create(&g), EC_OK);
    const ec_expr length = ec_graph_variable(g, false, 0, 0, range, range + 1);
    ec_fdtd_config_default(&c);
    strip.axis = 0;
    strip.to[0] = (ec_fdtd_number){0, length};
    strip.at[2] = strip.to[2] = fdtd_number(2 * mm);
    ground.at[0] = fdtd_number(7.5 * mm);
    ground.size[0] = fdtd_number(19 * mm);
    ground.size[1] = fdtd_number(10 * mm);
    ec_fdtd_object objects[3] = {
        fdtd_box("board", 0, (double[]){-2 * mm, -5 * mm, 0}, (double[]){17 * mm, 5 * mm, 2 * mm}),
        ground, strip};
    port[1].from[0] = port[1].to[0] = (ec_fdtd_number){0, length};
    c.objects = objects;
    c.n_objects = 3;
    c.materials = &board;
    c.n_materials = 1;
    c.ports = port;
    c.n_ports = 2;
    c.frequency = frequency;
    c.n_frequencies = N;
    c.grid.largest = 1.5 * mm;
    c.grid.air = 4 * mm;
    c.layers = 6;
    c.max_steps = 4000;
    if (ec_fdtd_call(g, &c, &call) < 0)
        fail_msg("%s", ec_error_text());
    const ec_expr e[4] = {ec_fdtd_value(g, call, &(ec_fdtd_what){EC_FDTD_S, 0, 0, 0, 0, 0}),
                          ec_fdtd_value(g, call, &(ec_fdtd_what){EC_FDTD_S, 1, 0, 0, 0, 0}),
                          ec_fdtd_value(g, call, &(ec_fdtd_what){EC_FDTD_S, 0, 1, 0, 0, 0}),
                          ec_fdtd_value(g, call, &(ec_fdtd_what){EC_FDTD_S, 1, 1, 0, 0, 0})};
    const ec_executor_info info = {.n_outputs = 4, .outputs = e, .max_candidates = (size_t)n};
    ec_executor *executor = NULL;
    ec_array X = {0};
    void *status = NULL;
    assert_int_equal(
        ec_array_create(backend, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &(int32_t){1}, (size_t)n, 1),
        EC_OK);
    assert_int_equal(backend->ops->alloc(backend, 64, &status), EC_OK);
    memcpy(X.data, lengths, (size_t)n * sizeof *lengths);
    if (ec_executor_create(g, backend, &info, &executor) < 0 ||
        ec_executor_run(executor, &X, NULL, NULL, status, (size_t)n, 0) != EC_OK)
        fail_msg("%s", ec_error_text());
    for (int k = 0; k < 4; k++) {
        const ec_array *a = ec_executor_output(executor, k);
        for (int f = 0; f < N; f++)
            for (int d = 0; d < n; d++)
                s[(d * 4 + k) * N + f] = ((const ec_c128 *)a->data)[(size_t)f * a->ld + (size_t)d];
    }
    for (int d = 0; d < n; d++)
        assert_int_equal(((const uint8_t *)status)[d], 0);
    backend->ops->release(backend, status);
    ec_executor_destroy(&executor);
    ec_array_release(backend, &X);
    ec_graph_destroy(&g);
}

static void neighbours_change_nothing(void **state)
{
    const double lengths[DESIGNS] = {9 * mm, 10.2 * mm, 12 * mm, 13.37 * mm, 15 * mm};
    ec_c128 all[DESIGNS * 4 * N], one[4 * N];
    (void)state;

    line_of(cpu, DESIGNS, lengths, all);
    for (int threads = 1; threads <= 3; threads += 2) {
        ec_backend *other = NULL;
        assert_int_equal(
            ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = threads}, &other),
            EC_OK);
        line_of(other, 1, lengths + threads, one); /* 3 threads share a domain's planes */
        assert_memory_equal(one, all + threads * 4 * N, sizeof one);
        ec_backend_destroy(&other);
    }
    for (int d = 0; d < DESIGNS; d++)
        for (int f = 0; f < N; f++) {
            const ec_c128 *s11 = all + d * 4 * N + f, *s21 = s11 + N, *s12 = s21 + N;
            const double power =
                s11->re * s11->re + s11->im * s11->im + s21->re * s21->re + s21->im * s21->im;
            if (!(hypot(s21->re - s12->re, s21->im - s12->im) < 5e-3) || !(power < 1) ||
                !(power > 0.1))
                fail_msg("design %d, frequency %d: S21 %g %+gj, S12 %g %+gj, power %g", d, f,
                         s21->re, s21->im, s12->re, s12->im, power);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_cavity),
        cmocka_unit_test(half_filled_cavity),
        cmocka_unit_test(neighbours_change_nothing),
    };
    return cmocka_run_group_tests(tests, fdtd_open, fdtd_close);
}
