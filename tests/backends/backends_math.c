/* backends_math.c: the same bits from detmath.h and random.h on every backend, and the error of
 * fastmath.h on each. */
#include "backends.h"
#include "backends_math_kernels.h"

#include <stdio.h>
#include <stdlib.h>

EC_KERNEL_DECLARE(test_detmath, ec_test_detmath_args)
EC_KERNEL_DECLARE(test_philox, ec_test_philox_args)
EC_KERNEL_DECLARE(test_turns, ec_test_turns_args)

/* The value that every CPU level and every GPU must give. It changes only when a function of
 * detmath.h or random.h does, and with it the results of every seed. */
static const uint64_t detmath_hash = 0xe9134c078225e7faULL;

static int run_detmath_hash(ec_backend *backend)
{
    enum { LANES = 100000, ROUNDS = 100 };
    ec_guarded memory;
    uint64_t total = 0xcbf29ce484222325u;

    EC_CHECK_CALL(ec_guarded_create(backend, ec_lane_ld(LANES) * sizeof(uint64_t), &memory));
    ec_test_detmath_args args = {ec_random_make(20240601, 3, 5, 7), ROUNDS,
                                 (uint64_t *)memory.data};
    EC_CHECK_CALL(backend->ops->launch(backend, &ec_kernel_test_detmath, &args, LANES, 1));
    uint64_t *hash = (uint64_t *)malloc(LANES * sizeof *hash);
    EC_CHECK(hash, "out of memory");
    EC_CHECK_CALL(backend->ops->download(backend, hash, memory.data, LANES * sizeof *hash));
    for (size_t i = 0; i < LANES; i++)
        total = (total ^ hash[i]) * 0x100000001b3u;
    free(hash);
    int guards = ec_guarded_check(backend, &memory, "hash");
    ec_guarded_release(backend, &memory);
    EC_CHECK(total == detmath_hash, "0x%016llx, expected 0x%016llx", (unsigned long long)total,
             (unsigned long long)detmath_hash);
    return guards;
}

static int run_philox(ec_backend *backend)
{
    enum { LANES = 1000, BLOCKS = 50 };
    size_t ld = ec_lane_ld(LANES), count = 4 * BLOCKS * ld;
    ec_guarded memory;

    EC_CHECK_CALL(ec_guarded_create(backend, count * sizeof(uint32_t), &memory));
    ec_test_philox_args args = {ec_random_make(0x123456789abcdefu, 17, 3, 2), ld,
                                (uint32_t *)memory.data};
    EC_CHECK_CALL(backend->ops->launch(backend, &ec_kernel_test_philox, &args, LANES, BLOCKS));
    uint32_t *words = (uint32_t *)malloc(count * sizeof *words);
    EC_CHECK(words, "out of memory");
    EC_CHECK_CALL(backend->ops->download(backend, words, memory.data, count * sizeof *words));
    for (uint32_t block = 0; block < BLOCKS; block++) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t counter[4] = {block, lane, 17, 3 | 2u << 16}, want[4];
            uint32_t key[2] = {0x89abcdefu, 0x01234567u};
            ec_philox4x32(counter, key, want);
            for (uint32_t w = 0; w < 4; w++)
                EC_CHECK(words[(4 * block + w) * ld + lane] == want[w],
                         "block %u, candidate %u, word %u", block, lane, w);
        }
    }
    free(words);
    int guards = ec_guarded_check(backend, &memory, "words");
    ec_guarded_release(backend, &memory);
    return guards;
}

/* The limits that fastmath.h states; the reference is long double. */
static int run_turns(ec_backend *backend)
{
    enum { LANES = 1000, NY = 1000 };
    const long double two_pi = 6.28318530717958647692528676655900577L;
    size_t ld = ec_lane_ld(LANES), count = 2 * NY * ld;
    double worst_f64 = 0, worst_f32 = 0;
    ec_guarded m64, m32;

    EC_CHECK_CALL(ec_guarded_create(backend, count * sizeof(double), &m64));
    EC_CHECK_CALL(ec_guarded_create(backend, count * sizeof(float), &m32));
    ec_test_turns_args args = {LANES, ld, NY, (double *)m64.data, (float *)m32.data};
    EC_CHECK_CALL(backend->ops->launch(backend, &ec_kernel_test_turns, &args, LANES, NY));
    double *f64 = (double *)malloc(count * sizeof *f64);
    float *f32 = (float *)malloc(count * sizeof *f32);
    EC_CHECK(f64 && f32, "out of memory");
    EC_CHECK_CALL(backend->ops->download(backend, f64, m64.data, count * sizeof *f64));
    EC_CHECK_CALL(backend->ops->download(backend, f32, m32.data, count * sizeof *f32));
    for (size_t y = 0; y < NY; y++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            size_t at = 2 * y * ld + lane;
            double t = ec_test_turn(&args, lane, y);
            long double a64 = two_pi * t, a32 = two_pi * (float)t;
            worst_f64 = fmax(worst_f64, (double)fabsl(f64[at] - sinl(a64)));
            worst_f64 = fmax(worst_f64, (double)fabsl(f64[at + ld] - cosl(a64)));
            worst_f32 = fmax(worst_f32, (double)fabsl(f32[at] - sinl(a32)));
            worst_f32 = fmax(worst_f32, (double)fabsl(f32[at + ld] - cosl(a32)));
        }
    }
    free(f64);
    free(f32);
    int guards = ec_guarded_check(backend, &m64, "f64") | ec_guarded_check(backend, &m32, "f32");
    ec_guarded_release(backend, &m64);
    ec_guarded_release(backend, &m32);
    EC_CHECK(worst_f64 < 4e-16, "float64 error %g", worst_f64);
    EC_CHECK(worst_f32 < 2.5e-7, "float32 error %g", worst_f32);
    return guards;
}

const ec_case ec_cases_math[] = {
    {"math/detmath_hash", run_detmath_hash},
    {"math/philox", run_philox},
    {"math/turns", run_turns},
    {NULL, NULL},
};
