/* array_rows.h: the pattern row of one candidate on the CPU, in float32 and float64 (the text is
 * array_row_template.h). Grid directions are padded to whole blocks of EC_ROW_BLOCK points. */
#ifndef EC_ARRAY_ROWS_H
#define EC_ARRAY_ROWS_H

#include "array_own.h"

#include <string.h>

enum { EC_ROW_BLOCK = 32 };

#define EC_REAL       float
#define EC_ROW(name)  ec_row_##name##_f32
#define EC_ROW_SINCOS ec_sincos_turns_f32
#define EC_ROW_FMA    ec_fmaf
#include "array_row_template.h"
#undef EC_REAL
#undef EC_ROW
#undef EC_ROW_SINCOS
#undef EC_ROW_FMA

#define EC_REAL       double
#define EC_ROW(name)  ec_row_##name##_f64
#define EC_ROW_SINCOS ec_sincos_turns_f64
#define EC_ROW_FMA    ec_fma
#include "array_row_template.h"
#undef EC_REAL
#undef EC_ROW
#undef EC_ROW_SINCOS
#undef EC_ROW_FMA

/* |F|^2 over the grid by the planned path. tables: args->at_tables has room for them. */
static inline void ec_row_compute(const ec_pattern_args *args, const ec_pattern_elements *el,
                                  void *tables, float *row)
{
    if (args->row == EC_ROW_PRODUCT) {
        if (args->double_precision)
            ec_row_product_f64(args, el, tables, row);
        else
            ec_row_product_f32(args, el, tables, row);
    } else if (args->row == EC_ROW_NUFFT) {
        if (args->double_precision)
            ec_row_nufft_f64(args, el, (char *)tables, row);
        else
            ec_row_nufft_f32(args, el, (char *)tables, row);
    } else if (args->own.parts) {
        if (args->double_precision)
            ec_row_own_f64(args, el, row);
        else
            ec_row_own_f32(args, el, row);
    } else if (args->double_precision) {
        ec_row_direct_f64(args, el, row);
    } else {
        ec_row_direct_f32(args, el, row);
    }
}

/* The complex pattern without the element factor; args->row is EC_ROW_NUFFT. Its entry i. */
static inline void ec_row_field(const ec_pattern_args *args, const ec_pattern_elements *el,
                                void *tables)
{
    if (args->double_precision)
        ec_row_field_f64(args, el, true, (char *)tables);
    else
        ec_row_field_f32(args, el, true, (char *)tables);
}

static inline ec_c128 ec_row_field_at(const ec_pattern_args *args, const void *tables, size_t i)
{
    const char *memory = (const char *)tables + args->nufft.at_field;
    const double *f64 = (const double *)memory;
    const float *f32 = (const float *)memory;
    ec_c128 f = {0.0, 0.0};

    f.re = args->double_precision ? f64[2 * i] : (double)f32[2 * i];
    f.im = args->double_precision ? f64[2 * i + 1] : (double)f32[2 * i + 1];
    return f;
}

#endif
