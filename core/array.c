/* array.c: descriptions, allocation and views of batch arrays. */
#include "array.h"

#include <string.h>

void ec_array_describe(ec_array *array, int dtype, int axes, int rank, const int32_t *shape,
                       size_t lanes, size_t samples)
{
    memset(array, 0, sizeof *array);
    array->dtype = (uint8_t)dtype;
    array->axes = (uint8_t)axes;
    array->rank = (uint8_t)rank;
    array->elements = 1;
    for (int i = 0; i < rank && i < EC_RANK_MAX; i++) {
        array->shape[i] = shape[i];
        array->elements *= (size_t)shape[i];
    }
    bool has_lanes = axes & (EC_AXIS_GROUP | EC_AXIS_CANDIDATE);
    array->lanes = has_lanes ? lanes : 1;
    array->ld = has_lanes ? ec_lane_ld(lanes) : 1;
    bool has_samples = axes & EC_AXIS_SAMPLE;
    array->samples = has_samples ? samples : 1;
    array->sample_stride = has_samples ? array->elements * array->ld : 0;
}

size_t ec_array_bytes(const ec_array *array)
{
    /* Padding lanes included; for a view of lanes this is the size of the array it came from. */
    return array->samples * array->elements * array->ld * ec_dtype_size(array->dtype);
}

/* a * b, or SIZE_MAX when that does not fit. */
static size_t multiply_or_max(size_t a, size_t b)
{
    return b && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

static int check_description(int dtype, int axes, int rank, const int32_t *shape, size_t lanes,
                             size_t samples)
{
    if (dtype < 0 || dtype >= EC_DTYPE_COUNT)
        return ec_fail(EC_ERR_TYPE, "array: dtype %d is not one of f32, f64, c64, c128, i32",
                       dtype);
    if (rank < 0 || rank > EC_RANK_MAX)
        return ec_fail(EC_ERR_SHAPE, "array: rank %d is not between 0 and %d", rank, EC_RANK_MAX);
    if ((axes & EC_AXIS_GROUP) && (axes & EC_AXIS_CANDIDATE))
        return ec_fail(EC_ERR_SHAPE,
                       "array: a value has the group axis or the candidate axis, not both");
    size_t bytes = ec_dtype_size(dtype);
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 1)
            return ec_fail(EC_ERR_SHAPE, "array: extent %d of dimension %d is not at least 1",
                           (int)shape[i], i + 1);
        bytes = multiply_or_max(bytes, (size_t)shape[i]);
    }
    if (axes & (EC_AXIS_GROUP | EC_AXIS_CANDIDATE)) {
        if (lanes < 1)
            return ec_fail(EC_ERR_SHAPE, "array: a lane axis needs at least 1 lane");
        bytes =
            lanes > SIZE_MAX - EC_LANE_PAD ? SIZE_MAX : multiply_or_max(bytes, ec_lane_ld(lanes));
    }
    if (axes & EC_AXIS_SAMPLE) {
        if (samples < 1)
            return ec_fail(EC_ERR_SHAPE, "array: the sample axis needs at least 1 sample");
        bytes = multiply_or_max(bytes, samples);
    }
    if (bytes > SIZE_MAX / 2)
        return ec_fail(EC_ERR_MEMORY, "array: its size does not fit in the address space");
    return EC_OK;
}

int ec_array_create(ec_backend *backend, ec_array *array, int dtype, int axes, int rank,
                    const int32_t *shape, size_t lanes, size_t samples)
{
    ec_array fresh;

    int status = check_description(dtype, axes, rank, shape, lanes, samples);
    if (status < 0)
        return status;
    ec_array_describe(&fresh, dtype, axes, rank, shape, lanes, samples);
    status = backend->ops->alloc(backend, ec_array_bytes(&fresh), &fresh.data);
    if (status < 0)
        return status;
    *array = fresh;
    return EC_OK;
}

void ec_array_release(ec_backend *backend, ec_array *array)
{
    if (!array || !array->data)
        return;
    backend->ops->release(backend, array->data);
    array->data = NULL;
}

ec_array ec_array_lanes(const ec_array *array, size_t first, size_t count)
{
    ec_array view = *array;

    if (!(array->axes & (EC_AXIS_GROUP | EC_AXIS_CANDIDATE)))
        return view;
    view.data = (char *)array->data + first * ec_dtype_size(array->dtype);
    view.lanes = count;
    return view;
}

ec_array ec_array_sample(const ec_array *array, size_t sample)
{
    ec_array view = *array;

    view.data = (char *)array->data + sample * array->sample_stride * ec_dtype_size(array->dtype);
    view.axes = (uint8_t)(array->axes & ~EC_AXIS_SAMPLE);
    view.samples = 1;
    view.sample_stride = 0;
    return view;
}
