/* array.h: a batch array: a tensor of rank 0 to 4 for every lane (and every sample).
 *
 * Element e of lane c in sample s lies at data[s * sample_stride + e * ld + c]. Lanes are the
 * candidates (or the groups); an array with neither axis has one lane and ld = 1, and an array
 * without the sample axis has samples = 1 and sample_stride = 0. Elements are in row-major order
 * of shape. Strides count elements of dtype. Padding lanes (lanes .. ld-1) hold anything.
 */
#ifndef EC_ARRAY_H
#define EC_ARRAY_H

#include "backend.h"

EC_C_BEGIN

typedef enum ec_dtype { EC_F32, EC_F64, EC_C64, EC_C128, EC_I32, EC_DTYPE_COUNT } ec_dtype;

/* Axes of a value. A value with the candidate axis has no group axis (a candidate knows its group). */
enum { EC_AXIS_GROUP = 1, EC_AXIS_CANDIDATE = 2, EC_AXIS_SAMPLE = 4 };

enum { EC_RANK_MAX = 4 };

typedef struct ec_array {
    void *data;
    uint8_t dtype; /* ec_dtype */
    uint8_t axes;
    uint8_t rank;
    int32_t shape[EC_RANK_MAX];
    size_t elements; /* product of shape, 1 for a scalar */
    size_t lanes, ld;
    size_t samples, sample_stride;
} ec_array;

EC_FN size_t ec_dtype_size(int dtype)
{
    return dtype == EC_F32 || dtype == EC_I32 ? 4 : dtype == EC_C128 ? 16 : 8;
}

/* Fills every field but data; lanes is ignored without a lane axis, samples without that axis. */
EC_API void ec_array_describe(ec_array *array, int dtype, int axes, int rank, const int32_t *shape,
                              size_t lanes, size_t samples);
EC_API size_t ec_array_bytes(const ec_array *array);
/* Describes and allocates; release frees data and clears it. */
EC_API int ec_array_create(ec_backend *backend, ec_array *array, int dtype, int axes, int rank,
                           const int32_t *shape, size_t lanes, size_t samples);
EC_API void ec_array_release(ec_backend *backend, ec_array *array);
/* View of lanes [first, first + count); the same memory and strides. first is a multiple of
 * EC_LANE_PAD. An array without a lane axis is returned as it is. */
EC_API ec_array ec_array_lanes(const ec_array *array, size_t first, size_t count);
/* View of one sample. */
EC_API ec_array ec_array_sample(const ec_array *array, size_t sample);

EC_C_END
#endif
