/* fdtd_harness.h: structures on grids and what they give, for tests of FDTD. */
#ifndef EC_FDTD_HARNESS_H
#define EC_FDTD_HARNESS_H

#include "core/executor.h"
#include "evaluators/fdtd/fdtd.h"
#include "evaluators/fdtd/fdtd_stack_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static ec_backend *cpu;
static const double mm = 1e-3;

static inline int fdtd_open(void **state)
{
    (void)state;
    return ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = 2}, &cpu);
}

static inline int fdtd_close(void **state)
{
    (void)state;
    ec_backend_destroy(&cpu);
    return 0;
}

static inline ec_fdtd_number fdtd_number(double value)
{
    return (ec_fdtd_number){value, -1};
}

static inline ec_fdtd_material fdtd_material(const char *name, double eps_r, double conductivity)
{
    return (ec_fdtd_material){.name = name,
                              .eps_r = {eps_r, -1},
                              .mu_r = {1, -1},
                              .conductivity = {conductivity, -1},
                              .magnetic_conductivity = {0, -1},
                              .loss_tangent = {0, -1}};
}

/* An object whose numbers are all constants 0, of EC_FDTD_PEC. */
static inline ec_fdtd_object fdtd_object(ec_fdtd_kind kind, const char *name)
{
    ec_fdtd_object o = {.kind = kind, .name = name, .material = EC_FDTD_PEC, .axis = 2};

    for (int c = 0; c < 3; c++)
        o.at[c] = o.to[c] = o.size[c] = fdtd_number(0);
    o.radius = o.inner_radius = o.length = o.ohms = fdtd_number(0);
    return o;
}

static inline ec_fdtd_object fdtd_box(const char *name, int32_t material, const double lo[3],
                                      const double hi[3])
{
    ec_fdtd_object o = fdtd_object(EC_FDTD_BOX, name);

    o.material = material;
    for (int c = 0; c < 3; c++) {
        o.at[c] = fdtd_number(0.5 * (lo[c] + hi[c]));
        o.size[c] = fdtd_number(hi[c] - lo[c]);
    }
    return o;
}

static inline ec_fdtd_port fdtd_port(ec_fdtd_port_kind kind, const char *name, const double from[3],
                                     const double to[3], double ohms)
{
    ec_fdtd_port p = {.kind = kind, .name = name, .driven = true};

    for (int c = 0; c < 3; c++) {
        p.from[c] = fdtd_number(from[c]);
        p.to[c] = fdtd_number(to[c]);
        if (from[c] != to[c])
            p.axis = c;
    }
    p.ohms = fdtd_number(ohms);
    p.henries = p.farads = p.plane = p.shift = fdtd_number(0);
    return p;
}

static inline void fdtd_domain(ec_fdtd_config *c, const double lo[3], const double hi[3])
{
    for (int i = 0; i < 3; i++) {
        c->grid.domain[0][i] = fdtd_number(lo[i]);
        c->grid.domain[1][i] = fdtd_number(hi[i]);
    }
}

static inline void fdtd_walls(ec_fdtd_config *c, ec_fdtd_wall wall)
{
    for (int i = 0; i < 6; i++)
        c->wall[i / 2][i % 2] = wall;
}

/* Values of n outputs of one design without variables, what[i] or far[i] (the other is NULL): to[i]
 * takes output i. */
static inline int fdtd_outputs(ec_backend *backend, const ec_fdtd_config *config, int32_t n,
                               const ec_fdtd_what *what, const ec_fdtd_far *far, double *const *to)
{
    ec_graph *g = NULL;
    ec_call *call = NULL;
    ec_expr outputs[16];
    uint8_t bad = 0;
    int status = ec_graph_create(&g);

    assert_true(n <= 16);
    if (status >= 0)
        status = ec_fdtd_call(g, config, &call);
    for (int32_t i = 0; i < n && status >= 0; i++)
        if ((outputs[i] =
                 what ? ec_fdtd_value(g, call, what + i) : ec_fdtd_far_value(g, call, far + i)) < 0)
            status = outputs[i];
    if (status >= 0)
        status =
            ec_evaluate_once(g, backend, EC_SEARCH, n, outputs, NULL, 0, NULL, 0, to, &bad, NULL);
    if (status >= 0 && bad)
        status = ec_fail(EC_ERR_RANGE, "the design failed");
    ec_graph_destroy(&g);
    return status;
}

static inline int fdtd_values(ec_backend *backend, const ec_fdtd_config *config, int32_t n,
                              const ec_fdtd_what *what, double *const *to)
{
    return fdtd_outputs(backend, config, n, what, NULL, to);
}

/* The domains of a design without variables, whose series the values do not give. */
static inline void fdtd_run_stack(ec_backend *backend, const ec_fdtd_config *config,
                                  const ec_fdtd_wants *wants,
                                  void (*done)(void *user, size_t design, int32_t driven,
                                               const ec_fdtd_result *result),
                                  void *user)
{
    ec_graph *g = NULL;
    ec_fdtd_model *model = NULL;
    ec_fdtd_line_plan *lines = NULL;
    ec_fdtd_stack *stack = NULL;
    ec_fdtd_setup setup;

    assert_int_equal(ec_graph_create(&g), EC_OK);
    assert_int_equal(ec_fdtd_model_create(config, &model), EC_OK);
    assert_int_equal(ec_fdtd_model_designs(model, g, NULL), EC_OK);
    assert_int_equal(ec_fdtd_line_plan_create(model, NULL, &lines), EC_OK);
    ec_fdtd_setup_init(model, lines, &setup);
    if (ec_fdtd_stack_create(backend, &setup, wants, 1, 0, &stack) < 0 ||
        ec_fdtd_stack_run(stack, 1, NULL, done, user, NULL) < 0)
        fail_msg("%s", ec_error_text());
    ec_fdtd_stack_destroy(&stack);
    ec_fdtd_line_plan_destroy(&lines);
    ec_fdtd_model_destroy(&model);
    ec_graph_destroy(&g);
}

#endif
