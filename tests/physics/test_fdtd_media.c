/* test_fdtd_media.c: dispersive media, conducting sheets and the energy that a domain conserves. */
#include "fdtd_harness.h"

#include <complex.h>

#include "core/kernel.h"
#include "evaluators/fdtd/fdtd_build_internal.h"

extern const ec_kernel ec_kernel_fdtd_steps, ec_kernel_fdtd_energy, ec_kernel_fdtd_raster,
    ec_kernel_fdtd_loads;

static ec_fdtd_pole pole_of(ec_fdtd_pole_kind kind, double strength, double time, double resonance,
                            double damping)
{
    return (ec_fdtd_pole){kind, {strength, -1}, {time, -1}, {resonance, -1}, {damping, -1}};
}

static double complex chi_of(const ec_fdtd_pole *p, double complex s)
{
    const double d = p->strength.value, w0 = p->resonance.value, g = p->damping.value;
    switch (p->kind) {
    case EC_FDTD_DEBYE:
        return d / (1 + s * p->time.value);
    case EC_FDTD_DRUDE:
        return d * d / (s * s + s * g);
    default:
        return d * w0 * w0 / (w0 * w0 + 2 * s * g + s * s);
    }
}

/* ---- cavities ----------------------------------------------------------------------------------- */

/* Modes of a metal box full of a medium, along a diagonal where none of those asked for has a node. */
static void filled_modes(const double size[3], double d, const ec_fdtd_material *m, double from,
                         double to, int32_t count, double *modes)
{
    ec_fdtd_config c;
    double frequency[] = {from, to};
    ec_fdtd_object filling = fdtd_box("filling", 0, (double[]){0, 0, 0}, size);
    ec_fdtd_port port[2] = {fdtd_port(EC_FDTD_CURRENT, "in", (double[]){3 * d, 0, 4 * d},
                                      (double[]){3 * d, d, 4 * d}, 1),
                            fdtd_port(EC_FDTD_PROBE, "out",
                                      (double[]){size[0] - 3 * d, 0, size[2] - 4 * d},
                                      (double[]){size[0] - 3 * d, d, size[2] - 4 * d}, 1)};
    const ec_fdtd_what what = {
        .output = EC_FDTD_MODES, .i = 1, .j = 0, .count = count, .from = from, .to = to};

    ec_fdtd_config_default(&c);
    fdtd_walls(&c, EC_FDTD_WALL_PEC);
    fdtd_domain(&c, (double[]){0, 0, 0}, size);
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = d;
    c.n_frequencies = 2;
    c.frequency = frequency;
    c.ports = port;
    c.n_ports = 2;
    c.objects = &filling;
    c.n_objects = 1;
    c.materials = m;
    c.n_materials = 1;
    c.max_steps = 8000;
    c.decay_db = INFINITY;
    c.double_precision = true;
    if (fdtd_values(cpu, &c, 1, &what, (double *[]){modes}) < 0)
        fail_msg("%s", ec_error_text());
}

/* On the grid, with W = (2 / dt) tan(w dt / 2) for the frequency that the trapezoidal rule gives the
 * poles: sin(w dt) / dt W eps_r(W) / c^2 is the sum of (2 sin(k_i d / 2) / d)^2. */
static double grid_mode(const double size[3], double d, const int m[3], const ec_fdtd_material *of,
                        double lo, double hi)
{
    const double dt = 0.99 * d / (EC_LIGHT_SPEED * sqrt(3));
    double sum = 0, sign = 0;

    for (int i = 0; i < 3; i++) {
        const double s = 2 * sin(0.5 * m[i] * EC_PI / size[i] * d) / d;
        sum += s * s;
    }
    for (int turn = 0; turn < 100; turn++) {
        const double f = turn == 0 ? lo : 0.5 * (lo + hi), w = 2 * EC_PI * f;
        const double W = 2 / dt * tan(0.5 * w * dt);
        double eps = of->eps_r.value;
        for (int32_t p = 0; p < of->n_poles; p++)
            eps += creal(chi_of(of->poles + p, I * W));
        const double y = sin(w * dt) / dt * W * eps / (EC_LIGHT_SPEED * EC_LIGHT_SPEED) - sum;
        if (turn == 0)
            sign = y;
        else if ((y > 0) == (sign > 0))
            lo = f;
        else
            hi = f;
    }
    return lo;
}

/* Media without losses: a plasma, one of two resonances, and a relaxation far above the band, whose modes
 * are those of eps_r + d. */
static void modes_of_dispersive_cavities(void **state)
{
    const double size[3] = {50 * mm, 4 * mm, 60 * mm}, d = 2 * mm, turn = 2 * EC_PI;
    const ec_fdtd_pole drude = pole_of(EC_FDTD_DRUDE, turn * 3e9, 0, 0, 0);
    const ec_fdtd_pole lorentz[2] = {pole_of(EC_FDTD_LORENTZ, 1.5, 0, turn * 6e9, 0),
                                     pole_of(EC_FDTD_LORENTZ, 0.5, 0, turn * 40e9, 0)};
    const ec_fdtd_pole debye = pole_of(EC_FDTD_DEBYE, 1, 2e-15, 0, 0);
    const struct {
        const ec_fdtd_pole *poles;
        int32_t n;
        double from, to, limit;
    } of[] = {{&drude, 1, 3.6e9, 4.6e9, 1e-4},
              {lorentz, 2, 1.5e9, 2.2e9, 1e-4},
              {lorentz, 2, 7.6e9, 7.8e9, 1e-4},
              {&debye, 1, 2e9, 3.2e9, 1e-4}};
    (void)state;

    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        ec_fdtd_material m = fdtd_material("filling", k == 0 ? 1.5 : 2, 0);
        double found[2];
        m.poles = of[k].poles;
        m.n_poles = of[k].n;
        filled_modes(size, d, &m, of[k].from, of[k].to, 1, found);
        const double exact = grid_mode(size, d, (int[]){1, 0, 1}, &m, of[k].from, of[k].to);
        if (!(fabs(found[0] - exact) < of[k].limit * exact))
            fail_msg("medium %zu: %.9g Hz, the grid has %.9g Hz", k, found[0], exact);
    }
}

/* ---- reflections -------------------------------------------------------------------------------- */

enum { N = 5 };
static const double band[N] = {1e9, 3e9, 5e9, 7e9, 9e9};

/* A line of parallel plates one cell wide and high along x, a port of its impedance at the open end x =
 * 0, what `object` is further on, and absorbing cells behind x = length. */
static void reflections(const ec_fdtd_object *object, const ec_fdtd_material *m, bool periodic,
                        bool wide, double length, double d, ec_c128 *s)
{
    ec_fdtd_config c;
    ec_fdtd_port port =
        fdtd_port(EC_FDTD_LUMPED, "in", (double[]){0, 0, 0}, (double[]){0, 0, 2 * d}, EC_FDTD_ETA0);

    port.to[1] = fdtd_number(2 * d);
    ec_fdtd_config_default(&c);
    for (int side = 0; side < 2; side++) {
        c.wall[1][side] = periodic ? EC_FDTD_WALL_PERIODIC : EC_FDTD_WALL_PMC;
        c.wall[2][side] = periodic ? EC_FDTD_WALL_PERIODIC : EC_FDTD_WALL_PEC;
    }
    c.wall[0][0] = EC_FDTD_WALL_PMC;
    fdtd_domain(&c, (double[]){0, 0, 0}, (double[]){length, 2 * d, 2 * d});
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = d;
    c.n_frequencies = N;
    c.frequency = band;
    c.ports = &port;
    c.n_ports = 1;
    c.objects = object;
    c.n_objects = 1;
    c.materials = m;
    c.n_materials = m ? 1 : 0;
    c.layers = 12;
    c.max_steps = 20000;
    c.decay_db = 60;
    c.double_precision = wide;
    if (fdtd_values(cpu, &c, 1, &(ec_fdtd_what){EC_FDTD_S, 0, 0, 0, 0, 0},
                    (double *[]){(double *)s}) < 0)
        fail_msg("%s", ec_error_text());
}

static void assert_reflection(const ec_c128 *s, int f, double complex exact, double limit,
                              const char *of)
{
    const double complex found = s[f].re + I * s[f].im;

    if (!(cabs(found - exact) < limit))
        fail_msg("%s, %g GHz: %.5f %+.5fj, exact %.5f %+.5fj", of, band[f] / 1e9, creal(found),
                 cimag(found), creal(exact), cimag(exact));
}

/* Half spaces: water-like, a plasma that lets nothing in, a lossy resonance at the band's middle, one of
 * critical damping. */
static void dispersive_half_spaces(void **state)
{
    const double d = 0.2 * mm, length = 12 * mm, at = 6 * mm, turn = 2 * EC_PI;
    const ec_fdtd_pole poles[] = {pole_of(EC_FDTD_DEBYE, 20, 17e-12, 0, 0),
                                  pole_of(EC_FDTD_DRUDE, turn * 25e9, 0, 0, 3e9),
                                  pole_of(EC_FDTD_LORENTZ, 3, 0, turn * 5e9, turn * 1e9),
                                  pole_of(EC_FDTD_LORENTZ, 3, 0, turn * 5e9, turn * 5e9)};
    static const char *const names[] = {"Debye", "Drude", "Lorentz", "critical"};
    const ec_fdtd_object half =
        fdtd_box("half", 0, (double[]){at, 0, 0}, (double[]){length, 2 * d, 2 * d});
    (void)state;

    for (int k = 0; k < 4; k++) {
        ec_fdtd_material m = fdtd_material(names[k], k == 0 ? 3 : 1.2, 0);
        ec_c128 s[N];
        m.poles = poles + k;
        m.n_poles = 1;
        reflections(&half, &m, k == 1, k != 2, length, d, s);
        for (int f = 0; f < N; f++) {
            const double w = 2 * EC_PI * band[f];
            const double complex n = csqrt(m.eps_r.value + chi_of(poles + k, I * w));
            const double complex r = (1 - n) / (1 + n) * cexp(-2 * I * w * at / EC_LIGHT_SPEED);
            assert_reflection(s, f, r, 3e-3, names[k]);
        }
    }
}

/* A sheet of r ohm across the line is r beside the line's own impedance. */
static void sheets_across_a_line(void **state)
{
    const double d = 0.5 * mm, length = 10 * mm, at = 5 * mm, ohms[] = {EC_FDTD_ETA0, 100, 1500};
    (void)state;

    for (int k = 0; k < 3; k++) {
        ec_fdtd_object sheet = fdtd_object(EC_FDTD_PLATE, "sheet");
        ec_c128 s[N];
        sheet.material = EC_FDTD_FREE_SPACE;
        sheet.axis = 0;
        sheet.at[0] = fdtd_number(at);
        sheet.at[1] = sheet.at[2] = fdtd_number(d);
        sheet.size[1] = sheet.size[2] = fdtd_number(2 * d);
        sheet.ohms = fdtd_number(ohms[k]);
        reflections(&sheet, NULL, k == 1, true, length, d, s);
        for (int f = 0; f < N; f++) {
            const double z = 1 / (1 / ohms[k] + 1 / EC_FDTD_ETA0);
            const double complex r = (z - EC_FDTD_ETA0) / (z + EC_FDTD_ETA0) *
                                     cexp(-4 * I * EC_PI * band[f] * at / EC_LIGHT_SPEED);
            assert_reflection(s, f, r, 3e-3, "sheet");
        }
    }
}

static void media_that_cannot_be(void **state)
{
    const double turn = 2 * EC_PI;
    const ec_fdtd_pole poles[] = {
        pole_of(EC_FDTD_DEBYE, -1, 1e-12, 0, 0), pole_of(EC_FDTD_DEBYE, 1, 0, 0, 0),
        pole_of(EC_FDTD_LORENTZ, 1, 0, turn * 5e9, -1), pole_of(EC_FDTD_DRUDE, NAN, 0, 0, 0)};
    static const char *const words[] = {"pole 1 (Debye): its delta is -1", "its tau is 0",
                                        "pole 1 (Lorentz): its gamma", "(Drude): its omega_p"};
    (void)state;

    for (int k = 0; k < 4; k++) {
        ec_fdtd_config c;
        ec_fdtd_material m = fdtd_material("bad", 2, 0);
        const ec_fdtd_object box =
            fdtd_box("box", 0, (double[]){0, 0, 0}, (double[]){10 * mm, 10 * mm, 10 * mm});
        ec_fdtd_port port = fdtd_port(EC_FDTD_LUMPED, "in", (double[]){5 * mm, 5 * mm, 0},
                                      (double[]){5 * mm, 5 * mm, 10 * mm}, 50);
        ec_fdtd_model *model = NULL;
        ec_fdtd_line_plan *plan = NULL;
        ec_fdtd_build *build = NULL;
        ec_fdtd_setup s;
        m.poles = poles + k;
        m.n_poles = 1;
        ec_fdtd_config_default(&c);
        fdtd_walls(&c, EC_FDTD_WALL_PEC);
        c.grid.cell[0] = c.grid.cell[1] = c.grid.cell[2] = mm;
        c.n_frequencies = N;
        c.frequency = band;
        c.ports = &port;
        c.n_ports = 1;
        c.objects = &box;
        c.n_objects = 1;
        c.materials = &m;
        c.n_materials = 1;
        fdtd_domain(&c, (double[]){0, 0, 0}, (double[]){10 * mm, 10 * mm, 10 * mm});
        assert_int_equal(ec_fdtd_model_create(&c, &model), EC_OK);
        assert_int_equal(ec_fdtd_line_plan_create(model, NULL, &plan), EC_OK);
        ec_fdtd_setup_init(model, plan, &s);
        assert_int_equal(ec_fdtd_build_create(&s, NULL, &build), EC_ERR_RANGE);
        if (!strstr(ec_error_text(), words[k]))
            fail_msg("\"%s\" lacks \"%s\"", ec_error_text(), words[k]);
        ec_fdtd_line_plan_destroy(&plan);
        ec_fdtd_model_destroy(&model);
    }
}

/* ---- energy ------------------------------------------------------------------------------------- */

/* In coils and capacitors, J: what ec_fdtd_branch_step conserves. */
static double stored(const ec_fdtd_domain *d)
{
    double sum = 0;

    for (int32_t i = 0; i < d->n_branches; i++) {
        const double *state = d->branch_state + (size_t)i * EC_FDTD_BRANCH_STATE;
        const double current = state[EC_FDTD_BRANCH_I], charge = state[EC_FDTD_BRANCH_Q];
        const ec_fdtd_branch *q = d->branch + i;
        sum += 0.5 * (0.5 * q->lead * q->dt * current * current + q->stiff * charge * charge);
    }
    return sum;
}

/* Runs a model's domain, port 0 driven, step by step: energy[s] after step s, with that of elements;
 * n_wave: the pulse's steps. */
static void energies(const ec_fdtd_config *c, int64_t steps, double *energy, int64_t *n_wave)
{
    ec_fdtd_model *model = NULL;
    ec_fdtd_line_plan *plan = NULL;
    ec_fdtd_build *b = NULL;
    ec_fdtd_structure structure;
    ec_fdtd_raster_args raster;
    ec_fdtd_setup s;

    assert_true(c->double_precision);
    assert_int_equal(ec_fdtd_model_create(c, &model), EC_OK);
    if (ec_fdtd_line_plan_create(model, NULL, &plan) < 0)
        fail_msg("%s", ec_error_text());
    ec_fdtd_setup_init(model, plan, &s);
    if (ec_fdtd_build_create(&s, NULL, &b) < 0)
        fail_msg("%s", ec_error_text());
    const size_t component = (size_t)s.shape.plane * (size_t)(s.shape.n[2] + 1);
    const size_t psi = 4 * (size_t)(s.shape.memory[0] + s.shape.memory[1] + s.shape.memory[2]);
    double *coefficient = calloc(12 * component, sizeof(double));
    double *field = calloc(6 * (size_t)s.shape.field, sizeof(double));
    double *memory =
        calloc(psi + (size_t)b->n_dispersive + 2 * (size_t)b->n_parts + 1, sizeof(double));
    double *series = calloc((size_t)s.n_probes, sizeof(double));
    double *state = calloc((size_t)b->n_branches * EC_FDTD_BRANCH_STATE + 1, sizeof(double));
    assert_true(coefficient && field && memory && series && state);

    ec_fdtd_raster_of(&s, b, &structure, &raster);
    structure.a = coefficient;
    structure.b = coefficient + 3 * component;
    structure.ha = s.magnetic ? coefficient + 6 * component : NULL;
    structure.hb = s.magnetic ? coefficient + 9 * component : NULL;
    assert_int_equal(cpu->ops->launch(cpu, &ec_kernel_fdtd_raster, &raster, component, 3), EC_OK);
    if (b->n_loads)
        assert_int_equal(
            cpu->ops->launch(cpu, &ec_kernel_fdtd_loads, &raster, (size_t)b->n_loads, 1), EC_OK);
    ec_fdtd_domain d = {.field = field,
                        .a = structure.a,
                        .b = structure.b,
                        .ha = structure.ha,
                        .hb = structure.hb,
                        .h = -b->dt / EC_FDTD_MU0,
                        .dt = b->dt,
                        .psi = memory,
                        .source = b->source[0],
                        .n_sources = b->n_sources[0],
                        .wave = b->wave,
                        .n_wave = b->n_wave,
                        .e_term = b->e_term,
                        .h_term = b->h_term,
                        .n_e_terms = b->n_e_terms,
                        .n_h_terms = b->n_h_terms,
                        .dispersive = b->dispersive,
                        .part = b->part,
                        .pole = b->pole,
                        .pole_memory = memory + psi,
                        .n_dispersive = b->n_dispersive,
                        .branch = b->branch,
                        .branch_state = state,
                        .n_branches = b->n_branches,
                        .series = series,
                        .steps = 1};
    for (int i = 0; i < 3; i++) {
        d.id_e[i] = b->id_e[i], d.id_h[i] = b->id_h[i];
        d.be[i] = b->be[i], d.ce[i] = b->ce[i];
        d.bh[i] = b->bh[i], d.ch[i] = b->ch[i];
    }
    const ec_fdtd_steps_args step = {.shape = s.shape,
                                     .domain = &d,
                                     .n = 1,
                                     .window = 1,
                                     .count = 1,
                                     .threads = 1,
                                     .double_precision = true};
    ec_fdtd_energy_args look = {
        .shape = s.shape, .domain = &d, .n = 1, .threads = 1, .double_precision = true};
    for (d.step = 0; d.step < steps; d.step++) {
        look.energy = energy + d.step;
        cpu->ops->launch(cpu, &ec_kernel_fdtd_steps, &step, 1, 1);
        cpu->ops->launch(cpu, &ec_kernel_fdtd_energy, &look, 1, 1);
        energy[d.step] += stored(&d);
    }
    *n_wave = b->n_wave;
    free(coefficient);
    free(field);
    free(memory);
    free(series);
    free(state);
    ec_fdtd_build_destroy(&s, &b);
    ec_fdtd_line_plan_destroy(&plan);
    ec_fdtd_model_destroy(&model);
}

/* A small box with all kinds of things in it: poles of each kind, a lossy magnet, a sheet, a ball of
 * metal, a port. */
static void mixture(ec_fdtd_config *c, ec_fdtd_object *objects, ec_fdtd_material *materials,
                    ec_fdtd_pole *poles, ec_fdtd_port *port)
{
    static const double frequency[] = {4e9, 16e9};
    const double turn = 2 * EC_PI;

    for (int i = 0; i < 3; i++)
        materials[i] = fdtd_material("mixture", 1.5, 0);
    materials[3] = fdtd_material("magnet", 2, 0.1);
    materials[3].mu_r = fdtd_number(3);
    materials[3].magnetic_conductivity = fdtd_number(400);
    poles[0] = pole_of(EC_FDTD_DEBYE, 4, 9e-12, 0, 0);
    poles[1] = pole_of(EC_FDTD_LORENTZ, 2, 0, turn * 9e9, turn * 0.5e9);
    poles[2] = pole_of(EC_FDTD_DRUDE, turn * 30e9, 0, 0, turn * 1e9);
    for (int i = 0; i < 3; i++) {
        materials[i].poles = poles + i;
        materials[i].n_poles = 1;
    }
    for (int i = 0; i < 4; i++) { /* they overlap and cut cells */
        objects[i] = fdtd_object(EC_FDTD_SPHERE, "part");
        objects[i].material = i;
        objects[i].radius = fdtd_number(2.3 * mm);
        objects[i].at[0] = fdtd_number((3.1 * i - 4.4) * mm);
        objects[i].at[1] = fdtd_number(0.6 * i * mm);
        objects[i].at[2] = fdtd_number(-2.7 * mm);
    }
    objects[4] = fdtd_object(EC_FDTD_SPHERE, "ball");
    objects[4].at[2] = fdtd_number(3 * mm);
    objects[4].radius = fdtd_number(1.7 * mm);
    objects[5] = fdtd_object(EC_FDTD_PLATE, "sheet");
    objects[5].material = EC_FDTD_FREE_SPACE;
    objects[5].ohms = fdtd_number(50);
    objects[5].at[2] = fdtd_number(1 * mm);
    objects[5].size[0] = objects[5].size[1] = fdtd_number(4 * mm);
    *port = fdtd_port(EC_FDTD_CURRENT, "in", (double[]){3 * mm, 2 * mm, 1 * mm},
                      (double[]){3 * mm, 2 * mm, 3 * mm}, 200);
    ec_fdtd_config_default(c);
    for (int i = 0; i < 3; i++)
        c->grid.cell[i] = 1 * mm;
    fdtd_domain(c, (double[]){-6 * mm, -6 * mm, -6 * mm}, (double[]){6 * mm, 6 * mm, 6 * mm});
    c->layers = 6;
    c->n_frequencies = 2;
    c->frequency = frequency;
    c->ports = port;
    c->n_ports = 1;
    c->objects = objects;
    c->n_objects = 6;
    c->materials = materials;
    c->n_materials = 4;
    c->grid.averaging = 2;
    c->double_precision = true;
}

/* A patch over a ground on flat cells, with corrected edges, and elements of all kinds between the two. */
static void patch(ec_fdtd_config *c, ec_fdtd_object *objects, ec_fdtd_material *material,
                  ec_fdtd_port *port)
{
    static const double frequency[] = {4e9, 16e9};
    const double h = 0.8 * mm;

    *material = fdtd_material("board", 4, 0);
    objects[0] =
        fdtd_box("board", 0, (double[]){-8 * mm, -4 * mm, 0}, (double[]){8 * mm, 4 * mm, h});
    objects[1] = fdtd_box("patch", EC_FDTD_PEC, (double[]){-3 * mm, -2 * mm, h},
                          (double[]){4 * mm, 1 * mm, h});
    objects[2] = fdtd_box("stub", EC_FDTD_PEC, (double[]){4 * mm, -1 * mm, h},
                          (double[]){6 * mm, -0.5 * mm, h});
    for (int i = 1; i < 3; i++)
        objects[i].kind = EC_FDTD_PLATE;
    for (int i = 0; i < 5; i++) {
        const double x = (2 * i - 3) * mm, y = (i % 2 - 1) * mm;
        port[i] = fdtd_port(i ? EC_FDTD_ELEMENT : EC_FDTD_LUMPED, "part", (double[]){x, y, 0},
                            (double[]){x, y, h}, i == 2 ? INFINITY : 50);
        port[i].henries = fdtd_number(i == 2 || i == 4 ? 1e-9 : 0);
        port[i].farads = fdtd_number(i == 3 || i == 4 ? 0.3e-12 : 0);
        port[i].series = i == 4;
    }
    port[4].to[0] = fdtd_number(6 * mm);
    port[4].from[0] = fdtd_number(5 * mm);
    port[4].from[1] = port[4].to[1] = fdtd_number(-1 * mm);
    port[3].to[1] = fdtd_number(1 * mm);
    ec_fdtd_config_default(c);
    c->grid.cell[0] = 1 * mm;
    c->grid.cell[1] = 0.5 * mm;
    c->grid.cell[2] = 0.2 * mm;
    c->grid.edge_correction = true;
    fdtd_domain(c, (double[]){-8 * mm, -4 * mm, 0}, (double[]){8 * mm, 4 * mm, 2 * mm});
    c->n_frequencies = 2;
    c->frequency = frequency;
    c->ports = port;
    c->n_ports = 5;
    c->objects = objects;
    c->n_objects = 3;
    c->materials = material;
    c->n_materials = 1;
    c->double_precision = true;
}

/* Once the pulse is over the energy falls from step to step in closed domains, to rounding, and also
 * in an open one but for what the absorbing cells give back. */
static void energy_never_grows(void **state)
{
    static const char *const names[] = {"electric walls", "conformal", "periodic", "open",
                                        "elements"};
    enum { STEPS = 5000 };
    double energy[STEPS];
    (void)state;

    for (int k = 0; k < 5; k++) {
        ec_fdtd_config c;
        ec_fdtd_object objects[6];
        ec_fdtd_material materials[4];
        ec_fdtd_pole poles[3];
        ec_fdtd_port port[5];
        const int64_t steps = k == 4 ? STEPS : 1600; /* of finer cells */
        int64_t n_wave;
        double peak = 0, least = INFINITY;
        if (k == 4)
            patch(&c, objects, materials, port);
        else
            mixture(&c, objects, materials, poles, port);
        if (k != 3)
            fdtd_walls(&c, k == 2 ? EC_FDTD_WALL_PERIODIC : EC_FDTD_WALL_PEC);
        if (k == 2)
            c.wall[1][0] = c.wall[1][1] = EC_FDTD_WALL_PMC;
        c.grid.conformal = k == 1;
        energies(&c, steps, energy, &n_wave);
        assert_true(n_wave < steps / 2);
        for (int64_t s = 0; s < steps; s++) {
            peak = fmax(peak, energy[s]);
            if (s < n_wave)
                continue;
            const double limit = least + (k == 3 ? 1e-4 : 1e-13) * peak;
            if (!(energy[s] <= limit) || !(energy[s] > -1e-13 * peak))
                fail_msg("%s: %.17g J at step %lld, least before %.17g, peak %g", names[k],
                         energy[s], (long long)s, least, peak);
            least = fmin(least, energy[s]);
        }
        if (!(least < 0.5 * peak))
            fail_msg("%s: %g J of %g left", names[k], least, peak);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_of_dispersive_cavities), cmocka_unit_test(dispersive_half_spaces),
        cmocka_unit_test(sheets_across_a_line),         cmocka_unit_test(media_that_cannot_be),
        cmocka_unit_test(energy_never_grows),
    };
    return cmocka_run_group_tests(tests, fdtd_open, fdtd_close);
}
