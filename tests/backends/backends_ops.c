/* backends_ops.c: what every backend promises: copies, fills, launches, recorded sequences, FFT. */
#include "backends.h"
#include "backends_math_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EC_KERNEL_DECLARE(test_count, ec_test_count_args)
EC_KERNEL_DECLARE_FLAGS(test_serial, ec_test_count_args, EC_KERNEL_SERIAL)

/* Sizes around the staging pieces of a device, and an odd one. */
static int run_copies(ec_backend *backend)
{
    static const size_t sizes[] = {0, 1, 255, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5000011};
    enum { LARGEST = 5000011 };
    unsigned char *out = (unsigned char *)malloc(LARGEST), *in = (unsigned char *)malloc(LARGEST);

    EC_CHECK(out && in, "out of memory");
    for (size_t i = 0; i < LARGEST; i++)
        out[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        ec_guarded a, b;
        EC_CHECK_CALL(ec_guarded_create(backend, sizes[k], &a));
        EC_CHECK_CALL(ec_guarded_create(backend, sizes[k], &b));
        EC_CHECK((uintptr_t)a.base % 256 == 0, "alignment");
        EC_CHECK_CALL(backend->ops->upload(backend, a.data, out, sizes[k]));
        EC_CHECK_CALL(backend->ops->copy(backend, b.data, a.data, sizes[k]));
        memset(in, 0, LARGEST);
        EC_CHECK_CALL(backend->ops->download(backend, in, b.data, sizes[k]));
        EC_CHECK(memcmp(in, out, sizes[k]) == 0, "%zu bytes differ", sizes[k]);
        EC_CHECK_CALL(backend->ops->fill(backend, b.data, 7, sizes[k]));
        EC_CHECK_CALL(backend->ops->download(backend, in, b.data, sizes[k]));
        for (size_t i = 0; i < sizes[k]; i++)
            EC_CHECK(in[i] == 7, "fill, byte %zu", i);
        EC_CHECK(ec_guarded_check(backend, &a, "a") == 0, "guard words");
        EC_CHECK(ec_guarded_check(backend, &b, "b") == 0, "guard words");
        ec_guarded_release(backend, &a);
        ec_guarded_release(backend, &b);
    }
    free(out);
    free(in);
    backend->ops->release(backend, NULL);
    return 0;
}

static int run_copy_2d(ec_backend *backend)
{
    enum { ROWS = 17, FROM = 96, TO = 160, WIDTH = 68 };
    unsigned char from[ROWS * FROM], to[ROWS * TO];
    ec_guarded a, b;

    for (int i = 0; i < ROWS * FROM; i++)
        from[i] = (unsigned char)(i * 37 + 1);
    EC_CHECK_CALL(ec_guarded_create(backend, sizeof from, &a));
    EC_CHECK_CALL(ec_guarded_create(backend, sizeof to, &b));
    EC_CHECK_CALL(backend->ops->upload(backend, a.data, from, sizeof from));
    EC_CHECK_CALL(backend->ops->fill(backend, b.data, 0, sizeof to));
    EC_CHECK_CALL(backend->ops->copy_2d(backend, b.data, TO, a.data, FROM, WIDTH, ROWS));
    EC_CHECK_CALL(backend->ops->copy_2d(backend, b.data, TO, a.data, FROM, 0, ROWS));
    EC_CHECK_CALL(backend->ops->download(backend, to, b.data, sizeof to));
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < TO; i++)
            EC_CHECK(to[row * TO + i] == (i < WIDTH ? from[row * FROM + i] : 0), "row %d, byte %d",
                     row, i);
    EC_CHECK(ec_guarded_check(backend, &b, "b") == 0, "guard words");
    ec_guarded_release(backend, &a);
    ec_guarded_release(backend, &b);
    return 0;
}

/* Every cell of the grid is visited once, whatever its size. */
static int run_launches(ec_backend *backend)
{
    static const size_t grids[][2] = {{1, 1},  {32, 1},    {33, 3},     {1000, 1},
                                      {96, 7}, {5, 70001}, {100000, 3}, {0, 4}};

    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        size_t lanes = grids[k][0], ny = grids[k][1], ld = ec_lane_ld(lanes);
        ec_guarded memory;
        EC_CHECK_CALL(ec_guarded_create(backend, ld * ny * sizeof(int32_t), &memory));
        EC_CHECK_CALL(backend->ops->fill(backend, memory.data, 0, memory.bytes));
        ec_test_count_args args = {ld, (int32_t *)memory.data};
        EC_CHECK_CALL(backend->ops->launch(backend, &ec_kernel_test_count, &args, lanes, ny));
        int32_t *cells = (int32_t *)malloc(memory.bytes + 1);
        EC_CHECK(cells, "out of memory");
        EC_CHECK_CALL(backend->ops->download(backend, cells, memory.data, memory.bytes));
        for (size_t y = 0; y < ny; y++)
            for (size_t c = 0; c < lanes; c++)
                EC_CHECK(cells[y * ld + c] == 1, "%zu x %zu: cell (%zu, %zu) has %d", lanes, ny, c,
                         y, (int)cells[y * ld + c]);
        free(cells);
        EC_CHECK(ec_guarded_check(backend, &memory, "cells") == 0, "guard words");
        ec_guarded_release(backend, &memory);
    }
    return 0;
}

static int run_serial(ec_backend *backend)
{
    int32_t count = 0;
    ec_guarded memory;

    EC_CHECK_CALL(ec_guarded_create(backend, sizeof count, &memory));
    EC_CHECK_CALL(backend->ops->upload(backend, memory.data, &count, sizeof count));
    ec_test_count_args args = {1, (int32_t *)memory.data};
    EC_CHECK_CALL(backend->ops->launch(backend, &ec_kernel_test_serial, &args, 5000, 3));
    EC_CHECK_CALL(backend->ops->download(backend, &count, memory.data, sizeof count));
    EC_CHECK(count == 1, "called %d times, or not at the first lane", (int)count);
    ec_guarded_release(backend, &memory);
    return 0;
}

/* A recorded sequence does nothing when it is recorded and everything when it is replayed. */
static int run_capture(ec_backend *backend)
{
    enum { LANES = 64 };
    int32_t cells[LANES];
    ec_capture *capture = NULL;
    ec_guarded memory;

    EC_CHECK((backend->ops->capture_begin == NULL) == (backend->ops->replay == NULL), "half a set");
    if (!backend->ops->capture_begin)
        return 0;
    EC_CHECK_CALL(ec_guarded_create(backend, sizeof cells, &memory));
    EC_CHECK_CALL(backend->ops->fill(backend, memory.data, 0, sizeof cells));
    ec_test_count_args args = {LANES, (int32_t *)memory.data};
    EC_CHECK_CALL(backend->ops->capture_begin(backend));
    EC_CHECK(backend->ops->upload(backend, memory.data, cells, sizeof cells) == EC_ERR_UNSUPPORTED,
             "an upload cannot be recorded");
    for (int i = 0; i < 3; i++)
        EC_CHECK_CALL(backend->ops->launch(backend, &ec_kernel_test_count, &args, LANES, 1));
    EC_CHECK_CALL(backend->ops->capture_end(backend, &capture));
    EC_CHECK_CALL(backend->ops->download(backend, cells, memory.data, sizeof cells));
    EC_CHECK(cells[5] == 0, "ran while it was recorded");
    EC_CHECK_CALL(backend->ops->replay(backend, capture));
    EC_CHECK_CALL(backend->ops->replay(backend, capture));
    EC_CHECK_CALL(backend->ops->download(backend, cells, memory.data, sizeof cells));
    for (int i = 0; i < LANES; i++)
        EC_CHECK(cells[i] == 6, "cell %d has %d", i, (int)cells[i]);
    backend->ops->capture_destroy(backend, &capture);
    EC_CHECK(capture == NULL, "destroy clears the handle");
    EC_CHECK(ec_guarded_check(backend, &memory, "cells") == 0, "guard words");
    ec_guarded_release(backend, &memory);
    return 0;
}

static int run_memory(ec_backend *backend)
{
    size_t available = 0, total = 0;
    void *memory = &available;

    EC_CHECK_CALL(backend->ops->memory(backend, &available, &total));
    EC_CHECK(available > 0 && available <= total, "%zu of %zu bytes", available, total);
    EC_CHECK(backend->ops->alloc(backend, (size_t)1 << 46, &memory) == EC_ERR_MEMORY,
             "64 TB were granted");
    EC_CHECK(memory == &available, "a failed allocation changed the pointer");
    return 0;
}

/* ---- FFT against the direct sum ---- */

static void direct_dft(const ec_fft_info *info, const ec_c128 *in, ec_c128 *out)
{
    size_t n0 = info->size[0], n1 = info->rank == 2 ? info->size[1] : 1;
    const long double two_pi = 6.28318530717958647692528676655900577L;

    for (size_t k0 = 0; k0 < n0; k0++) {
        for (size_t k1 = 0; k1 < n1; k1++) {
            long double re = 0, im = 0;
            for (size_t j0 = 0; j0 < n0; j0++) {
                for (size_t j1 = 0; j1 < n1; j1++) {
                    long double turns =
                        (long double)(j0 * k0 % n0) / n0 + (long double)(j1 * k1 % n1) / n1;
                    long double c = cosl(two_pi * turns), s = info->sign * sinl(two_pi * turns);
                    ec_c128 v = in[j0 * n1 + j1];
                    re += v.re * c - v.im * s;
                    im += v.re * s + v.im * c;
                }
            }
            out[k0 * n1 + k1].re = (double)re;
            out[k0 * n1 + k1].im = (double)im;
        }
    }
}

static void narrow(const double *from, float *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

static int check_fft(ec_backend *backend, const ec_fft_info *info)
{
    size_t points = info->size[0] * (info->rank == 2 ? info->size[1] : 1);
    size_t numbers = 2 * points * info->batch;
    size_t bytes = numbers * (info->double_precision ? sizeof(double) : sizeof(float));
    double *in = (double *)malloc(numbers * sizeof *in);
    double *want = (double *)malloc(numbers * sizeof *want);
    float *in_f32 = (float *)malloc(numbers * sizeof *in_f32);
    float *want_f32 = (float *)malloc(numbers * sizeof *want_f32);
    void *got = malloc(bytes), *got_again = malloc(bytes);
    ec_fft *fft = NULL;
    ec_guarded a, b;

    EC_CHECK(in && want && in_f32 && want_f32 && got && got_again, "out of memory");
    for (size_t i = 0; i < numbers; i++) {
        /* the last transform of a batch repeats the first: its place must not change the bits */
        size_t j = i % (2 * points) + (i / (2 * points) == info->batch - 1 ? 0 : i / (2 * points));
        in[i] = (double)(float)sin(1.7 * (double)(j * j % 1009) + 0.3);
    }
    for (size_t t = 0; t < info->batch; t++)
        direct_dft(info, (const ec_c128 *)in + t * points, (ec_c128 *)want + t * points);
    narrow(in, in_f32, numbers);
    narrow(want, want_f32, numbers);
    EC_CHECK_CALL(ec_guarded_create(backend, bytes, &a));
    EC_CHECK_CALL(ec_guarded_create(backend, bytes, &b));
    EC_CHECK_CALL(backend->ops->fft_create(backend, info, &fft));
    const void *host = info->double_precision ? (const void *)in : (const void *)in_f32;
    EC_CHECK_CALL(backend->ops->upload(backend, a.data, host, bytes));

    /* 1e-15 sqrt(log n) and the like for float32: far above what FFTs lose, far below a bug */
    EC_CHECK_CALL(backend->ops->fft_run(backend, fft, b.data, a.data));
    EC_CHECK_CALL(backend->ops->download(backend, got, b.data, bytes));
    int wrong = info->double_precision
                    ? ec_compare_f64("fft", (double *)got, want, numbers, 2e-15)
                    : ec_compare_f32("fft", (float *)got, want_f32, numbers, 1e-6);
    EC_CHECK(wrong == 0, "%zu x %zu, batch %zu, sign %d", info->size[0], info->size[1], info->batch,
             info->sign);
    size_t one = bytes / info->batch;
    EC_CHECK(memcmp(got, (char *)got + (info->batch - 1) * one, one) == 0,
             "the place in the batch changes the bits");
    EC_CHECK_CALL(backend->ops->download(backend, got_again, a.data, bytes));
    EC_CHECK(memcmp(got_again, host, bytes) == 0, "the input was changed");

    EC_CHECK_CALL(backend->ops->fft_run(backend, fft, a.data, a.data));
    EC_CHECK_CALL(backend->ops->download(backend, got, a.data, bytes));
    wrong = info->double_precision
                ? ec_compare_f64("fft in place", (double *)got, want, numbers, 2e-15)
                : ec_compare_f32("fft in place", (float *)got, want_f32, numbers, 1e-6);
    EC_CHECK(wrong == 0, "%zu x %zu, batch %zu, sign %d", info->size[0], info->size[1], info->batch,
             info->sign);
    EC_CHECK(ec_guarded_check(backend, &a, "a") == 0, "guard words");
    EC_CHECK(ec_guarded_check(backend, &b, "b") == 0, "guard words");
    backend->ops->fft_destroy(backend, &fft);
    EC_CHECK(fft == NULL, "destroy clears the handle");
    ec_guarded_release(backend, &a);
    ec_guarded_release(backend, &b);
    free(in);
    free(want);
    free(in_f32);
    free(want_f32);
    free(got);
    free(got_again);
    return 0;
}

static int run_fft(ec_backend *backend)
{
    static const size_t shapes[][4] = {/* rank, n0, n1, batch */
                                       {1, 1, 1, 3},   {1, 16, 1, 5},  {1, 45, 1, 7},
                                       {1, 101, 1, 2}, {1, 256, 1, 3}, {2, 8, 12, 4},
                                       {2, 15, 9, 5},  {2, 32, 32, 2}};

    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        for (int variant = 0; variant < 4; variant++) {
            ec_fft_info info = {(int)shapes[k][0],
                                {shapes[k][1], shapes[k][2]},
                                shapes[k][3],
                                variant & 1,
                                variant & 2 ? 1 : -1};
            if (check_fft(backend, &info))
                return 1;
        }
    }
    ec_fft *fft = NULL;
    ec_fft_info bad = {3, {4, 4}, 1, true, -1};
    EC_CHECK(backend->ops->fft_create(backend, &bad, &fft) == EC_ERR_ARGUMENT, "rank 3");
    bad.rank = 1;
    bad.sign = 0;
    EC_CHECK(backend->ops->fft_create(backend, &bad, &fft) == EC_ERR_ARGUMENT, "sign 0");
    bad.sign = 1;
    bad.size[0] = 0;
    EC_CHECK(backend->ops->fft_create(backend, &bad, &fft) == EC_ERR_ARGUMENT, "no points");
    bad.size[0] = 4;
    bad.batch = 0;
    EC_CHECK(backend->ops->fft_create(backend, &bad, &fft) == EC_ERR_ARGUMENT, "no batch");
    EC_CHECK(fft == NULL, "a failed create changed the handle");
    return 0;
}

const ec_case ec_cases_ops[] = {
    {"ops/copies", run_copies},     {"ops/copy_2d", run_copy_2d},
    {"ops/launches", run_launches}, {"ops/serial", run_serial},
    {"ops/capture", run_capture},   {"ops/memory", run_memory},
    {"ops/fft", run_fft},           {NULL, NULL},
};
