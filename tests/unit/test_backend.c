/* test_backend.c: statuses, logging, how backends are named and refused, and that threads change no
 * bits. What every backend computes is in tests/backends. */
#include "core/backend.h"
#include "core/detmath.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- status and log ---- */

static void test_status(void **unused)
{
    (void)unused;
    assert_string_equal(ec_status_name(EC_OK), "OK");
    assert_string_equal(ec_status_name(EC_ERR_SHAPE), "ERR_SHAPE");
    assert_string_equal(ec_status_text(EC_ERR_MEMORY), "out of memory");
    assert_non_null(ec_status_name(-12345));
    assert_non_null(ec_status_text(12345));
    assert_int_equal(ec_fail(EC_ERR_RANGE, "min %d above max %d", 3, 2), EC_ERR_RANGE);
    assert_string_equal(ec_error_text(), "min 3 above max 2");
    assert_int_equal(ec_fail(EC_ERR_RANGE, "x: %s", ec_error_text()), EC_ERR_RANGE);
    assert_string_equal(ec_error_text(), "x: min 3 above max 2");
}

typedef struct heard {
    int count;
    ec_log_level level;
    char text[2000];
} heard;

static void hear(void *user, ec_log_level level, const char *text)
{
    heard *h = (heard *)user;
    h->count++;
    h->level = level;
    snprintf(h->text, sizeof h->text, "%s", text);
}

static void test_log(void **unused)
{
    (void)unused;
    heard h = {0};
    ec_log log = {EC_LOG_INFO, hear, &h};
    char longer[1500];

    ec_log_write(&log, EC_LOG_DEBUG, "dropped");
    assert_int_equal(h.count, 0);
    ec_log_write(&log, EC_LOG_WARNING, "%s %d", "grid", 7);
    assert_int_equal(h.count, 1);
    assert_int_equal(h.level, EC_LOG_WARNING);
    assert_string_equal(h.text, "grid 7");
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    ec_log_write(&log, EC_LOG_INFO, "%s", longer);
    assert_string_equal(h.text, longer);
    ec_log_write(NULL, EC_LOG_INFO, "not heard by anyone");
}

/* ---- names ---- */

static void check_refused(const char *name, int threads, const char *isa, int want,
                          const char *words)
{
    ec_backend_info info = {name, threads, isa, NULL};
    ec_backend *backend = (ec_backend *)&info, *before = backend;

    int status = ec_backend_create(&info, &backend);
    if (status != want || !strstr(ec_error_text(), words))
        printf("%s: %s\n", name, ec_error_text());
    assert_int_equal(status, want);
    assert_non_null(strstr(ec_error_text(), words));
    assert_ptr_equal(backend, before);
}

static void test_names(void **unused)
{
    (void)unused;
    ec_backend *backend = NULL;

    check_refused("opencl", 0, NULL, EC_ERR_BACKEND, EC_BACKEND_NAMES);
    check_refused("cuda:", 0, NULL, EC_ERR_BACKEND, "unknown");
    check_refused("cuda:1x", 0, NULL, EC_ERR_BACKEND, "unknown");
    check_refused("", 0, NULL, EC_ERR_BACKEND, "unknown");
    check_refused("cuda:9999", 0, NULL, EC_ERR_BACKEND, "cuda");
    check_refused("cpu", -1, NULL, EC_ERR_ARGUMENT, "threads = -1");
    check_refused("cpu", 1000000, NULL, EC_ERR_ARGUMENT, "threads");
    check_refused("cpu", 0, "avx9", EC_ERR_ARGUMENT, "avx9");
    if (ec_backend_cuda_count() == 0)
        check_refused("cuda", 0, NULL, EC_ERR_BACKEND, "use backend 'cpu'");

    assert_int_equal(ec_backend_create(NULL, &backend), EC_OK);
    assert_true(backend->is_cuda == (ec_backend_cuda_count() > 0));
    ec_backend_destroy(&backend);
    assert_null(backend);
    ec_backend_destroy(&backend);

    ec_backend_info info = {"cpu", 3, NULL, NULL};
    assert_int_equal(ec_backend_create(&info, &backend), EC_OK);
    assert_string_equal(backend->name, "cpu");
    assert_true(strlen(backend->device) > 0);
    assert_true(backend->host_memory && !backend->is_cuda);
#ifdef _OPENMP
    assert_int_equal(backend->threads, 3);
#else
    assert_int_equal(backend->threads, 1);
#endif
    ec_backend_destroy(&backend);
}

/* ECITON_ISA, and the stronger info->isa. */
static void test_isa(void **unused)
{
    (void)unused;
    int best = ec_isa_detect();
    ec_backend_info info = {"cpu", 1, NULL, NULL};
    ec_backend *backend = NULL;

    assert_true(best >= EC_ISA_V1 && best < EC_ISA_COUNT);
    assert_int_equal(setenv("ECITON_ISA", ec_isa_name(0), 1), 0);
    assert_int_equal(ec_backend_create(&info, &backend), EC_OK);
    assert_int_equal(backend->isa, EC_ISA_V1);
    ec_backend_destroy(&backend);
    info.isa = ec_isa_name(best);
    assert_int_equal(ec_backend_create(&info, &backend), EC_OK);
    assert_int_equal(backend->isa, best);
    ec_backend_destroy(&backend);
    setenv("ECITON_ISA", "v9", 1);
    check_refused("cpu", 1, NULL, EC_ERR_ARGUMENT, "'v9'");
    if (best < EC_ISA_V4 && strcmp(ec_isa_name(EC_ISA_V4), "v4") == 0)
        check_refused("cpu", 1, "v4", EC_ERR_BACKEND, "'v4'");
    unsetenv("ECITON_ISA");
    assert_string_equal(ec_isa_name(-1), "unknown");
}

/* ---- threads ---- */

typedef struct wave_args {
    size_t ld;
    double *out;
} wave_args;

static void wave(const void *args, size_t lane0, size_t y)
{
    const wave_args *a = (const wave_args *)args;
    for (int l = 0; l < EC_LANES; l++) {
        size_t lane = lane0 + (size_t)l;
        a->out[y * a->ld + lane] = ec_det_sin((double)lane * 0.37 + (double)y);
    }
}

static const ec_kernel wave_kernel = {"wave", sizeof(wave_args), 0, {wave, wave, wave}, NULL};
static const ec_kernel no_kernel = {"nothing", 0, 0, {NULL, NULL, NULL}, NULL};

static void test_threads_same_bits(void **unused)
{
    (void)unused;
    enum { LANES = 777, NY = 13 };
    static const int threads[] = {1, 2, 3, 7, 16};
    size_t ld = ec_lane_ld(LANES), bytes = ld * NY * sizeof(double);
    double *first = (double *)malloc(bytes);

    assert_non_null(first);
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        ec_backend_info info = {"cpu", threads[k], NULL, NULL};
        ec_backend *backend = NULL;
        void *memory = NULL;
        assert_int_equal(ec_backend_create(&info, &backend), EC_OK);
        assert_int_equal(backend->ops->alloc(backend, bytes, &memory), EC_OK);
        wave_args args = {ld, (double *)memory};
        assert_int_equal(backend->ops->fill(backend, memory, 0xff, bytes), EC_OK);
        assert_int_equal(backend->ops->launch(backend, &wave_kernel, &args, LANES, NY), EC_OK);
        if (k == 0)
            memcpy(first, memory, bytes);
        assert_memory_equal(first, memory, bytes);
        backend->ops->release(backend, memory);
        ec_backend_destroy(&backend);
    }
    assert_true(first[12 * ld + 776] == ec_det_sin(776 * 0.37 + 12));
    free(first);
}

/* Transforms of 45 points in float32 do not fill FFTW's alignment; threads take turns with them. */
static void test_fft_threads_same_bits(void **unused)
{
    (void)unused;
    enum { N = 45, BATCH = 19 };
    ec_c64 in[N * BATCH], first[N * BATCH], out[N * BATCH];

    for (int i = 0; i < N * BATCH; i++) {
        in[i].re = (float)sin(0.7 * i);
        in[i].im = (float)cos(1.1 * i);
    }
    for (int threads = 1; threads <= 5; threads += 2) {
        ec_backend_info info = {"cpu", threads, NULL, NULL};
        ec_fft_info fft_info = {1, {N, 1}, BATCH, false, -1};
        ec_backend *backend = NULL;
        ec_fft *fft = NULL;
        void *memory = NULL;
        assert_int_equal(ec_backend_create(&info, &backend), EC_OK);
        assert_int_equal(backend->ops->fft_create(backend, &fft_info, &fft), EC_OK);
        assert_int_equal(backend->ops->alloc(backend, sizeof in, &memory), EC_OK);
        memcpy(memory, in, sizeof in);
        assert_int_equal(backend->ops->fft_run(backend, fft, memory, memory), EC_OK);
        memcpy(out, memory, sizeof out);
        if (threads == 1)
            memcpy(first, out, sizeof out);
        assert_memory_equal(first, out, sizeof out);
        backend->ops->release(backend, memory);
        backend->ops->fft_destroy(backend, &fft);
        ec_backend_destroy(&backend);
    }
}

static void test_bad_kernel(void **unused)
{
    (void)unused;
    ec_backend_info info = {"cpu", 1, NULL, NULL};
    ec_backend *backend = NULL;

    assert_int_equal(ec_backend_create(&info, &backend), EC_OK);
    assert_int_equal(backend->ops->launch(backend, &no_kernel, NULL, 32, 1), EC_ERR_INTERNAL);
    assert_non_null(strstr(ec_error_text(), "nothing"));
    assert_null(backend->ops->capture_begin);
    assert_null(backend->ops->replay);
    ec_backend_destroy(&backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_isa),
        cmocka_unit_test(test_threads_same_bits),
        cmocka_unit_test(test_fft_threads_same_bits),
        cmocka_unit_test(test_bad_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
