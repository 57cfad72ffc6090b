#include "bench_fdtd.h"

#include "core/executor.h"
#include "evaluators/fdtd/fdtd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MATERIALS = 16 };

struct bench_fdtd {
    ec_backend *backend;
    ec_graph *graph;
    ec_executor *executor;
    ec_array X;
    void *status;
    size_t domains;
};

static void check(int status)
{
    if (status >= 0)
        return;
    fprintf(stderr, "bench: fdtd: %s\n", ec_error_text());
    exit(1);
}

static ec_fdtd_number number(double value)
{
    return (ec_fdtd_number){value, -1};
}

static ec_fdtd_object object(ec_fdtd_kind kind, int32_t material, const double at[3],
                             const double size[3])
{
    ec_fdtd_object o = {.kind = kind, .name = "object", .material = material, .axis = 2};
    for (int i = 0; i < 3; i++) {
        o.at[i] = number(at[i]);
        o.size[i] = number(size[i]);
        o.to[i] = number(0);
    }
    o.radius = o.inner_radius = o.length = o.ohms = number(0);
    return o;
}

bench_fdtd *bench_fdtd_create(ec_backend *backend, const bench_fdtd_case *what)
{
    const double d = 0.5e-3, frequency[2] = {1e9, 5e9};
    bench_fdtd *f = calloc(1, sizeof *f);
    ec_fdtd_config c;
    ec_call *call = NULL;
    double size[3], middle[3];

    if (!f)
        exit(1);
    f->backend = backend;
    f->domains = (size_t)what->domains;
    check(ec_graph_create(&f->graph));
    ec_fdtd_config_default(&c);
    for (int i = 0; i < 3; i++) {
        size[i] = (what->n[i] - 2 * what->layers) * d;
        middle[i] = 0.5 * size[i];
        c.grid.cell[i] = d;
        c.grid.domain[0][i] = number(0);
        c.grid.domain[1][i] = number(size[i]);
        for (int side = 0; side < 2; side++)
            c.wall[i][side] = what->layers ? EC_FDTD_WALL_PML : EC_FDTD_WALL_PEC;
    }
    c.layers = what->layers ? what->layers : 8;
    /* A variable that moves nothing makes as many designs as domains are wanted. */
    const ec_expr x = ec_graph_variable(f->graph, false, 0, 0, &(double){2}, &(double){4});
    ec_fdtd_material material[MATERIALS];
    ec_fdtd_object objects[MATERIALS];
    for (int i = 0; i < MATERIALS; i++) {
        material[i] = (ec_fdtd_material){.name = "material",
                                         .eps_r = {2 + 0.2 * i, i == 0 ? x : -1},
                                         .mu_r = {1, -1},
                                         .conductivity = {0.01 * i, -1},
                                         .magnetic_conductivity = {0, -1},
                                         .loss_tangent = {0, -1}};
        const double at[3] = {middle[0], middle[1], (2 + 4 * i) * d};
        objects[i] = object(EC_FDTD_BOX, i, at, (double[]){size[0], size[1], 4 * d});
    }
    c.n_materials = MATERIALS;
    c.n_objects = what->materials < MATERIALS ? what->materials : MATERIALS;
    if (what->materials == 0) {
        objects[0] = object(EC_FDTD_BOX, 0, (double[]){middle[0], middle[1], d},
                            (double[]){size[0], size[1], 2 * d});
        objects[1] = object(EC_FDTD_PLATE, EC_FDTD_PEC, (double[]){middle[0], middle[1], 2 * d},
                            (double[]){size[0] - 8 * d, 4 * d, 0});
        for (int i = 0; i < 2; i++) /* edges on lines, whatever the size's parity */
            objects[1].at[i] = number(4 * d + 0.5 * (i ? 4 * d : size[0] - 8 * d));
        c.n_objects = 2;
    }
    c.objects = objects;
    c.materials = material;
    /* Where nothing conducts there is no place for a port with a resistance. */
    const bool strip = what->materials == 0 && what->layers == 0;
    ec_fdtd_port port = {
        .kind = strip ? EC_FDTD_LUMPED : EC_FDTD_CURRENT, .name = "in", .axis = 2, .driven = true};
    for (int i = 0; i < 3; i++) {
        port.from[i] = number(i == 2 ? 0 : 6 * d);
        port.to[i] = number(i == 2 ? 2 * d : 6 * d);
    }
    port.ohms = number(50);
    port.henries = port.farads = port.plane = port.shift = number(0);
    c.ports = &port;
    c.n_ports = 1;
    c.frequency = frequency;
    c.n_frequencies = 2;
    c.max_steps = what->steps;
    c.decay_db = INFINITY;
    c.off_chip = what->off_chip;
    check(ec_fdtd_call(f->graph, &c, &call));
    const ec_expr s = ec_fdtd_value(f->graph, call, &(ec_fdtd_what){.output = EC_FDTD_IMPEDANCE});
    check(s);
    ec_executor_info info = {.outputs = &s, .n_outputs = 1, .max_candidates = f->domains};
    check(ec_executor_create(f->graph, backend, &info, &f->executor));
    check(ec_array_create(backend, &f->X, EC_F64, EC_AXIS_CANDIDATE, 1, &(int32_t){1}, f->domains,
                          1));
    double *here = calloc(f->X.ld, sizeof *here);
    if (!here)
        exit(1);
    for (size_t i = 0; i < f->domains; i++)
        here[i] = 2 + 2 * (double)i / (double)f->domains;
    check(backend->ops->upload(backend, f->X.data, here, ec_array_bytes(&f->X)));
    free(here);
    check(backend->ops->alloc(backend, ec_lane_ld(f->domains), &f->status));
    return f;
}

void bench_fdtd_run(bench_fdtd *f)
{
    check(ec_executor_run(f->executor, &f->X, NULL, NULL, f->status, f->domains, 0));
    check(f->backend->ops->sync(f->backend));
}

void bench_fdtd_destroy(bench_fdtd **f)
{
    bench_fdtd *b = *f;

    b->backend->ops->release(b->backend, b->status);
    ec_array_release(b->backend, &b->X);
    ec_executor_destroy(&b->executor);
    ec_graph_destroy(&b->graph);
    free(b);
    *f = NULL;
}
