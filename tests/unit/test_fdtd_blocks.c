/* Distinct blocks of coefficients: what they give back, and when there are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evaluators/fdtd/fdtd_blocks_internal.h"

enum { ELEMENTS = 64 * EC_FDTD_LANES };

/* Number e of the six components has one of `kinds` values, in lanes that differ. */
static void fill(float *reals, int kinds)
{
    for (int c = 0; c < 6; c++)
        for (int e = 0; e < ELEMENTS; e++)
            reals[c * ELEMENTS + e] =
                (float)(1000 * (e / EC_FDTD_LANES * 7 % kinds) + 10 * (e % EC_FDTD_LANES) + c);
}

static void gives_back(void **state)
{
    (void)state;
    float *reals = malloc(6 * ELEMENTS * sizeof *reals);
    ec_fdtd_blocks blocks = {0};

    assert_non_null(reals);
    fill(reals, 5);
    reals[3 * ELEMENTS + 11] = -0.f; /* one bit, of b alone */
    const float *a = reals, *b = reals + 3 * ELEMENTS;
    assert_int_equal(ec_fdtd_blocks_find(a, b, ELEMENTS, sizeof *a, &blocks), EC_OK);
    assert_non_null(blocks.index);
    assert_int_equal(blocks.count, 6);
    for (int e = 0; e < ELEMENTS; e++)
        for (int c = 0; c < 6; c++) {
            const float *block = (float *)blocks.block +
                                 EC_FDTD_BLOCK * blocks.index[e / EC_FDTD_LANES] +
                                 c * EC_FDTD_LANES + e % EC_FDTD_LANES;
            assert_memory_equal(block, reals + c * ELEMENTS + e, sizeof *block);
        }
    ec_fdtd_blocks_release(&blocks);
    assert_null(blocks.index);
    free(reals);
}

static void too_many(void **state)
{
    (void)state;
    float *reals = malloc(6 * ELEMENTS * sizeof *reals);
    ec_fdtd_blocks blocks = {0};

    assert_non_null(reals);
    fill(reals, 16);
    assert_int_equal(
        ec_fdtd_blocks_find(reals, reals + 3 * ELEMENTS, ELEMENTS, sizeof *reals, &blocks), EC_OK);
    assert_int_equal(blocks.count, 16); /* a quarter of all */
    fill(reals, 17);
    assert_int_equal(
        ec_fdtd_blocks_find(reals, reals + 3 * ELEMENTS, ELEMENTS, sizeof *reals, &blocks), EC_OK);
    assert_null(blocks.index);
    assert_null(blocks.block);
    /* Fewer than a block's share: nothing to gain. */
    assert_int_equal(ec_fdtd_blocks_find(reals, reals, EC_FDTD_LANES, sizeof *reals, &blocks),
                     EC_OK);
    assert_null(blocks.index);
    free(reals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gives_back), cmocka_unit_test(too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
