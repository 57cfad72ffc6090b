/* test_fdtd_ports.c: ports of lines and lumped elements against what a grid must give exactly.
 *
 * Waves without a component along a line obey on a grid V(k+1) - V(k) = -j W L' I(k+1/2), I(k+1/2) -
 * I(k-1/2) = -j W C' V(k), W = 2 sin(w dt / 2) / dt, with L' C' = d^2 / c^2 of a cell d. A lumped element
 * works on the mean of V over a step, so with s = 2j tan(w dt / 2) / dt for jw. */
#include "fdtd_harness.h"

#include <complex.h>
#undef I

typedef double complex cplx;

enum { N = 5 };

static const double MU0 = 1.25663706212e-6;
static const double frequency[N] = {1e9, 3e9, 5e9, 7e9, 9e9};

static void values(const ec_fdtd_config *c, int32_t n, const ec_fdtd_what *what, double *const *to)
{
    if (fdtd_values(cpu, c, n, what, to) < 0)
        fail_msg("%s", ec_error_text());
}

static void uniform(ec_fdtd_config *c, const double cell[3])
{
    ec_fdtd_config_default(c);
    memcpy(c->grid.cell, cell, sizeof c->grid.cell);
    c->frequency = frequency;
    c->n_frequencies = N;
    c->double_precision = true;
    c->decay_db = 60;
    c->max_steps = 60000;
}

static double time_step(const double cell[3])
{
    const double sum = 1 / (cell[0] * cell[0]) + 1 / (cell[1] * cell[1]) + 1 / (cell[2] * cell[2]);
    return 0.99 / (EC_LIGHT_SPEED * sqrt(sum));
}

static void near(const char *what, int f, cplx found, cplx expected, double tolerance)
{
    if (!(cabs(found - expected) <= tolerance * cabs(expected)))
        fail_msg("%s at %g GHz: %.9g %+.9gj, expected %.9g %+.9gj", what, 1e-9 * frequency[f],
                 creal(found), cimag(found), creal(expected), cimag(expected));
}

/* ---- elements ----------------------------------------------------------------------------------- */

/* What a port sees that stands at the start of a line of parallel plates, an element at its end. */
typedef struct element {
    const char *name;
    double ohms, henries, farads;
    bool series;
} element;

static cplx admittance(const element *e, cplx s)
{
    const cplx r = isfinite(e->ohms) ? e->ohms : 0;

    if (e->series)
        return 1 / (r + s * e->henries + (e->farads > 0 ? 1 / (s * e->farads) : 0));
    return (isfinite(e->ohms) ? 1 / e->ohms : 0) + s * e->farads +
           (e->henries > 0 ? 1 / (s * e->henries) : 0);
}

static void elements_end_a_line(void **state)
{
    static const element list[] = {
        {"R", 70, 0, 0, false},
        {"C", INFINITY, 0, 0.3e-12, false},
        {"L", INFINITY, 3e-9, 0, false},
        {"R L C side by side", 150, 2e-9, 0.4e-12, false},
        {"R L", 40, 2e-9, 0, true},
        {"R C", 40, 0, 0.3e-12, true},
        {"R L C", 30, 1.5e-9, 0.5e-12, true},
        {"L C", INFINITY, 1.5e-9, 0.5e-12, true},
    };
    enum { CELLS = 6 };
    const double cell[3] = {1 * mm, 2 * mm, 0.5 * mm}, dt = time_step(cell);
    (void)state;

    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const element *e = list + k;
        ec_fdtd_config c;
        const double end = CELLS * cell[0], wide = 2 * cell[1], high = 2 * cell[2];
        ec_fdtd_port port[2] = {
            fdtd_port(EC_FDTD_LUMPED, "in", (double[]){0, 0, 0}, (double[]){0, wide, high}, 60),
            fdtd_port(EC_FDTD_ELEMENT, e->name, (double[]){end, 0, 0}, (double[]){end, wide, high},
                      e->ohms)};
        cplx found[N];

        uniform(&c, cell);
        fdtd_domain(&c, (double[]){0, 0, 0}, (double[]){end, wide, high});
        fdtd_walls(&c, EC_FDTD_WALL_PMC);
        c.wall[2][0] = c.wall[2][1] = EC_FDTD_WALL_PEC;
        port[1].henries = fdtd_number(e->henries);
        port[1].farads = fdtd_number(e->farads);
        port[1].series = e->series;
        c.ports = port;
        c.n_ports = 2;
        values(&c, 1, &(ec_fdtd_what){.output = EC_FDTD_IMPEDANCE}, (double *[]){(double *)found});
        for (int f = 0; f < N; f++) {
            const double half = EC_PI * frequency[f] * dt, W = 2 * sin(half) / dt;
            const cplx jw = CMPLX(0, W), s = CMPLX(0, 2 * tan(half) / dt);
            const double l = MU0 * cell[0] * high / wide;
            const double cap = cell[0] * cell[0] / (EC_LIGHT_SPEED * EC_LIGHT_SPEED * l);
            cplx v = 1, i = 0.5 * jw * cap * v + admittance(e, s) * cos(half) * v;
            for (int n = CELLS; n > 0; n--) {
                v += jw * l * i;
                i += (n > 1 ? 1 : 0.5) * jw * cap * v;
            }
            near(e->name, f, found[f], cos(half) * v / i, 1e-4);
        }
    }
}

/* ---- coaxial lines ------------------------------------------------------------------------------ */

/* A square line: the walls of the domain around a box. */
enum { OUTER = 10, INNER = 2, LENGTH = 24 };

/* Its impedance on the grid, 1 / (c C'), from the potential on the nodes. */
static double square_impedance(void)
{
    static double u[OUTER + 1][OUTER + 1];
    const int lo = (OUTER - INNER) / 2, hi = lo + INNER;
    double charge = 0;

    for (int turn = 0; turn < 3000; turn++)
        for (int j = 1; j < OUTER; j++)
            for (int i = 1; i < OUTER; i++)
                u[j][i] = i >= lo && i <= hi && j >= lo && j <= hi
                              ? 1
                              : 0.25 * (u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1]);
    for (int i = 1; i < OUTER; i++)
        charge += 4 * u[1][i];
    return EC_LIGHT_SPEED * MU0 / charge;
}

static double square_gamma(double cell, double f)
{
    const double dt = time_step((double[]){cell, cell, cell});
    return 2 / cell * asin(cell / (EC_LIGHT_SPEED * dt) * sin(EC_PI * f * dt));
}

static ec_fdtd_port coax(const char *name, double cell, double z, int sign, double ohms)
{
    const double middle = 0.5 * OUTER * cell;
    ec_fdtd_port p = fdtd_port(EC_FDTD_COAX, name, (double[]){0, middle, z},
                               (double[]){middle, middle, z}, ohms);
    p.line_axis = 2;
    p.line_sign = sign;
    p.plane = fdtd_number(6 * cell);
    return p;
}

static void square_line(ec_fdtd_config *c, ec_fdtd_object *inner, double cell, ec_fdtd_wall ends)
{
    const double lo = 0.5 * (OUTER - INNER) * cell, hi = lo + INNER * cell;

    uniform(c, (double[]){cell, cell, cell});
    *inner =
        fdtd_box("inner", EC_FDTD_PEC, (double[]){lo, lo, 0}, (double[]){hi, hi, LENGTH * cell});
    fdtd_domain(c, (double[]){0, 0, 0}, (double[]){OUTER * cell, OUTER * cell, LENGTH * cell});
    fdtd_walls(c, EC_FDTD_WALL_PEC);
    c->wall[2][0] = c->wall[2][1] = ends;
    c->objects = inner;
    c->n_objects = 1;
}

/* Without a resistance both ends go on into absorbing walls: the line's own constants, and nothing comes
 * back. */
static void a_line_measures_itself(void **state)
{
    const double cell = 1 * mm, Z = square_impedance();
    ec_fdtd_config c;
    ec_fdtd_object inner;
    ec_fdtd_port port[2] = {coax("in", cell, 4 * cell, 1, INFINITY),
                            coax("out", cell, 20 * cell, -1, INFINITY)};
    cplx z[N], gamma[N], s11[N], s21[N];
    double balance[N];
    (void)state;

    square_line(&c, &inner, cell, EC_FDTD_WALL_PML);
    port[0].shift = fdtd_number(-2 * cell); /* planes 8 and 14 */
    c.ports = port;
    c.n_ports = 2;
    values(&c, 5,
           (ec_fdtd_what[]){{.output = EC_FDTD_LINE_IMPEDANCE},
                            {.output = EC_FDTD_GAMMA, .i = 1},
                            {.output = EC_FDTD_S},
                            {.output = EC_FDTD_S, .i = 1},
                            {.output = EC_FDTD_BALANCE}},
           (double *[]){(double *)z, (double *)gamma, (double *)s11, (double *)s21, balance});
    for (int f = 0; f < N; f++) {
        const double beta = square_gamma(cell, frequency[f]);
        near("impedance", f, z[f], Z, 1e-5);
        near("gamma", f, gamma[f], CMPLX(0, beta), 1e-5);
        near("S21", f, s21[f], cexp(CMPLX(0, -beta * 6 * cell)), 1e-5);
        near("1 + S11", f, 1 + s11[f], 1, 2e-4);
        near("balance", f, balance[f], 1, 2e-4);
    }
}

/* A piece of the line filled with another material: what comes back and what goes through are those of
 * the grid, and together all. */
static void a_filling_loses_nothing(void **state)
{
    enum { FROM = 10, TO = 14, IN = 6, OUT = 18 };
    const double cell = 1 * mm, dt = time_step((double[]){cell, cell, cell});
    const double width = OUTER * cell, along = cell / EC_LIGHT_SPEED;
    ec_fdtd_config c;
    ec_fdtd_object objects[2];
    ec_fdtd_material filling = fdtd_material("filling", 4, 0);
    ec_fdtd_port port[2] = {coax("in", cell, 2 * cell, 1, INFINITY),
                            coax("out", cell, 22 * cell, -1, INFINITY)};
    cplx s11[N], s21[N];
    double balance[N];
    (void)state;

    square_line(&c, objects + 1, cell, EC_FDTD_WALL_PML);
    objects[0] =
        fdtd_box("filling", 0, (double[]){0, 0, FROM * cell}, (double[]){width, width, TO * cell});
    port[0].plane = port[1].plane = fdtd_number(4 * cell);
    c.objects = objects;
    c.n_objects = 2;
    c.materials = &filling;
    c.n_materials = 1;
    c.ports = port;
    c.n_ports = 2;
    values(&c, 3,
           (ec_fdtd_what[]){
               {.output = EC_FDTD_S}, {.output = EC_FDTD_S, .i = 1}, {.output = EC_FDTD_BALANCE}},
           (double *[]){(double *)s11, (double *)s21, balance});
    for (int f = 0; f < N; f++) {
        const cplx turn = cexp(CMPLX(0, square_gamma(cell, frequency[f]) * cell));
        const cplx jw = CMPLX(0, along * 2 * sin(EC_PI * frequency[f] * dt) / dt);
        cplx v = 1, i = (1 - 1 / turn) / jw, before = 0; /* I in units of V / Z */
        for (int k = OUT; k >= IN; k--) {
            before = v;
            i += jw * (k < FROM || k > TO ? 1 : k == FROM || k == TO ? 2.5 : 4) * v;
            v += jw * i;
        }
        const cplx a = (v - before / turn) / (turn - 1 / turn), b = before - a;
        near("S11", f, s11[f], b / a, 1e-3);
        near("S21", f, s21[f], 1 / a, 1e-3);
        near("balance", f, balance[f], 1, 1e-3);
    }
}

/* Between 100 and 50 ohm, each at an end of the line: what the two say of the line between them. */
static void unequal_ports_close_a_line(void **state)
{
    const double cell = 1 * mm, Z = square_impedance();
    ec_fdtd_config c;
    ec_fdtd_object inner;
    ec_fdtd_port port[2] = {coax("in", cell, 0, 1, 100), coax("out", cell, LENGTH * cell, -1, 50)};
    cplx s11[N], s21[N], s12[N];
    double balance[N];
    (void)state;

    square_line(&c, &inner, cell, EC_FDTD_WALL_PMC);
    port[0].shift = port[1].shift = fdtd_number(-6 * cell);
    c.ports = port;
    c.n_ports = 2;
    values(&c, 4,
           (ec_fdtd_what[]){{.output = EC_FDTD_S},
                            {.output = EC_FDTD_S, .i = 1},
                            {.output = EC_FDTD_S, .j = 1},
                            {.output = EC_FDTD_BALANCE}},
           (double *[]){(double *)s11, (double *)s21, (double *)s12, balance});
    for (int f = 0; f < N; f++) {
        const double angle = square_gamma(cell, frequency[f]) * LENGTH * cell;
        const cplx turn = CMPLX(0, tan(angle)), in = Z * (50 + Z * turn) / (Z + 50 * turn);
        const cplx start = CMPLX(cos(angle), sin(angle) * Z / 50); /* V there of 1 at the end */
        near("S11", f, s11[f], (in - 100) / (in + 100), 0.01);
        near("S21", f, s21[f], 2 / (start * (1 + 100 / in)) * sqrt(100.0 / 50), 0.01);
        near("S12", f, s12[f], s21[f], 0.01);
        near("balance", f, balance[f], 1, 0.01);
    }
}

/* A line that goes on behind a port of 50 ohm: alone the port says what comes back from the line ahead,
 * nothing of another impedance; of two such ports neither would close the line for the other. */
static void a_line_goes_on_behind(void **state)
{
    const double cell = 1 * mm, Z = square_impedance();
    ec_fdtd_config c;
    ec_fdtd_object inner;
    ec_fdtd_port port[2] = {coax("in", cell, 4 * cell, 1, 50),
                            coax("out", cell, 20 * cell, -1, 50)};
    const ec_fdtd_what what = {.output = EC_FDTD_S};
    cplx s11[N];
    (void)state;

    square_line(&c, &inner, cell, EC_FDTD_WALL_PML);
    c.ports = port;
    c.n_ports = 1;
    values(&c, 1, &what, (double *[]){(double *)s11});
    for (int f = 0; f < N; f++)
        near("1 + S11", f, 1 + s11[f], 2 * Z / (Z + 50), 1e-3);
    c.n_ports = 2;
    if (fdtd_values(cpu, &c, 1, &what, (double *[]){(double *)s11}) >= 0 ||
        !strstr(ec_error_text(), "port 'in': its line goes on behind it, at z = 3.5 mm"))
        fail_msg("%s", ec_error_text());
    port[0].ohms = fdtd_number(INFINITY);
    if (fdtd_values(cpu, &c, 1, &what, (double *[]){(double *)s11}) >= 0 ||
        !strstr(ec_error_text(), "port 'out': its line goes on behind it, at z = 20.5 mm"))
        fail_msg("%s", ec_error_text());
}

/* Circles cut into steps, of which edges stand out that do not hang together along the line: what ports say
 * of it still fits together. */
static void round_line(bool conformal, double tolerance)
{
    const double cell = 0.25 * mm, length = 6 * mm, half = 3 * mm, inner = 0.95 * mm,
                 outer = 2.2 * mm;
    ec_fdtd_config c;
    ec_fdtd_object objects[2] = {fdtd_object(EC_FDTD_CYLINDER, "outer"),
                                 fdtd_object(EC_FDTD_CYLINDER, "inner")};
    ec_fdtd_port port[2];
    cplx s11[N], s21[N], z[N], gamma[N];
    double balance[N];

    uniform(&c, (double[]){cell, cell, cell});
    fdtd_domain(&c, (double[]){-half, -half, 0}, (double[]){half, half, length});
    fdtd_walls(&c, EC_FDTD_WALL_PEC);
    c.wall[2][0] = c.wall[2][1] = EC_FDTD_WALL_PMC;
    for (int i = 0; i < 2; i++) {
        const double at = i * length;
        objects[i].at[2] = fdtd_number(0.5 * length);
        objects[i].length = fdtd_number(length);
        objects[i].radius = fdtd_number(i ? inner : 2 * half);
        objects[i].inner_radius = fdtd_number(i ? 0 : outer);
        port[i] = fdtd_port(EC_FDTD_COAX, i ? "out" : "in", (double[]){0, -half, at},
                            (double[]){0, 0, at}, i ? 50 : 100);
        port[i].line_axis = 2;
        port[i].line_sign = i ? -1 : 1;
        port[i].plane = fdtd_number(2 * mm);
        port[i].shift = fdtd_number(-2 * mm);
    }
    c.grid.conformal = conformal;
    c.objects = objects;
    c.n_objects = 2;
    c.ports = port;
    c.n_ports = 2;
    values(&c, 5,
           (ec_fdtd_what[]){{.output = EC_FDTD_S},
                            {.output = EC_FDTD_S, .i = 1},
                            {.output = EC_FDTD_LINE_IMPEDANCE},
                            {.output = EC_FDTD_GAMMA},
                            {.output = EC_FDTD_BALANCE}},
           (double *[]){(double *)s11, (double *)s21, (double *)z, (double *)gamma, balance});
    for (int f = 0; f < N; f++) {
        const cplx turn = ctanh(gamma[f] * length), Z = z[f];
        const cplx in = Z * (50 + Z * turn) / (Z + 50 * turn);
        near("impedance", f, Z, 60 * log(outer / inner), tolerance);
        near("S11", f, s11[f], (in - 100) / (in + 100), 0.01);
        near("balance", f, balance[f], 1, 1e-3);
    }
}

static void a_round_line(void **state)
{
    (void)state;
    round_line(false, 0.08);
}

/* With conductors at their true surface the impedance is that of the circles. */
static void a_round_line_conformal(void **state)
{
    (void)state;
    round_line(true, 0.005);
}

/* A microstrip that comes out of an absorbing wall and ends at a port of 50 ohm: about what formulas for lines
 * say (E. Hammerstad, 1975: 51.9 ohm, eps_eff 1.87), and little comes back. */
static void a_microstrip(void **state)
{
    const double x = 0.4 * mm, z = 0.8 / 3 * mm, h = 3 * z, end = 24 * x;
    ec_fdtd_config c;
    ec_fdtd_material board = fdtd_material("board", 2.2, 0);
    ec_fdtd_object objects[2] = {
        fdtd_box("board", 0, (double[]){-10 * x, 0, 0}, (double[]){10 * x, 30 * x, h}),
        fdtd_box("strip", EC_FDTD_PEC, (double[]){-3 * x, 0, h}, (double[]){3 * x, end, h})};
    ec_fdtd_port port[2] = {fdtd_port(EC_FDTD_MICROSTRIP, "in", (double[]){-3 * x, 2 * x, 0},
                                      (double[]){3 * x, 2 * x, h}, INFINITY),
                            fdtd_port(EC_FDTD_MICROSTRIP, "out", (double[]){-3 * x, end, 0},
                                      (double[]){3 * x, end, h}, 50)};
    cplx s11[N], s21[N], zl[N], gamma[N];
    (void)state;

    uniform(&c, (double[]){x, x, z});
    c.grid.snap = true;
    c.double_precision = false;
    c.decay_db = 35;
    fdtd_domain(&c, (double[]){-10 * x, 0, 0}, (double[]){10 * x, 30 * x, 10 * z});
    c.wall[2][0] = EC_FDTD_WALL_PEC;
    for (int i = 0; i < 2; i++) {
        port[i].axis = 2;
        port[i].line_axis = 1;
        port[i].line_sign = i ? -1 : 1;
        port[i].plane = fdtd_number(9 * x);
    }
    port[1].shift = fdtd_number(-9 * x);
    c.objects = objects;
    c.n_objects = 2;
    c.materials = &board;
    c.n_materials = 1;
    c.ports = port;
    c.n_ports = 2;
    values(&c, 4,
           (ec_fdtd_what[]){{.output = EC_FDTD_S},
                            {.output = EC_FDTD_S, .i = 1},
                            {.output = EC_FDTD_LINE_IMPEDANCE},
                            {.output = EC_FDTD_GAMMA}},
           (double *[]){(double *)s11, (double *)s21, (double *)zl, (double *)gamma});
    for (int f = 0; f < N; f++) {
        const double root = cimag(gamma[f]) * EC_LIGHT_SPEED / (2 * EC_PI * frequency[f]);
        const cplx path = cexp(CMPLX(0, -cimag(gamma[f]) * (end - 11 * x)));
        near("impedance", f, zl[f], 51.9, 0.1);
        near("eps_eff", f, root * root, 1.87, 0.06);
        near("1 + S11", f, 1 + s11[f], 1, 0.06);
        near("S21", f, s21[f], path, 0.06);
    }
}

/* Where the pulse has no energy there is no result, elsewhere there is. */
static void silent_bins_are_nan(void **state)
{
    const double cell = 1 * mm;
    ec_fdtd_config c;
    ec_fdtd_object inner;
    ec_fdtd_port port = coax("in", cell, 0, 1, 80);
    cplx s11[N];
    double balance[N];
    (void)state;

    square_line(&c, &inner, cell, EC_FDTD_WALL_PMC);
    c.pulse = EC_FDTD_MODULATED;
    c.pulse_centre = 3e9;
    c.pulse_width = 2e9;
    c.decay_db = 30;
    c.ports = &port;
    c.n_ports = 1;
    values(&c, 2, (ec_fdtd_what[]){{.output = EC_FDTD_S}, {.output = EC_FDTD_BALANCE}},
           (double *[]){(double *)s11, balance});
    for (int f = 0; f < N; f++)
        if (isnan(creal(s11[f])) != (f > 2) || isnan(cimag(s11[f])) != (f > 2) ||
            isnan(balance[f]) != (f > 2))
            fail_msg("%g GHz: S11 %g %+gj, balance %g", 1e-9 * frequency[f], creal(s11[f]),
                     cimag(s11[f]), balance[f]);
}

/* ---- what is wrong ------------------------------------------------------------------------------ */

static bool poles; /* the box is filled with water */

/* A box of metal walls with a bar from its floor half the way up. */
static void fails(const ec_fdtd_port *port, int32_t n, const char *with)
{
    const double cell = 1 * mm;
    ec_fdtd_config c;
    const ec_fdtd_pole pole = {.kind = EC_FDTD_DEBYE,
                               .strength = {73, -1},
                               .time = {8.3e-12, -1},
                               .resonance = {0, -1},
                               .damping = {0, -1}};
    ec_fdtd_material water = fdtd_material("water", 5, 0);
    ec_fdtd_object objects[2] = {
        fdtd_box("bar", EC_FDTD_PEC, (double[]){4 * mm, 4 * mm, 0},
                 (double[]){6 * mm, 6 * mm, 4 * mm}),
        fdtd_box("water", 0, (double[]){0, 0, 4 * mm}, (double[]){10 * mm, 10 * mm, 8 * mm})};
    double steps;
    const ec_fdtd_what what = {.output = EC_FDTD_STEPS};

    uniform(&c, (double[]){cell, cell, cell});
    fdtd_domain(&c, (double[]){0, 0, 0}, (double[]){10 * mm, 10 * mm, 8 * mm});
    fdtd_walls(&c, EC_FDTD_WALL_PEC);
    c.objects = objects;
    c.n_objects = poles ? 2 : 1;
    water.poles = &pole;
    water.n_poles = 1;
    c.materials = &water;
    c.n_materials = poles;
    c.ports = port;
    c.n_ports = n;
    c.max_steps = 10;
    c.decay_db = INFINITY;
    const int status = fdtd_values(cpu, &c, 1, &what, (double *[]){&steps});
    if (!with && status < 0)
        fail_msg("%s", ec_error_text());
    if (with && (status >= 0 || !strstr(ec_error_text(), with)))
        fail_msg("expected '%s', got '%s'", with, status < 0 ? ec_error_text() : "a result");
}

static ec_fdtd_port upright(ec_fdtd_port_kind kind, const char *name, double x, double lo,
                            double hi, double ohms)
{
    return fdtd_port(kind, name, (double[]){x * mm, 5 * mm, lo * mm},
                     (double[]){x * mm, 5 * mm, hi * mm}, ohms);
}

static void bad_ports_say_so(void **state)
{
    const double top[3] = {5 * mm, 5 * mm, 4 * mm}, roof[3] = {5 * mm, 5 * mm, 8 * mm};
    const ec_fdtd_port good = fdtd_port(EC_FDTD_LUMPED, "in", top, roof, 50);
    ec_fdtd_port two[2] = {good, upright(EC_FDTD_LUMPED, "b", 2, 1, 3, 50)};
    (void)state;

    fails(&good, 1, NULL);
    fails(two + 1, 1, "port 'b' bridges no two conductors");
    two[1] = upright(EC_FDTD_PROBE, "b", 2, 1, 3, 50);
    fails(two, 2, NULL);
    two[1] = upright(EC_FDTD_LUMPED, "b", 5, 2, 8, 50);
    fails(two + 1, 1, "port 'b' lies in metal");
    two[1] = upright(EC_FDTD_ELEMENT, "b", 5, 4, 8, 50);
    fails(two, 2, "ports 'in' and 'b' overlap");
    two[1] = upright(EC_FDTD_ELEMENT, "b", 5, 6, 8, 50);
    /* An element in series with a port: where they meet is no conductor, but the other's end. */
    two[0] = upright(EC_FDTD_LUMPED, "in", 5, 4, 6, 50);
    fails(two, 2, NULL);
    two[1].ohms = fdtd_number(INFINITY);
    fails(two, 2, "'b' has neither a resistance nor");
    two[1].ohms = fdtd_number(-5);
    fails(two, 2, "ohms is -5");
    two[1].ohms = fdtd_number(5);
    two[1].henries = fdtd_number(-1e-9);
    fails(two, 2, "element 'b': -1e-09 H");

    poles = true;
    two[1].henries = fdtd_number(1e-9);
    fails(two, 2, "element 'b': inductances and elements in series cannot lie in");
    two[1].henries = fdtd_number(0);
    fails(two, 2, NULL);
    poles = false;

    ec_fdtd_port line = good;
    line.kind = EC_FDTD_MICROSTRIP;
    line.line_axis = 2;
    line.line_sign = 1;
    line.plane = fdtd_number(3 * mm);
    fails(&line, 1, "must run across it");
    line.line_axis = 0;
    line.line_sign = 0;
    fails(&line, 1, "towards +1 or -1");
    line.line_sign = 1;
    line.plane = fdtd_number(1 * mm);
    fails(&line, 1, "less than two cells");
    line.plane = fdtd_number(5 * mm);
    fails(&line, 1, "is not in the domain");
    line.plane = fdtd_number(3 * mm);
    fails(&line, 1, "reaches the wall");
    for (int i = 0; i < 3; i++) {
        line.from[i] = good.to[i];
        line.to[i] = good.from[i];
    }
    fails(&line, 1, "there is no conductor along x at `to`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_end_a_line),        cmocka_unit_test(a_line_measures_itself),
        cmocka_unit_test(unequal_ports_close_a_line), cmocka_unit_test(a_filling_loses_nothing),
        cmocka_unit_test(silent_bins_are_nan),        cmocka_unit_test(a_round_line),
        cmocka_unit_test(a_round_line_conformal),     cmocka_unit_test(a_microstrip),
        cmocka_unit_test(a_line_goes_on_behind),      cmocka_unit_test(bad_ports_say_so),
    };
    return cmocka_run_group_tests(tests, fdtd_open, fdtd_close);
}
