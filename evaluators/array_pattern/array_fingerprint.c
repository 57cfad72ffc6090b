/* array_fingerprint.c: all of a call's configuration that its values depend on, as a hash. A field
 * that is added to a configuration is added here. */
#include "array_internal.h"
#include "array_weights_internal.h"

static void hash_element(ec_hash *hash, const ec_element_pattern *element)
{
    ec_hash_integer(hash, element->kind);
    ec_hash_number(hash, element->q);
    ec_hash_bytes(hash, element->axis, sizeof element->axis);
    if (element->kind != EC_ELEMENT_KIND_TABLE)
        return;
    const ec_element_grid *grid = &element->grid;
    const double numbers[] = {grid->theta0,          grid->phi0,      grid->rows_per_rad,
                              grid->columns_per_rad, grid->theta_low, grid->theta_high,
                              grid->phi_span};
    ec_hash_integer(hash, grid->rows);
    ec_hash_integer(hash, grid->columns);
    ec_hash_bytes(hash, numbers, sizeof numbers);
    ec_hash_bytes(hash, element->node_f64,
                  ec_element_table_length(element) * sizeof *element->node_f64);
}

/* What a configuration says of the elements. */
static void hash_elements(ec_hash *hash, const ec_array_config *config)
{
    size_t n = (size_t)config->elements;

    ec_hash_integer(hash, config->elements);
    hash_element(hash, &config->element);
    ec_hash_bytes(hash, &config->frame, sizeof config->frame);
    ec_hash_integer(hash, config->each != NULL);
    for (size_t i = 0; config->each && i < n; i++)
        hash_element(hash, &config->each[i]);
    ec_hash_integer(hash, config->frames != NULL);
    ec_hash_bytes(hash, config->frames, config->frames ? n * sizeof *config->frames : 0);
    ec_hash_integer(hash, config->polarization);
    ec_hash_number(hash, config->copolar);
}

static void hash_spec(ec_hash *hash, const ec_pattern_spec *spec)
{
    ec_hash_integer(hash, spec->kind);
    ec_hash_integer(hash, spec->relative);
    ec_hash_number(hash, spec->shape);
    ec_hash_number(hash, spec->beam.look_a);
    ec_hash_number(hash, spec->beam.look_b);
    ec_hash_number(hash, spec->beam.exclude_a);
    ec_hash_number(hash, spec->beam.exclude_b);
    ec_hash_integer(hash, spec->n);
    for (int32_t i = 0; spec->lines && i < spec->n; i++) {
        const ec_pattern_line *line = &spec->lines[i];
        const double numbers[] = {line->from, line->to, line->limit[0], line->limit[1]};
        ec_hash_bytes(hash, numbers, sizeof numbers);
        ec_hash_integer(hash, line->sign);
    }
    ec_hash_numbers(hash, spec->directions, 4 * (size_t)spec->n);
}

void ec_pattern_fingerprint(const ec_call *call, int32_t output, ec_hash *hash)
{
    const ec_pattern_setup *setup = (const ec_pattern_setup *)call->config;
    const ec_array_config *config = &setup->config;
    bool list = config->kind == EC_ARRAY_DIRECTIONS;

    ec_hash_integer(hash, config->kind);
    ec_hash_numbers(hash, config->a, (size_t)config->na);
    ec_hash_numbers(hash, config->b, (size_t)(list ? config->na : config->nb));
    ec_hash_numbers(hash, config->c, (size_t)config->na);
    ec_hash_number(hash, config->fixed);
    hash_elements(hash, config);
    ec_hash_integer(hash, config->precision);
    ec_hash_integer(hash, config->method);
    ec_hash_number(hash, config->tolerance);
    ec_hash_integer(hash, config->expansion);
    ec_hash_integer(hash, config->terms);
    ec_hash_integer(hash, config->parts);
    ec_hash_integer(hash, config->partition);
    ec_hash_bytes(hash, config->part,
                  config->part ? (size_t)config->elements * sizeof *config->part : 0);
    ec_hash_integer(hash, config->planes);
    ec_hash_integer(hash, config->integrate);
    hash_spec(hash, (const ec_pattern_spec *)call->out[output].spec);
}

/* The output says by its name what it is. */
void ec_weights_fingerprint(const ec_call *call, int32_t output, ec_hash *hash)
{
    const ec_weights_setup *setup = (const ec_weights_setup *)call->config;
    const ec_weights_config *config = &setup->config;
    size_t n = (size_t)config->elements, stride = (size_t)ec_weights_stride(config->elements);

    (void)output;
    ec_hash_integer(hash, config->method);
    ec_hash_integer(hash, config->elements);
    ec_hash_integer(hash, config->nulls);
    ec_hash_number(hash, config->loading);
    ec_hash_integer(hash, config->noise);
    ec_hash_integer(hash, config->interferers);
    ec_hash_numbers(hash, setup->storage, setup->storage ? 3 * (size_t)config->directions : 0);
    ec_hash_number(hash, config->exclude);
    ec_hash_number(hash, config->flat);
    ec_hash_number(hash, config->sll_db);
    ec_hash_integer(hash, config->iterations);
    ec_hash_integer(hash, config->filled);
    hash_elements(hash, &setup->array.config);
    ec_hash_numbers(hash, setup->frequency, (size_t)setup->n_frequencies * (1 + 2 * n * stride));
}
