/* test_fdtd_walls.c: periodic and magnetic walls, and conductors that cut cells. */
#include "fdtd_harness.h"

static void run(ec_backend *backend, const ec_fdtd_config *c, const ec_fdtd_what *what, double *to)
{
    if (fdtd_values(backend, c, 1, what, (double *[]){to}) < 0)
        fail_msg("%s", ec_error_text());
}

/* ---- periodic ----------------------------------------------------------------------------------- */

/* A box of uniform cells, periodic along all axes, driven at one node and looked at, at another: moved
 * by `shift` cells, all around. Cells are a power of 2, so places are exact. */
enum { CELLS = 8 };
static const double cell = 1.0 / 512;

static void ring(ec_backend *backend, const int shift[3], const ec_fdtd_what *what, double *to)
{
    static const double frequency[] = {16e9, 32e9};
    const int in[3] = {1, 2, 3}, out[3] = {6, 5, 1};
    double at[4][3];
    ec_fdtd_config c;
    ec_fdtd_port port[2];

    for (int i = 0; i < 3; i++) {
        at[0][i] = at[1][i] = (in[i] + shift[i]) % CELLS * cell;
        at[2][i] = at[3][i] = (out[i] + shift[i]) % CELLS * cell;
    }
    at[1][1] += cell;
    at[3][1] += cell;
    port[0] = fdtd_port(EC_FDTD_CURRENT, "in", at[0], at[1], 1);
    port[1] = fdtd_port(EC_FDTD_PROBE, "out", at[2], at[3], 1);
    ec_fdtd_config_default(&c);
    fdtd_walls(&c, EC_FDTD_WALL_PERIODIC);
    fdtd_domain(&c, (double[]){0, 0, 0}, (double[]){CELLS * cell, CELLS * cell, CELLS * cell});
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = cell;
    c.n_frequencies = 2;
    c.frequency = frequency;
    c.ports = port;
    c.n_ports = 2;
    c.max_steps = 6000;
    c.decay_db = INFINITY;
    run(backend, &c, what, to);
}

/* Modes with a whole wave along x, one along two axes, along three, as the grid has them. */
static void modes_between_periodic_walls(void **state)
{
    const ec_fdtd_what what = {
        .output = EC_FDTD_MODES, .i = 1, .j = 0, .count = 4, .from = 16e9, .to = 31.5e9};
    const double dt = 0.99 * cell / (EC_LIGHT_SPEED * sqrt(3));
    double found[4];
    (void)state;

    ring(cpu, (int[]){0, 0, 0}, &what, found);
    for (int waves = 1; waves <= 2; waves++) { /* along `waves` axes */
        const double s = sin(EC_PI / CELLS) / cell;
        const double exact = asin(EC_LIGHT_SPEED * dt * sqrt(waves) * s) / (EC_PI * dt);
        if (!(fabs(found[waves - 1] - exact) < 2e-5 * exact))
            fail_msg("%d: %.9g Hz, the grid has %.9g Hz", waves, found[waves - 1], exact);
    }
}

/* No place is special: the same bits wherever the source is, also on the walls and across them. */
static void places_between_periodic_walls(void **state)
{
    static const int shifts[][3] = {{7, 0, 0}, {0, 6, 0}, {0, 0, 5}, {7, 6, 5}, {2, 3, 7}};
    const ec_fdtd_what impedance = {EC_FDTD_IMPEDANCE, 0, 0, 0, 0, 0};
    const ec_fdtd_what modes = {
        .output = EC_FDTD_MODES, .i = 1, .j = 0, .count = 4, .from = 16e9, .to = 31.5e9};
    double first[2][4], other[2][4];
    ec_backend *threads = NULL;
    (void)state;

    assert_int_equal(ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = 3}, &threads),
                     EC_OK);
    ring(cpu, (int[]){0, 0, 0}, &impedance, first[0]);
    ring(cpu, (int[]){0, 0, 0}, &modes, first[1]);
    for (size_t k = 0; k < sizeof shifts / sizeof *shifts; k++) {
        ring(threads, shifts[k], &impedance, other[0]);
        ring(threads, shifts[k], &modes, other[1]);
        assert_memory_equal(other, first, sizeof first); /* with NaN behind the last mode */
    }
    ec_backend_destroy(&threads);
}

static void one_periodic_side(void **state)
{
    const double frequency[] = {1e9};
    ec_fdtd_config c;
    ec_graph *g = NULL;
    ec_call *call = NULL;
    (void)state;

    ec_fdtd_config_default(&c);
    c.frequency = frequency;
    c.n_frequencies = 1;
    c.wall[1][1] = EC_FDTD_WALL_PERIODIC;
    assert_int_equal(ec_graph_create(&g), EC_OK);
    assert_int_equal(ec_fdtd_call(g, &c, &call), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "only the high wall of axis y is periodic"));
    ec_graph_destroy(&g);
}

/* ---- symmetry ----------------------------------------------------------------------------------- */

enum { N = 3 };

/* A lossy box with a dielectric block and a port in its middle plane x = 0, whole or cut there by a
 * magnetic wall. */
static void symmetric_box(bool half, double *s)
{
    static const double frequency[N] = {3e9, 4e9, 5e9};
    const double lo[3] = {half ? 0 : -24 * mm, 0, 0}, hi[3] = {24 * mm, 20 * mm, 30 * mm};
    ec_fdtd_material m[2] = {fdtd_material("air", 1, 0.02), fdtd_material("block", 3, 0)};
    ec_fdtd_object objects[2] = {fdtd_box("air", 0, lo, hi),
                                 fdtd_box("block", 1,
                                          (double[]){half ? 0 : -9 * mm, 4 * mm, 6 * mm},
                                          (double[]){9 * mm, 14 * mm, 20 * mm})};
    ec_fdtd_port port = fdtd_port(EC_FDTD_LUMPED, "in", (double[]){0, 0, 12 * mm},
                                  (double[]){0, 20 * mm, 12 * mm}, half ? 100 : 50);
    ec_fdtd_config c;

    ec_fdtd_config_default(&c);
    fdtd_walls(&c, EC_FDTD_WALL_PEC);
    if (half)
        c.wall[0][0] = EC_FDTD_WALL_PMC;
    fdtd_domain(&c, lo, hi);
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = 2 * mm;
    c.grid.cell[0] = 3 * mm;
    c.frequency = frequency;
    c.n_frequencies = N;
    c.ports = &port;
    c.n_ports = 1;
    c.objects = objects;
    c.n_objects = 2;
    c.materials = m;
    c.n_materials = 2;
    c.max_steps = 3000;
    c.decay_db = INFINITY;
    c.double_precision = true;
    run(cpu, &c, &(ec_fdtd_what){EC_FDTD_S, 0, 0, 0, 0, 0}, s);
}

/* The half has twice the impedance of the whole, so a port of twice the ohms has its reflection. */
static void half_with_a_magnetic_wall(void **state)
{
    double whole[2 * N], half[2 * N];
    (void)state;

    symmetric_box(false, whole);
    symmetric_box(true, half);
    for (int i = 0; i < 2 * N; i++)
        if (!(fabs(whole[i] - half[i]) < 1e-9) || !(fabs(whole[i]) < 1.01))
            fail_msg("%d: whole %.12g, half %.12g", i, whole[i], half[i]);
}

/* ---- conductors that cut cells ------------------------------------------------------------------ */

/* A round cavity of radius a and height h in a block of metal on a coarse grid; its lowest mode in a
 * band. */
static double round_cavity(bool conformal, double a, double h, const double in[2][3],
                           const double out[2][3], double from, double to)
{
    const double edge = 22 * mm, frequency[] = {from, to};
    ec_fdtd_config c;
    ec_fdtd_object objects[2] = {
        fdtd_box("block", EC_FDTD_PEC, (double[]){-edge, -edge, 0}, (double[]){edge, edge, h}),
        fdtd_object(EC_FDTD_CYLINDER, "cavity")};
    ec_fdtd_port port[2] = {fdtd_port(EC_FDTD_CURRENT, "in", in[0], in[1], 1),
                            fdtd_port(EC_FDTD_PROBE, "out", out[0], out[1], 1)};
    double found = NAN;

    objects[1].material = EC_FDTD_FREE_SPACE;
    objects[1].radius = fdtd_number(a);
    objects[1].length = fdtd_number(h);
    objects[1].at[2] = fdtd_number(0.5 * h);
    ec_fdtd_config_default(&c);
    fdtd_walls(&c, EC_FDTD_WALL_PEC);
    fdtd_domain(&c, (double[]){-edge, -edge, 0}, (double[]){edge, edge, h});
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = 2 * mm;
    c.grid.conformal = conformal;
    c.frequency = frequency;
    c.n_frequencies = 2;
    c.ports = port;
    c.n_ports = 2;
    c.objects = objects;
    c.n_objects = 2;
    c.max_steps = conformal ? 10000 : 6000;
    c.decay_db = INFINITY;
    run(cpu, &c,
        &(ec_fdtd_what){
            .output = EC_FDTD_MODES, .i = 1, .j = 0, .count = 1, .from = from, .to = to},
        &found);
    return found;
}

/* TM010 and TE111 at ten cells a radius: staircases miss by per cents, true surfaces hardly. */
static void round_cavities(void **state)
{
    const double a = 20 * mm, h = 30 * mm;
    const double tm010 = 2.404825558 * EC_LIGHT_SPEED / (2 * EC_PI * a);
    const double te111 = EC_LIGHT_SPEED / (2 * EC_PI) * hypot(1.841183781 / a, EC_PI / h);
    const double z[2][3] = {{2 * mm, 0, 2 * mm}, {2 * mm, 0, 4 * mm}};
    const double z2[2][3] = {{-4 * mm, 4 * mm, 2 * mm}, {-4 * mm, 4 * mm, 4 * mm}};
    const double x[2][3] = {{0, 2 * mm, 10 * mm}, {2 * mm, 2 * mm, 10 * mm}};
    const double x2[2][3] = {{-2 * mm, -4 * mm, 20 * mm}, {0, -4 * mm, 20 * mm}};
    double error[2][2];
    (void)state;

    for (int conformal = 0; conformal < 2; conformal++) {
        error[0][conformal] =
            round_cavity(conformal, a, 6 * mm, z, z2, 0.9 * tm010, 1.1 * tm010) / tm010 - 1;
        error[1][conformal] =
            round_cavity(conformal, a, h, x, x2, 0.93 * te111, 1.05 * te111) / te111 - 1;
    }
    for (int mode = 0; mode < 2; mode++) {
        print_message("%s: staircase %+.3f %%, conformal %+.3f %%\n", mode ? "TE111" : "TM010",
                      100 * error[mode][0], 100 * error[mode][1]);
        assert_true(fabs(error[mode][1]) < 2e-3);
        assert_true(fabs(error[mode][0]) > 2 * fabs(error[mode][1]));
    }
}

/* A little beyond a grid line the surface leaves slivers of faces, which would grow without bounds. */
static void slivers_are_stable(void **state)
{
    const double z[2][3] = {{2 * mm, 0, 2 * mm}, {2 * mm, 0, 4 * mm}};
    const double z2[2][3] = {{-4 * mm, 4 * mm, 2 * mm}, {-4 * mm, 4 * mm, 4 * mm}};
    (void)state;

    for (int k = 1; k <= 3; k++) {
        const double a = (20 + 0.03 * k) * mm;
        const double exact = 2.404825558 * EC_LIGHT_SPEED / (2 * EC_PI * a);
        const double found = round_cavity(true, a, 6 * mm, z, z2, 0.9 * exact, 1.1 * exact);
        if (!(fabs(found - exact) < 4e-3 * exact))
            fail_msg("radius %g: %.9g Hz, exact %.9g Hz", a, found, exact);
    }
}

/* A piece of coaxial line with open ends at a low frequency: two open halves side by side. */
static double coax(bool conformal)
{
    const double inner = 3.1 * mm, outer = 7.13 * mm, edge = 8 * mm, length = 10 * mm, f = 1e8;
    ec_fdtd_config c;
    ec_fdtd_object objects[3] = {
        fdtd_box("block", EC_FDTD_PEC, (double[]){-edge, -edge, 0}, (double[]){edge, edge, length}),
        fdtd_object(EC_FDTD_CYLINDER, "hole"), fdtd_object(EC_FDTD_CYLINDER, "inner")};
    ec_fdtd_port port = fdtd_port(EC_FDTD_LUMPED, "in", (double[]){3 * mm, 0, 5 * mm},
                                  (double[]){(conformal ? 8 : 7) * mm, 0, 5 * mm}, 50);
    double z[2];

    objects[1].material = EC_FDTD_FREE_SPACE;
    objects[1].radius = fdtd_number(outer);
    objects[2].radius = fdtd_number(inner);
    for (int i = 1; i < 3; i++) {
        objects[i].length = fdtd_number(length);
        objects[i].at[2] = fdtd_number(0.5 * length);
    }
    ec_fdtd_config_default(&c);
    fdtd_walls(&c, EC_FDTD_WALL_PEC);
    c.wall[2][0] = c.wall[2][1] = EC_FDTD_WALL_PMC;
    fdtd_domain(&c, (double[]){-edge, -edge, 0}, (double[]){edge, edge, length});
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = 1 * mm;
    c.grid.conformal = conformal;
    c.frequency = &f;
    c.n_frequencies = 1;
    c.pulse = EC_FDTD_GAUSSIAN;
    c.pulse_width = 5e9;
    c.ports = &port;
    c.n_ports = 1;
    c.objects = objects;
    c.n_objects = 3;
    c.max_steps = 12000;
    c.decay_db = 60;
    c.double_precision = true;
    run(cpu, &c, &(ec_fdtd_what){EC_FDTD_IMPEDANCE, 0, 0, 0, 0, 0}, z);
    return -2 * tan(EC_PI * f * length / EC_LIGHT_SPEED) * z[1] /
           (EC_FDTD_ETA0 / (2 * EC_PI) * log(outer / inner));
}

static void coax_impedance(void **state)
{
    const double staircase = coax(false) - 1, conformal = coax(true) - 1;
    (void)state;

    print_message("coax: staircase %+.3f %%, conformal %+.3f %%\n", 100 * staircase,
                  100 * conformal);
    assert_true(fabs(conformal) < 0.01);
    assert_true(fabs(staircase) > fabs(conformal));
}

/* ---- absorbing ---------------------------------------------------------------------------------- */

enum { EARS = 3 }; /* Ex, Ey, Ez at the far corner of the plate */

/* The series of a run. */
typedef struct heard {
    int64_t steps;
    double *series; /* [EARS][steps] */
} heard;

static void hear(void *user, size_t design, int32_t driven, const ec_fdtd_result *r)
{
    heard *to = user;
    (void)design, (void)driven;

    assert_int_equal(r->status, EC_OK);
    assert_int_equal(r->steps, to->steps);
    memcpy(to->series, r->series, EARS * (size_t)r->steps * sizeof *to->series);
}

/* A plate of metal of cells[0] x cells[1] cells of 1 mm, three cells of air and ten absorbing ones about it and `more`
 * cells of air; a dipole across it one cell above a corner (J. A. Roden and S. D. Gedney, Microw.
 * Opt. Technol. Lett. 27, 2000, with cells of {25, 100}, 2100 steps, and 75 more for the reference). */
static void plate(const int cells[2], int more, heard *to)
{
    static const int32_t driven[] = {0};
    static const double frequency[] = {1e9, 10e9};
    const double d = 1 * mm, air = (3 + more) * d, x = cells[0] * d, y = cells[1] * d;
    const int32_t kept[EARS] = {(1 + 0) * EC_FDTD_PORT_PROBES, (1 + 1) * EC_FDTD_PORT_PROBES,
                                (1 + 2) * EC_FDTD_PORT_PROBES};
    ec_fdtd_object metal = fdtd_object(EC_FDTD_PLATE, "metal");
    ec_fdtd_port port[1 + EARS];
    ec_fdtd_config c;
    const ec_fdtd_wants wants = {.n_driven = 1, .driven = driven, .n_kept = EARS, .kept = kept};

    metal.at[0] = fdtd_number(0.5 * x);
    metal.at[1] = fdtd_number(0.5 * y);
    metal.size[0] = fdtd_number(x);
    metal.size[1] = fdtd_number(y);
    port[0] = fdtd_port(EC_FDTD_CURRENT, "in", (double[]){0, 0, d}, (double[]){0, 0, 2 * d}, 1);
    for (int axis = 0; axis < EARS; axis++) {
        const double from[3] = {x, y + d, 0};
        double end[3] = {from[0], from[1], from[2]};
        end[axis] += d;
        port[1 + axis] = fdtd_port(EC_FDTD_PROBE, "ear", from, end, 1);
    }
    ec_fdtd_config_default(&c);
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = d;
    fdtd_domain(&c, (double[]){-air, -air, -air}, (double[]){x + air, y + air, air});
    c.layers = 10;
    c.pml_order = 3;
    c.pml_kappa = 8;
    c.pml_alpha = 0.05;
    c.pml_alpha_order = 0;
    c.pml_sigma = 1.1;
    c.pulse = EC_FDTD_DIFFERENTIATED;
    c.pulse_width = sqrt(log(10)) / (EC_PI * 53e-12);
    c.frequency = frequency;
    c.n_frequencies = 2;
    c.objects = &metal;
    c.n_objects = 1;
    c.ports = port;
    c.n_ports = 1 + EARS;
    c.max_steps = to->steps;
    c.decay_db = INFINITY;
    c.double_precision = false;
    fdtd_run_stack(cpu, &c, &wants, hear, to);
}

/* What absorbing cells three cells from a plate give back, over the peak of the same component with them
 * far away. ECITON_FULL_FDTD=1: as published, some minutes. */
static void absorbing_cells_near_a_plate(void **state)
{
    const char *all = getenv("ECITON_FULL_FDTD");
    const bool full = all && strcmp(all, "1") == 0;
    const int cells[2] = {full ? 25 : 8, full ? 100 : 24};
    heard near = {.steps = full ? 2100 : 500}, far = near;
    (void)state;

    near.series = malloc(2 * EARS * (size_t)near.steps * sizeof *near.series);
    assert_non_null(near.series);
    far.series = near.series + EARS * near.steps;
    plate(cells, 0, &near);
    plate(cells, full ? 75 : 14, &far);
    for (int ear = 0; ear < EARS; ear++) {
        double peak = 0, error = 0;
        for (int64_t t = ear * near.steps; t < (ear + 1) * near.steps; t++) {
            peak = fmax(peak, fabs(far.series[t]));
            error = fmax(error, fabs(near.series[t] - far.series[t]));
        }
        const double db = 20 * log10(error / peak);
        print_message("E%c: error %.1f dB\n", "xyz"[ear], db);
        if (!(db < (ear == 2 ? -60 : -40)))
            fail_msg("E%c: error %.1f dB", "xyz"[ear], db);
    }
    free(near.series);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_between_periodic_walls),
        cmocka_unit_test(places_between_periodic_walls),
        cmocka_unit_test(one_periodic_side),
        cmocka_unit_test(half_with_a_magnetic_wall),
        cmocka_unit_test(round_cavities),
        cmocka_unit_test(slivers_are_stable),
        cmocka_unit_test(coax_impedance),
        cmocka_unit_test(absorbing_cells_near_a_plate),
    };
    return cmocka_run_group_tests(tests, fdtd_open, fdtd_close);
}
