/* backends_fdtd.c: structures on grids on every backend, against the scalar CPU: fields take the same
 * operations in the same order everywhere, so values differ by the order of sums over probes only. */
#include "backends.h"

#include "core/executor.h"
#include "evaluators/fdtd/fdtd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FREQUENCIES = 3,
    DESIGNS = 3,
    MANY = EC_LANE_PAD,
    OUTPUTS = 6,
    FAR_OUTPUTS = 2,
    DIRECTIONS = 5,
    FAR_VALUES = FAR_OUTPUTS * DIRECTIONS,
    VALUES = 4 * 2 * FREQUENCIES + 1 + 3 + FAR_VALUES
};

static const double mm = 1e-3;

typedef struct scene {
    bool magnetic, double_precision, many, closed, parts, dispersive, periodic, conformal, far;
    bool off_chip, edge_correction, metals;
} scene;

static ec_fdtd_number number(double value)
{
    return (ec_fdtd_number){value, -1};
}

static ec_fdtd_object object(ec_fdtd_kind kind, const char *name, double x, double y, double z,
                             double a, double b, double c)
{
    ec_fdtd_object o = {.kind = kind, .name = name, .material = EC_FDTD_PEC, .axis = 2};
    for (int i = 0; i < 3; i++)
        o.to[i] = number(0);
    o.at[0] = number(x);
    o.at[1] = number(y);
    o.at[2] = number(z);
    o.size[0] = number(a);
    o.size[1] = number(b);
    o.size[2] = number(c);
    o.radius = o.inner_radius = o.length = o.ohms = number(0);
    return o;
}

static ec_fdtd_port port(const char *name, double ohms)
{
    ec_fdtd_port p = {.kind = EC_FDTD_LUMPED, .name = name, .axis = 2, .driven = true};
    for (int i = 0; i < 3; i++)
        p.from[i] = p.to[i] = number(0);
    p.to[2] = number(2 * mm);
    p.ohms = number(ohms);
    p.henries = p.farads = p.plane = p.shift = number(0);
    return p;
}

/* A wire over a board with two ports; its length and the board's permittivity vary. values: [design][VALUES]. */
static int evaluate(ec_backend *backend, const scene *what, int designs, const double *genes,
                    double *values)
{
    static const double frequency[FREQUENCIES] = {2e9, 4e9, 6e9};
    const double low[2] = {9 * mm, 2}, high[2] = {15 * mm, 4};
    ec_graph *g = NULL;
    ec_call *call = NULL;
    ec_executor *executor = NULL;
    ec_fdtd_config c;
    ec_array X = {0};
    void *status = NULL;

    EC_CHECK_CALL(ec_graph_create(&g));
    const ec_expr x = ec_graph_variable(g, false, 0, 2, low, high);
    const ec_expr length = ec_graph_slice(g, x, 0, 0), eps = ec_graph_slice(g, x, 1, 0);
    ec_fdtd_config_default(&c);
    ec_fdtd_material material[4] = {
        {.name = "board", .eps_r = {0, eps}, .mu_r = {1, -1}},
        {.name = "core", .eps_r = {3, -1}, .mu_r = {2, -1}},
        {.name = "brass", .eps_r = {1, -1}, .metal = true},
        {.name = "foil", .eps_r = {1, -1}, .metal = true, .both_sides = true}};
    for (int i = 0; i < 4; i++) {
        material[i].conductivity = number(i < 2 ? 0.01 : 1e5 / i);
        material[i].magnetic_conductivity = number(i && what->magnetic ? 500 : 0);
        material[i].loss_tangent = number(0);
        if (!what->magnetic || i >= 2)
            material[i].mu_r = number(1);
    }
    const double w = 4 * EC_PI * 1e9;
    const ec_fdtd_pole poles[3] = {{EC_FDTD_DEBYE, {2, -1}, {2e-11, -1}, {0, -1}, {0, -1}},
                                   {EC_FDTD_LORENTZ, {1, -1}, {0, -1}, {2 * w, -1}, {0.1 * w, -1}},
                                   {EC_FDTD_DRUDE, {w, -1}, {0, -1}, {0, -1}, {0.2 * w, -1}}};
    if (what->dispersive) {
        material[0].poles = poles;
        material[0].n_poles = 2;
        material[1].poles = poles + 2;
        material[1].n_poles = 1;
    }
    ec_fdtd_object objects[8] = {
        object(EC_FDTD_BOX, "board", 7.5 * mm, 0, 1 * mm, 19 * mm, 10 * mm, 2 * mm),
        object(EC_FDTD_PLATE, "ground", 7.5 * mm, 0, 0, 19 * mm, 10 * mm, 0),
        object(EC_FDTD_WIRE, "strip", 0, 0, 2 * mm, 0, 0, 0),
        object(EC_FDTD_BOX, "core", 4 * mm, 3 * mm, 4 * mm, 5 * mm, 4 * mm, 2 * mm)};
    objects[0].material = 0;
    objects[2].axis = 0;
    objects[2].to[0] = (ec_fdtd_number){0, length};
    objects[2].to[2] = number(2 * mm);
    objects[3].material = 1;
    c.n_objects = 4;
    if (what->many) { /* a ball sampled finely has more than 256 pairs of coefficients */
        ec_fdtd_object ball = object(EC_FDTD_SPHERE, "ball", 8 * mm, -3 * mm, 5 * mm, 0, 0, 0);
        ball.radius = number(3.3 * mm);
        ball.material = 1;
        objects[c.n_objects++] = ball;
        c.grid.averaging = 4;
    }
    if (what->conformal) {
        ec_fdtd_object ball = object(EC_FDTD_SPHERE, "metal", 8 * mm, -3 * mm, 5 * mm, 0, 0, 0);
        ball.radius = number(2.3 * mm);
        objects[c.n_objects++] = ball;
        c.grid.conformal = true;
    }
    if (what->metals) { /* a ground with a slot, and a block */
        objects[1].material = 3;
        objects[c.n_objects++] =
            object(EC_FDTD_PLATE, "slot", 7.5 * mm, -2 * mm, 0, 6 * mm, 2 * mm, 0);
        objects[c.n_objects - 1].material = EC_FDTD_FREE_SPACE;
        objects[c.n_objects++] =
            object(EC_FDTD_BOX, "block", 8 * mm, -3 * mm, 4 * mm, 4 * mm, 2 * mm, 2 * mm);
        objects[c.n_objects - 1].material = 2;
    }
    c.grid.edge_correction = what->edge_correction;
    ec_fdtd_port ports[4] = {port("in", 50), port("out", 75), port("side", 200), port("chain", 20)};
    ports[1].from[0] = ports[1].to[0] = (ec_fdtd_number){0, length};
    if (what->parts) { /* the first one becomes a line's, and elements hang on the wire */
        ports[0].kind = EC_FDTD_MICROSTRIP;
        ports[0].line_sign = 1;
        ports[0].plane = number(4 * mm);
        for (int i = 2; i < 4; i++) {
            ports[i].kind = EC_FDTD_ELEMENT;
            ports[i].from[0] = ports[i].to[0] = number((i == 2 ? 6 : 8) * mm);
            ports[i].henries = number(2e-9);
            ports[i].farads = number(2e-13);
            ports[i].series = i == 3;
        }
    }
    c.objects = objects;
    c.materials = material;
    c.n_materials = what->metals ? 4 : 2;
    c.ports = ports;
    c.n_ports = what->parts ? 4 : 2;
    c.frequency = frequency;
    c.n_frequencies = FREQUENCIES;
    c.grid.largest = 2 * mm;
    c.grid.air = 3 * mm;
    c.layers = 4;
    c.grid.growth = 3;
    c.max_steps = 300;
    c.decay_db = INFINITY;
    c.double_precision = what->double_precision;
    c.off_chip = what->off_chip;
    if (what->far) { /* and a plane wave, along an axis or not */
        c.grid.air = 12 * mm;
        c.wave.on = true;
        c.wave.theta = number(what->double_precision ? 0 : 1);
        c.wave.phi = number(0.5);
        c.pulse_width = 10e9; /* a short one */
        c.max_steps = 300;
    }
    if (what->closed)
        for (int i = 0; i < 6; i++)
            c.wall[i / 2][i % 2] = i == 3 ? EC_FDTD_WALL_PMC : EC_FDTD_WALL_PEC;
    if (what->periodic)
        for (int i = 0; i < 6; i++)
            c.wall[i / 2][i % 2] = EC_FDTD_WALL_PERIODIC;
    EC_CHECK_CALL(ec_fdtd_call(g, &c, &call));
    const ec_fdtd_what wanted[OUTPUTS] = {
        {EC_FDTD_S, 0, 0, 0, 0, 0},     {EC_FDTD_S, 1, 0, 0, 0, 0},
        {EC_FDTD_S, 0, 1, 0, 0, 0},     {EC_FDTD_IMPEDANCE, 0, 0, 0, 0, 0},
        {EC_FDTD_STEPS, 0, 0, 0, 0, 0}, {EC_FDTD_BALANCE, 0, 0, 0, 0, 0}};
    static const double direction[DIRECTIONS][2] = {{0, 0}, {1, 0}, {1.5, 2}, {2.5, 3}, {3, 4}};
    const ec_fdtd_far far[FAR_OUTPUTS] = {{.quantity = EC_FDTD_FAR_DIRECTIVITY,
                                           .frequency = 1,
                                           .n = DIRECTIONS,
                                           .direction = direction},
                                          {.quantity = EC_FDTD_FAR_RCS,
                                           .j = EC_FDTD_WAVE,
                                           .frequency = 2,
                                           .n = DIRECTIONS,
                                           .direction = direction}};
    const int n_outputs = OUTPUTS + (what->far ? FAR_OUTPUTS : 0);
    ec_expr outputs[OUTPUTS + FAR_OUTPUTS];
    for (int i = 0; i < n_outputs; i++)
        EC_CHECK_CALL(outputs[i] = i < OUTPUTS ? ec_fdtd_value(g, call, wanted + i)
                                               : ec_fdtd_far_value(g, call, far + i - OUTPUTS));
    ec_executor_info info = {
        .outputs = outputs, .n_outputs = n_outputs, .max_candidates = (size_t)designs};
    EC_CHECK_CALL(ec_executor_create(g, backend, &info, &executor));
    EC_CHECK_CALL(ec_array_create(backend, &X, EC_F64, EC_AXIS_CANDIDATE, 1, &(int32_t){2},
                                  (size_t)designs, 1));
    double *here = calloc(2 * X.ld, sizeof *here);
    EC_CHECK(here, "out of memory");
    for (int d = 0; d < designs; d++)
        for (int e = 0; e < 2; e++)
            here[(size_t)e * X.ld + (size_t)d] = genes[2 * d + e];
    EC_CHECK_CALL(backend->ops->upload(backend, X.data, here, ec_array_bytes(&X)));
    free(here);
    EC_CHECK_CALL(backend->ops->alloc(backend, EC_LANE_PAD, &status));
    EC_CHECK_CALL(ec_executor_run(executor, &X, NULL, NULL, status, (size_t)designs, 0));
    uint8_t bad[EC_LANE_PAD];
    EC_CHECK_CALL(backend->ops->download(backend, bad, status, EC_LANE_PAD));
    int at = 0;
    for (int i = 0; i < n_outputs; i++) {
        const ec_array *a = ec_executor_output(executor, i);
        const size_t parts = a->dtype == EC_C128 ? 2 : 1;
        double *got = malloc(ec_array_bytes(a));
        EC_CHECK(got, "out of memory");
        EC_CHECK_CALL(backend->ops->download(backend, got, a->data, ec_array_bytes(a)));
        for (size_t e = 0; e < a->elements * parts; e++, at++)
            for (int d = 0; d < designs; d++)
                values[d * VALUES + at] = got[(e / parts * a->ld + (size_t)d) * parts + e % parts];
        free(got);
    }
    EC_CHECK(at == VALUES - (what->far ? 0 : FAR_VALUES), "%d values", at);
    for (int d = 0; d < designs; d++)
        EC_CHECK(bad[d] == 0, "design %d has the status %d", d, bad[d]);
    backend->ops->release(backend, status);
    ec_array_release(backend, &X);
    ec_executor_destroy(&executor);
    ec_graph_destroy(&g);
    return 0;
}

static int compare(ec_backend *backend, const scene *what)
{
    const double genes[2 * DESIGNS] = {9 * mm, 2, 13.37 * mm, 3.3, 15 * mm, 4};
    double all[DESIGNS * VALUES] = {0}, plain[DESIGNS * VALUES] = {0}, one[VALUES] = {0};
    double memory[DESIGNS * VALUES] = {0};
    scene off_chip = *what;
    ec_backend *reference = NULL;

    if (evaluate(backend, what, DESIGNS, genes, all))
        return 1;
    EC_CHECK_CALL(ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = 1, .isa = "v1"},
                                    &reference));
    if (evaluate(reference, what, DESIGNS, genes, plain))
        return 1;
    ec_backend_destroy(&reference);
    /* The same operations on fields; sums of some ten terms of float32 fields in float64. */
    if (ec_compare_f64("values", all, plain, DESIGNS * VALUES, 1e-10))
        return 1;
    for (int d = 1; d < DESIGNS; d++) {
        if (evaluate(backend, what, 1, genes + 2 * d, one))
            return 1;
        EC_CHECK(memcmp(one, all + d * VALUES, sizeof one) == 0,
                 "design %d has other bits alone than in the stack", d);
    }
    if (!backend->is_cuda)
        return 0; /* off_chip means nothing there */
    off_chip.off_chip = true;
    if (evaluate(backend, &off_chip, DESIGNS, genes, memory))
        return 1;
    EC_CHECK(memcmp(memory, all, sizeof all) == 0,
             "other bits with the fields in memory than where they are kept by default");
    return 0;
}

/* More domains than a GPU's chip holds at a time, each by fewer and larger blocks, against the same with the fields
 * in memory. */
static int test_on_chip(ec_backend *backend)
{
    static double genes[2 * MANY], chip[MANY * VALUES], memory[MANY * VALUES];
    const scene scenes[] = {{.parts = true}, {.closed = true}, {.many = true, .closed = true}};

    if (!backend->is_cuda)
        return 0; /* off_chip means nothing there */
    for (int d = 0; d < MANY; d++) {
        genes[2 * d] = (9 + 6 * (double)d / MANY) * mm;
        genes[2 * d + 1] = 4 - 2 * (double)d / MANY;
    }
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        scene what = scenes[i];
        if (evaluate(backend, &what, MANY, genes, chip))
            return 1;
        what.off_chip = true;
        if (evaluate(backend, &what, MANY, genes, memory))
            return 1;
        for (int d = 0; d < MANY; d++)
            EC_CHECK(memcmp(chip + d * VALUES, memory + d * VALUES,
                            (VALUES - FAR_VALUES) * sizeof *chip) == 0,
                     "scene %zu: design %d has other bits than with its fields in memory", i, d);
    }
    return 0;
}

static int test_open(ec_backend *backend)
{
    return compare(backend, &(scene){0});
}

static int test_closed(ec_backend *backend)
{
    return compare(backend, &(scene){.closed = true, .double_precision = true});
}

static int test_magnetic(ec_backend *backend)
{
    return compare(backend, &(scene){.magnetic = true});
}

static int test_many_pairs(ec_backend *backend)
{
    return compare(backend, &(scene){.many = true});
}

static int test_parts(ec_backend *backend)
{
    return compare(backend, &(scene){.parts = true});
}

static int test_dispersive(ec_backend *backend)
{
    return compare(backend, &(scene){.dispersive = true});
}

static int test_periodic(ec_backend *backend)
{
    return compare(backend,
                   &(scene){.periodic = true, .dispersive = true, .double_precision = true});
}

static int test_conformal(ec_backend *backend)
{
    return compare(backend, &(scene){.conformal = true});
}

static int test_edge_correction(ec_backend *backend)
{
    return compare(backend, &(scene){.edge_correction = true});
}

static int test_metals(ec_backend *backend)
{
    return compare(backend, &(scene){.metals = true});
}

static int test_far(ec_backend *backend)
{
    return compare(backend, &(scene){.far = true});
}

static int test_far_double(ec_backend *backend)
{
    return compare(backend, &(scene){.far = true, .double_precision = true});
}

/* Two workers on the backend's own device. */
static int test_workers(ec_backend *backend)
{
    const double genes[2 * DESIGNS] = {9 * mm, 2, 13.37 * mm, 3.3, 15 * mm, 4};
    const scene scenes[] = {{0}, {.closed = true, .double_precision = true}, {.far = true}};
    const size_t count = backend->is_cuda ? 3 : 2; /* far fields take a processor long */
    ec_backend *two = NULL;
    char list[64];

    snprintf(list, sizeof list, "%s,%s", backend->name, backend->name);
    const ec_backend_info info = {.name = list,
                                  .isa = backend->is_cuda ? NULL : ec_isa_name(backend->isa)};
    EC_CHECK_CALL(ec_backend_create(&info, &two));
    for (size_t i = 0; i < count; i++) {
        double alone[DESIGNS * VALUES] = {0}, split[DESIGNS * VALUES] = {0};
        if (evaluate(backend, &scenes[i], DESIGNS, genes, alone) ||
            evaluate(two, &scenes[i], DESIGNS, genes, split))
            return 1;
        EC_CHECK(memcmp(alone, split, sizeof alone) == 0,
                 "scene %zu: two workers have other bits than one", i);
    }
    ec_backend_destroy(&two);
    return 0;
}

const ec_case ec_cases_fdtd[] = {{"fdtd/open", test_open},
                                 {"fdtd/closed_double", test_closed},
                                 {"fdtd/magnetic", test_magnetic},
                                 {"fdtd/many_pairs", test_many_pairs},
                                 {"fdtd/parts", test_parts},
                                 {"fdtd/dispersive", test_dispersive},
                                 {"fdtd/periodic", test_periodic},
                                 {"fdtd/conformal", test_conformal},
                                 {"fdtd/edge_correction", test_edge_correction},
                                 {"fdtd/metals", test_metals},
                                 {"fdtd/on_chip", test_on_chip},
                                 {"fdtd/far", test_far},
                                 {"fdtd/far_double", test_far_double},
                                 {"workers/fdtd", test_workers},
                                 {NULL, NULL}};
