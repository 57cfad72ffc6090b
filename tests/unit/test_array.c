/* test_array.c: layout, views and refusals of batch arrays. */
#include "core/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static ec_backend *make_cpu(void)
{
    ec_backend_info info = {"cpu", 1, NULL, NULL};
    ec_backend *backend = NULL;
    assert_int_equal(ec_backend_create(&info, &backend), EC_OK);
    return backend;
}

static void test_describe(void **unused)
{
    (void)unused;
    int32_t shape[] = {3, 5};
    ec_array a;

    ec_array_describe(&a, EC_C64, EC_AXIS_CANDIDATE | EC_AXIS_SAMPLE, 2, shape, 33, 7);
    assert_int_equal(a.elements, 15);
    assert_int_equal(a.lanes, 33);
    assert_int_equal(a.ld, 64);
    assert_int_equal(a.samples, 7);
    assert_int_equal(a.sample_stride, 15 * 64);
    assert_int_equal(ec_array_bytes(&a), 7 * 15 * 64 * 8);
    assert_null(a.data);

    ec_array_describe(&a, EC_F64, 0, 0, NULL, 1000, 1000);
    assert_int_equal(a.elements, 1);
    assert_int_equal(a.lanes, 1);
    assert_int_equal(a.ld, 1);
    assert_int_equal(a.samples, 1);
    assert_int_equal(a.sample_stride, 0);
    assert_int_equal(ec_array_bytes(&a), 8);

    ec_array_describe(&a, EC_I32, EC_AXIS_GROUP, 1, shape, 32, 9);
    assert_int_equal(a.ld, 32);
    assert_int_equal(a.samples, 1);
    assert_int_equal(ec_array_bytes(&a), 3 * 32 * 4);

    ec_array_describe(&a, EC_C128, EC_AXIS_SAMPLE, 1, shape, 32, 9);
    assert_int_equal(a.lanes, 1);
    assert_int_equal(a.sample_stride, 3);
    assert_int_equal(ec_array_bytes(&a), 9 * 3 * 16);
}

static void test_dtype_sizes(void **unused)
{
    (void)unused;
    static const size_t sizes[EC_DTYPE_COUNT] = {4, 8, 8, 16, 4};
    for (int i = 0; i < EC_DTYPE_COUNT; i++)
        assert_int_equal(ec_dtype_size(i), sizes[i]);
}

static void test_views(void **unused)
{
    (void)unused;
    ec_backend *backend = make_cpu();
    int32_t shape[] = {4};
    ec_array a;

    assert_int_equal(
        ec_array_create(backend, &a, EC_F64, EC_AXIS_CANDIDATE | EC_AXIS_SAMPLE, 1, shape, 100, 3),
        EC_OK);
    assert_int_equal((uintptr_t)a.data % 256, 0);
    double *data = (double *)a.data;
    for (size_t i = 0; i < a.samples * a.sample_stride; i++)
        data[i] = (double)i;

    ec_array lanes = ec_array_lanes(&a, 64, 36);
    assert_int_equal(lanes.lanes, 36);
    assert_int_equal(lanes.ld, a.ld);
    assert_true(((double *)lanes.data)[2 * lanes.ld + 5] == 2 * 128 + 64 + 5);

    ec_array sample = ec_array_sample(&lanes, 2);
    assert_int_equal(sample.axes, EC_AXIS_CANDIDATE);
    assert_int_equal(sample.samples, 1);
    assert_true(((double *)sample.data)[1 * sample.ld + 3] == 2 * 512 + 128 + 64 + 3);
    ec_array_release(backend, &a);
    assert_null(a.data);
    ec_array_release(backend, &a);

    ec_array constant;
    assert_int_equal(ec_array_create(backend, &constant, EC_F64, 0, 1, shape, 0, 0), EC_OK);
    ec_array same = ec_array_lanes(&constant, 64, 32);
    assert_ptr_equal(same.data, constant.data);
    assert_int_equal(same.lanes, 1);
    ec_array_release(backend, &constant);
    ec_backend_destroy(&backend);
}

static void check_refusal(ec_backend *backend, int dtype, int axes, int rank, const int32_t *shape,
                          size_t lanes, size_t samples, int want, const char *words)
{
    ec_array a, before;

    memset(&a, 0x5c, sizeof a);
    before = a;
    assert_int_equal(ec_array_create(backend, &a, dtype, axes, rank, shape, lanes, samples), want);
    assert_non_null(strstr(ec_error_text(), words));
    assert_memory_equal(&a, &before, sizeof a);
}

static void test_refusals(void **unused)
{
    (void)unused;
    ec_backend *backend = make_cpu();
    int32_t good[] = {2, 3, 4, 5, 6}, zero[] = {2, 0}, minus[] = {-1};
    int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
    int32_t large[] = {INT32_MAX, 65536};
    int candidate = EC_AXIS_CANDIDATE;

    check_refusal(backend, 9, 0, 0, NULL, 1, 1, EC_ERR_TYPE, "dtype 9");
    check_refusal(backend, -1, 0, 0, NULL, 1, 1, EC_ERR_TYPE, "dtype -1");
    check_refusal(backend, EC_F64, 0, 5, good, 1, 1, EC_ERR_SHAPE, "rank 5");
    check_refusal(backend, EC_F64, 0, 2, zero, 1, 1, EC_ERR_SHAPE, "dimension 2");
    check_refusal(backend, EC_F64, 0, 1, minus, 1, 1, EC_ERR_SHAPE, "extent -1");
    check_refusal(backend, EC_F64, candidate, 1, good, 0, 1, EC_ERR_SHAPE, "at least 1 lane");
    check_refusal(backend, EC_F64, EC_AXIS_SAMPLE, 1, good, 1, 0, EC_ERR_SHAPE, "1 sample");
    check_refusal(backend, EC_F64, candidate | EC_AXIS_GROUP, 1, good, 1, 1, EC_ERR_SHAPE,
                  "not both");
    check_refusal(backend, EC_F64, candidate, 4, huge, 1, 1, EC_ERR_MEMORY, "address space");
    check_refusal(backend, EC_F64, candidate, 1, good, SIZE_MAX - 3, 1, EC_ERR_MEMORY,
                  "address space");
    check_refusal(backend, EC_F64, 0, 2, large, 1, 1, EC_ERR_MEMORY, "MB");
    ec_backend_destroy(&backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_dtype_sizes),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
