#include "columns.h"

#include <stdlib.h>
#include <string.h>

int ec_columns_create(ec_columns *c, ec_backend *backend, const ec_plan_info *info,
                      int32_t n_outputs, const char *what)
{
    memset(c, 0, sizeof *c);
    c->backend = backend;
    c->lanes = info->max_candidates > 0 ? info->max_candidates : 1;
    c->n_outputs = n_outputs;
    for (int32_t i = 0; i < info->n_in; i++)
        c->n_columns += (int32_t)info->in[i].elements;
    c->column = calloc((size_t)c->n_columns + 1, sizeof *c->column);
    c->output = calloc((size_t)n_outputs + 1, sizeof *c->output);
    c->memory = malloc(((size_t)c->n_columns + (size_t)n_outputs) * c->lanes * sizeof *c->memory);
    c->status = malloc(c->lanes);
    c->before = malloc(c->lanes);
    if (!c->column || !c->output || !c->memory || !c->status || !c->before) {
        ec_columns_release(c);
        return ec_fail(EC_ERR_MEMORY, "%s: no memory for the columns", what);
    }
    for (int32_t k = 0; k < n_outputs; k++)
        c->output[k] = c->memory + (size_t)(c->n_columns + k) * c->lanes;
    return EC_OK;
}

void ec_columns_release(ec_columns *c)
{
    free(c->column);
    free(c->output);
    free(c->memory);
    free(c->status);
    free(c->before);
    memset(c, 0, sizeof *c);
}

/* Element k of an input as column `at`. */
static int read_column(ec_columns *c, const ec_array *in, size_t k, size_t at, size_t n)
{
    const double *from = (const double *)in->data + k * in->ld;
    double *to = c->memory + at * c->lanes;
    bool varies = in->axes & EC_AXIS_CANDIDATE;
    c->column[at] = varies && c->backend->host_memory ? from : to;
    if (c->column[at] == from)
        return EC_OK;
    int status = c->backend->ops->download(c->backend, to, from, (varies ? n : 1) * sizeof *to);
    for (size_t i = 1; !varies && i < n && status == EC_OK; i++)
        to[i] = to[0];
    return status;
}

int ec_columns_read(ec_columns *c, const ec_array *const *in, size_t n)
{
    if (n > c->lanes)
        return ec_fail(EC_ERR_INTERNAL, "%zu designs in columns that were planned for %zu", n,
                       c->lanes);
    for (size_t at = 0, end = (size_t)c->n_columns; at < end; in++)
        for (size_t k = 0; k < (*in)->elements; k++, at++) {
            int status = read_column(c, *in, k, at, n);
            if (status != EC_OK)
                return status;
        }
    for (int32_t k = 0; k < c->n_outputs; k++)
        for (size_t i = 0; i < n; i++)
            c->output[k][i] = NAN;
    memset(c->status, 0, n);
    return EC_OK;
}

int ec_columns_write(ec_columns *c, int32_t n_out, ec_array *const *out, uint8_t *status,
                     uint8_t bit, size_t n)
{
    const ec_backend_ops *ops = c->backend->ops;
    int code = ops->download(c->backend, c->before, status, n);
    for (size_t i = 0; i < n && code == EC_OK; i++) {
        bool good = c->status[i] == 0;
        for (int32_t k = 0; k < c->n_outputs; k++)
            good = good && isfinite(c->output[k][i]);
        for (int32_t k = 0; k < c->n_outputs && !good; k++)
            c->output[k][i] = NAN;
        c->status[i] = (uint8_t)(c->before[i] | (good ? 0 : bit));
    }
    for (int32_t k = 0; k < n_out && code == EC_OK; k++)
        if (out[k])
            code = ops->upload(c->backend, out[k]->data, c->output[k], n * sizeof(double));
    return code == EC_OK ? ops->upload(c->backend, status, c->status, n) : code;
}
