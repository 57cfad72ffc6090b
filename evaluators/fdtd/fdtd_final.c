/* fdtd_final.c: the model of final fidelity. */
#include "fdtd_final_internal.h"

#include <stdlib.h>
#include <string.h>

#include "fdtd_line_plan_internal.h"

void ec_fdtd_final_default(ec_fdtd_config *config)
{
    config->final = (ec_fdtd_final){.on = true,
                                    .grid = config->grid,
                                    .layers = config->layers,
                                    .max_steps = config->max_steps,
                                    .decay_db = config->decay_db,
                                    .double_precision = config->double_precision};
}

/* A key of final that is coarser than in the search. */
typedef struct coarser {
    const char *key;
    double final, search;
    const char *limit;
} coarser;

static void at_least(coarser *found, const char *key, double final, double search)
{
    if (!found->key && !(final >= search))
        *found = (coarser){key, final, search, "least"};
}

/* NAN: no limit, which is the largest. */
static void at_most(coarser *found, const char *key, double final, double search)
{
    if (!found->key && (isnan(final) ? !isnan(search) : final > search))
        *found = (coarser){key, final, search, "most"};
}

int ec_fdtd_final_check(const ec_fdtd_config *c)
{
    const ec_fdtd_final *f = &c->final;
    const ec_fdtd_grid *grid = &c->grid;
    coarser found = {.key = NULL};

    if (!f->on)
        return EC_OK;
    if (f->grid.averaging > 8)
        return ec_fail(EC_ERR_RANGE, "fdtd: final: averaging is %d: 1 to 8 samples are possible",
                       f->grid.averaging);
    if (f->grid.conformal && f->grid.edge_correction)
        return ec_fail(EC_ERR_UNSUPPORTED, "fdtd: final: conformal and edge_correction do not go "
                                           "together: give one of them");
    if (grid->conformal > f->grid.conformal || grid->edge_correction > f->grid.edge_correction)
        return ec_fail(EC_ERR_RANGE, "fdtd: final: %s is off, and on in the search",
                       grid->conformal ? "conformal" : "edge_correction");
    if (isnan(grid->smallest) && !isnan(f->grid.smallest))
        return ec_fail(EC_ERR_RANGE,
                       "fdtd: final: smallest is %g m, and the search has no such limit: its cells "
                       "could be smaller",
                       f->grid.smallest);
    if (c->double_precision && !f->double_precision)
        return ec_fail(EC_ERR_RANGE, "fdtd: final: precision is float32, and float64 in the "
                                     "search");
    at_least(&found, "cells_per_wavelength", f->grid.cells_per_wavelength,
             grid->cells_per_wavelength);
    at_least(&found, "least_cells", f->grid.least_cells, grid->least_cells);
    at_most(&found, "growth", f->grid.growth, grid->growth);
    at_most(&found, "largest", f->grid.largest, grid->largest);
    if (!isnan(grid->smallest) && !isnan(f->grid.smallest)) /* NAN: edges decide, which is finer */
        at_most(&found, "smallest", f->grid.smallest, grid->smallest);
    for (int a = 0; a < 3; a++)
        if (grid->cell[a] > 0)
            at_most(&found, "cell", f->grid.cell[a], grid->cell[a]);
    at_least(&found, "averaging", f->grid.averaging, grid->averaging);
    at_least(&found, "layers", f->layers, c->layers);
    at_least(&found, "decay_db", f->decay_db, c->decay_db);
    at_least(&found, isinf(c->decay_db) ? "steps" : "max_steps", (double)f->max_steps,
             (double)c->max_steps);
    if (found.key)
        return ec_fail(EC_ERR_RANGE,
                       "fdtd: final: %s is %.10g, coarser than in the search: at %s %.10g is "
                       "possible",
                       found.key, found.final, found.limit, found.search);
    return EC_OK;
}

int ec_fdtd_final_model(const ec_fdtd_model *search, ec_fdtd_model **final)
{
    const ec_fdtd_final *f = &search->config.final;
    const size_t numbers = (size_t)search->n_numbers;
    ec_fdtd_config config = search->config;

    config.grid = f->grid;
    config.grid.air = search->config.grid.air;
    memcpy(config.grid.domain, search->config.grid.domain, sizeof config.grid.domain);
    config.layers = f->layers;
    config.max_steps = f->max_steps;
    config.decay_db = f->decay_db;
    config.double_precision = f->double_precision;
    int status = ec_fdtd_model_create(&config, final);
    if (status < 0)
        return status;
    ec_fdtd_model *m = *final;
    const size_t designs = (size_t)search->n_designs * numbers;
    memcpy(m->metal, search->metal, (size_t)config.n_objects * sizeof *m->metal);
    m->n_numbers = search->n_numbers;
    m->n_designs = search->n_designs;
    m->range = malloc((numbers + 1) * sizeof *m->range);
    m->designs = malloc((designs + 1) * sizeof *m->designs);
    if (!m->range || !m->designs)
        return ec_fail(EC_ERR_MEMORY, "no memory for a model's numbers");
    if (numbers) {
        memcpy(m->range, search->range, numbers * sizeof *m->range);
        memcpy(m->designs, search->designs, designs * sizeof *m->designs);
    }
    return EC_OK;
}

int ec_fdtd_final_check_lines(const ec_fdtd_line_plan *search, const ec_fdtd_line_plan *final)
{
    const ec_fdtd_config *c[2] = {&search->model->config, &final->model->config};
    const double step[2] = {ec_fdtd_line_plan_step(search), ec_fdtd_line_plan_step(final)};
    const double steps = (double)c[0]->max_steps * step[0] / step[1];

    for (int a = 0; a < 3; a++)
        if ((c[0]->grid.cell[a] > 0) != (c[1]->grid.cell[a] > 0) &&
            ec_fdtd_line_cells(final, a) < ec_fdtd_line_cells(search, a))
            return ec_fail(EC_ERR_RANGE,
                           "fdtd: final: cell gives %d cells along %c, fewer than the %d of the "
                           "search",
                           (int)ec_fdtd_line_cells(final, a), "xyz"[a],
                           (int)ec_fdtd_line_cells(search, a));
    if (isinf(c[0]->decay_db) && isinf(c[1]->decay_db) &&
        (double)c[1]->max_steps < (1 - 1e-9) * steps)
        return ec_fail(EC_ERR_RANGE,
                       "fdtd: final: steps is %lld of %.4g ps each, a shorter time than the %lld "
                       "of %.4g ps of the search: at least %.0f are needed",
                       (long long)c[1]->max_steps, 1e12 * step[1], (long long)c[0]->max_steps,
                       1e12 * step[0], ceil(steps));
    return EC_OK;
}
