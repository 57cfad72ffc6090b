/* columns.h: a batch as columns on the host, for evaluators that are functions of the host: read the
 * inputs, let the function fill outputs and statuses, write them back. A GPU backend's arrays are
 * copied, a CPU's read in place.
 */
#ifndef EC_COLUMNS_H
#define EC_COLUMNS_H

#include "evaluator.h"

EC_C_BEGIN

typedef struct ec_columns {
    ec_backend *backend;
    size_t lanes;
    int32_t n_columns, n_outputs;
    const double *
        *column;     /* of the inputs' elements in order, each of n values; until the next run */
    double **output; /* each of n values, NaN before the function */
    uint8_t *status; /* n bytes, 0 before the function: anything else is a failed design */
    double *memory;  /* rows of `lanes` values: columns that are copied or repeated, outputs */
    uint8_t *before; /* status bytes of others */
} ec_columns;

/* For the runs of a plan. `what` names the evaluator in messages. */
EC_API int ec_columns_create(ec_columns *columns, ec_backend *backend, const ec_plan_info *info,
                             int32_t n_outputs, const char *what);
EC_API void ec_columns_release(ec_columns *columns);
EC_API int ec_columns_read(ec_columns *columns, const ec_array *const *in, size_t n);
/* A design that has a status or an output that is not finite gets NaN and the bit. out: n_out arrays,
 * NULL where nobody wants one. */
EC_API int ec_columns_write(ec_columns *columns, int32_t n_out, ec_array *const *out,
                            uint8_t *status, uint8_t bit, size_t n);

EC_C_END
#endif
