/* test_fdtd_network.c: what S-parameters of any structure must be: symmetric, the same in a mirror, and no
 * more power than goes in. */
#include "fdtd_harness.h"

#include <complex.h>
#undef I

typedef double complex cplx;

enum { N = 3 };
static const double frequency[N] = {4e9, 8e9, 12e9};

/* ---- symmetry ----------------------------------------------------------------------------------- */

/* Two dipoles of thin rods, each with a port of an even number of edges in its gap, the second one also two
 * columns wide, beside two blocks in the open; all x times `mirror`. s: [i][j][frequency]. */
static void dipoles(int mirror, cplx s[2][2][N])
{
    ec_fdtd_material materials[2] = {fdtd_material("glass", 4, 0), fdtd_material("wet", 9, 0.3)};
    ec_fdtd_object objects[6];
    ec_fdtd_port port[2];
    ec_fdtd_config c;
    /* Low and high corners in cells: the blocks, then the rods. */
    static const int corners[6][2][3] = {{{-2, -5, -4}, {2, 1, 3}},    {{3, 0, -2}, {6, 4, 4}},
                                         {{-5, -1, -7}, {-5, -1, -2}}, {{-5, -1, 2}, {-5, -1, 6}},
                                         {{-2, 4, 1}, {2, 5, 1}},      {{4, 4, 1}, {7, 5, 1}}};

    ec_fdtd_config_default(&c);
    for (int i = 0; i < 6; i++) {
        double lo[3], hi[3];
        for (int axis = 0; axis < 3; axis++) {
            lo[axis] = corners[i][0][axis] * mm;
            hi[axis] = corners[i][1][axis] * mm;
        }
        if (mirror < 0) {
            lo[0] = -corners[i][1][0] * mm;
            hi[0] = -corners[i][0][0] * mm;
        }
        objects[i] = fdtd_box("part", i < 2 ? i : EC_FDTD_PEC, lo, hi);
        if (i > 1)
            objects[i].kind = i < 4 ? EC_FDTD_WIRE : EC_FDTD_PLATE;
        if (i == 2 || i == 3) {
            objects[i].axis = 2;
            for (int axis = 0; axis < 3; axis++) {
                objects[i].at[axis] = fdtd_number(lo[axis]);
                objects[i].to[axis] = fdtd_number(hi[axis]);
            }
        }
        objects[i].priority = i;
    }
    port[0] = fdtd_port(EC_FDTD_LUMPED, "z", (double[]){-5 * mirror * mm, -1 * mm, -2 * mm},
                        (double[]){-5 * mirror * mm, -1 * mm, 2 * mm}, 50);
    port[1] = fdtd_port(EC_FDTD_LUMPED, "x", (double[]){2 * mirror * mm, 4 * mm, 1 * mm},
                        (double[]){4 * mirror * mm, 5 * mm, 1 * mm}, 75);
    port[1].axis = 0;
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = 1 * mm;
    fdtd_domain(&c, (double[]){-10 * mm, -9 * mm, -9 * mm}, (double[]){10 * mm, 9 * mm, 9 * mm});
    c.layers = 6;
    c.frequency = frequency;
    c.n_frequencies = N;
    c.objects = objects;
    c.n_objects = 6;
    c.materials = materials;
    c.n_materials = 2;
    c.ports = port;
    c.n_ports = 2;
    c.decay_db = 120;
    c.max_steps = 20000;
    c.double_precision = true;
    ec_fdtd_what what[4];
    double *to[4];
    for (int k = 0; k < 4; k++) {
        what[k] = (ec_fdtd_what){.output = EC_FDTD_S, .i = k / 2, .j = k % 2};
        to[k] = (double *)s[k / 2][k % 2];
    }
    if (fdtd_values(cpu, &c, 4, what, to) < 0)
        fail_msg("%s", ec_error_text());
}

/* However many edges a port has: S is symmetric, and the mirrored structure's is the same. */
static void ports_have_no_direction(void **state)
{
    cplx s[2][2][N], mirrored[2][2][N];
    double asymmetry = 0, change = 0;
    (void)state;

    dipoles(1, s);
    dipoles(-1, mirrored);
    for (int f = 0; f < N; f++) {
        asymmetry = fmax(asymmetry, cabs(s[0][1][f] - s[1][0][f]) / cabs(s[1][0][f]));
        for (int k = 0; k < 4; k++)
            change = fmax(change, cabs(s[k / 2][k % 2][f] - mirrored[k / 2][k % 2][f]) /
                                      cabs(s[k / 2][k % 2][f]));
        assert_true(cabs(s[1][0][f]) > 1e-3);
        for (int j = 0; j < 2; j++)
            assert_true(cabs(s[0][j][f]) < 1 && cabs(s[1][j][f]) < 1);
    }
    print_message("S21 - S12 up to %.2g, mirrored up to %.2g of each\n", asymmetry, change);
    assert_true(asymmetry < 1e-5);
    assert_true(change < 1e-5);
}

/* ---- microstrip --------------------------------------------------------------------------------- */

/* Impedance of a thin strip on a board (E. Hammerstad and O. Jensen, 1980); u: width over height. */
static double hammerstad(double u, double eps_r)
{
    const double a = 1 + log((pow(u, 4) + pow(u / 52, 2)) / (pow(u, 4) + 0.432)) / 49 +
                     log(1 + pow(u / 18.1, 3)) / 18.7;
    const double b = 0.564 * pow((eps_r - 0.9) / (eps_r + 3), 0.053);
    const double eps = 0.5 * (eps_r + 1) + 0.5 * (eps_r - 1) * pow(1 + 10 / u, -a * b);
    const double f = 6 + (2 * EC_PI - 6) * exp(-pow(30.666 / u, 0.7528));

    return 376.730313668 / (2 * EC_PI * sqrt(eps)) * log(f / u + sqrt(1 + 4 / (u * u)));
}

/* A strip, cut in its middle by a magnetic wall, `across` cells wide and `high` above the ground: its
 * impedance at 2 GHz over that of the formula, less 1. */
static double strip_error(int across, int high, double eps_r, double u, bool corrected)
{
    static const double f[] = {1e9, 1.5e9, 2e9, 2.5e9, 3e9, 3.5e9, 4e9, 4.5e9};
    const double h = 0.8 * mm, dx = u * h / across, dy = 0.8 * mm, dz = h / high;
    const double side = 0.5 * across * dx, wide = side + ceil(5 * h / dx) * dx, top = 6 * h;
    const double start = 3 * dy, length = 16 * dy;
    const ec_fdtd_material board = fdtd_material("board", eps_r, 0);
    ec_fdtd_object objects[2] = {
        fdtd_box("board", 0, (double[]){0, 0, 0}, (double[]){wide, length, h}),
        fdtd_box("strip", EC_FDTD_PEC, (double[]){0, 0, h}, (double[]){side, length, h})};
    ec_fdtd_port port = fdtd_port(EC_FDTD_MICROSTRIP, "in", (double[]){0, start, 0},
                                  (double[]){side, start, h}, INFINITY);
    ec_fdtd_config c;
    cplx z[8];

    objects[1].kind = EC_FDTD_PLATE;
    ec_fdtd_config_default(&c);
    c.grid.cell[0] = dx;
    c.grid.cell[1] = dy;
    c.grid.cell[2] = dz;
    c.grid.edge_correction = corrected;
    fdtd_domain(&c, (double[]){0, 0, 0}, (double[]){wide, length, top});
    c.wall[0][0] = EC_FDTD_WALL_PMC;
    c.wall[2][0] = EC_FDTD_WALL_PEC;
    port.axis = 2;
    port.line_axis = 1;
    port.line_sign = 1;
    port.plane = fdtd_number(9 * dy);
    c.frequency = f;
    c.n_frequencies = 8;
    c.pulse_width = 20e9;
    c.objects = objects;
    c.n_objects = 2;
    c.materials = &board;
    c.n_materials = 1;
    c.ports = &port;
    c.n_ports = 1;
    c.decay_db = 40;
    c.max_steps = 6000;
    if (fdtd_values(cpu, &c, 1, &(ec_fdtd_what){.output = EC_FDTD_LINE_IMPEDANCE},
                    (double *[]){(double *)z}) < 0)
        fail_msg("%s", ec_error_text());
    return 0.5 * creal(z[2]) / hammerstad(u, eps_r) - 1;
}

/* With constant fields in the cells at its edges a strip is wider than it is, by a part of a cell. */
static void a_strip_has_its_impedance(void **state)
{
    static const double u[] = {3.08, 0.97}, eps_r[] = {2.2, 9.8}; /* 50 ohm */
    (void)state;

    for (int k = 0; k < 3; k++) {
        const int across = k == 1 ? 4 : 2;
        const double plain = strip_error(across, 4, eps_r[k / 2], u[k / 2], false);
        const double corrected = strip_error(across, 4, eps_r[k / 2], u[k / 2], true);
        print_message("eps_r %g, %d cells across: %+.1f %%, corrected %+.1f %%\n", eps_r[k / 2],
                      across, 100 * plain, 100 * corrected);
        assert_true(plain < -0.08);
        assert_true(fabs(corrected) < 0.025);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_have_no_direction),
        cmocka_unit_test(a_strip_has_its_impedance),
    };
    return cmocka_run_group_tests(tests, fdtd_open, fdtd_close);
}
