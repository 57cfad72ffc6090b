/* mimo_harness.h: scenes of shapes and links in them, for tests of channels. */
#ifndef EC_MIMO_HARNESS_H
#define EC_MIMO_HARNESS_H

#include "core/executor.h"
#include "evaluators/mimo/mimo.h"
#include "evaluators/mimo/scene_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static ec_backend *cpu;

static inline int mimo_open_cpu(void)
{
    return ec_backend_create(&(ec_backend_info){.name = "cpu", .threads = 2}, &cpu);
}

/* Each shape of a material by name. */
static inline ec_scene *mimo_scene(int n, const ec_shape *shape, const char *const *material)
{
    ec_scene_builder *builder = NULL;
    ec_scene_options options;
    ec_scene *scene = NULL;
    int32_t index = 0;

    assert_int_equal(ec_scene_builder_create(&builder), EC_OK);
    for (int i = 0; i < n; i++) {
        ec_material m;
        if (i == 0 || strcmp(material[i], material[i - 1]) != 0) {
            assert_int_equal(ec_material_by_name(material[i], &m), EC_OK);
            assert_int_equal(ec_scene_builder_material(builder, &m, &index), EC_OK);
        }
        assert_int_equal(ec_scene_builder_shape(builder, "shape", index, &shape[i]), EC_OK);
    }
    ec_scene_options_default(&options);
    assert_int_equal(ec_scene_build(builder, &options, &scene), EC_OK);
    ec_scene_builder_destroy(&builder);
    return scene;
}

/* Antennas at n places. */
static inline void mimo_stand(ec_graph *g, int32_t n, const double (*at)[3], ec_mimo_end *end)
{
    double *axis = malloc((size_t)n * sizeof *axis);

    assert_non_null(axis);
    for (int k = 0; k < 3; k++) {
        for (int32_t i = 0; i < n; i++)
            axis[i] = at[i][k];
        end->at[k] = ec_graph_constant(g, 1, &n, axis);
    }
    end->count = n;
    free(axis);
}

static inline ec_mimo_config mimo_config(const ec_scene *scene, int32_t n, const double *frequency)
{
    ec_mimo_config c;

    ec_mimo_config_default(&c);
    c.scene = scene;
    c.n_frequencies = n;
    c.frequency = frequency;
    return c;
}

static inline ec_call *mimo_link(ec_graph *g, const ec_mimo_config *config)
{
    ec_call *call = NULL;

    if (ec_mimo_call(g, config, &call) < 0)
        fail_msg("%s", ec_error_text());
    return call;
}

#endif
