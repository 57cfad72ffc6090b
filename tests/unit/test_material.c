/* test_material.c: materials of scenes. The figures expected were computed apart from the code, from
 * eps_r = a f^b and sigma = c f^d / (2 pi f eps0) of ITU-R P.2040-3, table 3, with 30 digits. */
#include "material.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../core/status.h"

#include <cmocka.h>

static void same(const char *name, double ghz, double re, double im)
{
    ec_material m;
    ec_c128 eps = {0, 0};

    if (ec_material_by_name(name, &m) != EC_OK || ec_material_permittivity(&m, ghz * 1e9, &eps))
        fail_msg("%s: %s", name, ec_error_text());
    if (!(fabs(eps.re - re) < 1e-9 * fabs(re) && fabs(eps.im - im) <= 1e-9 * fabs(im)))
        fail_msg("%s at %g GHz: %.12g %+.12gj, expected %.12g %+.12gj", name, ghz, eps.re, eps.im,
                 re, im);
}

static void test_table(void **state)
{
    (void)state;
    same("vacuum", 5, 1, 0);
    same("itu_concrete", 3.5, 5.24, -0.6321430350611);
    same("brick", 28, 3.91, -0.02603967817571);
    same("plasterboard", 60, 2.73, -0.1192647705046);
    same("wood", 0.9, 1.99, -0.08384629405549);
    same("glass", 2.4, 6.31, -0.08709988828138);
    same("glass", 300, 5.79, -0.3066741559766);
    same("ceiling_board", 5.8, 1.48, -0.0225590697188);
    same("ceiling_board", 300, 1.52, -0.06150436174911);
    same("chipboard", 10, 2.58, -0.2350342401691);
    same("plywood", 3.5, 2.71, -1.694795480826);
    same("marble", 26, 7.074, -0.07773364956982);
    same("floorboard", 60, 3.66, -0.3335371724739);
    same("metal", 3.5, 1, -51357438.81292);
    same("very_dry_ground", 8, 3, -0.06360034054147);
    same("medium_dry_ground", 3.5, 13.23379657729, -1.38516756648);
    same("wet_ground", 3.5, 18.17582099864, -3.926296330345);
}

static void test_names(void **state)
{
    static const char *const same_class[] = {"itu_ceiling_board", "ceiling_board", "Ceiling-Board",
                                             "ITU_ceiling board"};
    ec_material m, first;
    (void)state;

    assert_int_equal(ec_material_by_name(same_class[0], &first), EC_OK);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(ec_material_by_name(same_class[i], &m), EC_OK);
        assert_int_equal(m.itu, first.itu);
        assert_string_equal(m.name, same_class[i]);
    }
    int classes = 0;
    while (ec_material_itu_name(classes))
        classes++;
    assert_int_equal(classes, 15);
    assert_int_equal(ec_material_by_name("PEC", &m), EC_OK);
    assert_int_equal(m.kind, EC_MATERIAL_PEC);
    assert_int_equal(ec_material_by_name("cheese", &m), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "unknown material 'cheese'"));
    assert_non_null(strstr(ec_error_text(), "itu_wet_ground"));
}

static void test_constant(void **state)
{
    ec_material m;
    ec_c128 eps;
    (void)state;

    assert_int_equal(ec_material_constant("board", 3.38, 0.01, 0.0027, 0.002, &m), EC_OK);
    assert_int_equal(ec_material_permittivity(&m, 2e9, &eps), EC_OK);
    assert_true(eps.re == 3.38);
    /* 3.38 * 0.0027 + 0.01 / (2 pi 2e9 8.8541878128e-12) */
    assert_true(fabs(eps.im + 0.09900151792) < 1e-10);
    assert_int_equal(ec_material_constant("x", 0.5, 0, 0, 0, &m), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "eps_r is 0.5; it must be at least 1"));
    assert_int_equal(ec_material_constant("x", 2, -1, 0, 0, &m), EC_ERR_ARGUMENT);
    assert_int_equal(ec_material_constant("x", 2, 0, NAN, 0, &m), EC_ERR_ARGUMENT);
    assert_int_equal(ec_material_constant("x", 2, 0, 0, -1, &m), EC_ERR_ARGUMENT);
    ec_material_pec("wall", &m);
    eps.re = 7;
    assert_int_equal(ec_material_permittivity(&m, 2e9, &eps), EC_ERR_UNSUPPORTED);
    assert_true(eps.re == 7);
}

static void test_ranges(void **state)
{
    ec_material m;
    ec_c128 eps;
    (void)state;

    assert_int_equal(ec_material_by_name("concrete", &m), EC_OK);
    assert_int_equal(ec_material_check(&m, 1e9), EC_OK);
    assert_int_equal(ec_material_check(&m, 100e9), EC_OK);
    assert_int_equal(ec_material_check(&m, 0.868e9), 1); /* carried on */
    assert_non_null(strstr(ec_error_text(), "from 1 to 100 GHz, not for 0.868 GHz"));
    assert_int_equal(ec_material_permittivity(&m, 0.868e9, &eps), EC_OK);
    assert_int_equal(ec_material_check(&m, 0.4e9), EC_ERR_RANGE);
    assert_int_equal(ec_material_permittivity(&m, 0.4e9, &eps), EC_ERR_RANGE);
    assert_int_equal(ec_material_check(&m, 0), EC_ERR_RANGE);
    assert_int_equal(ec_material_check(&m, NAN), EC_ERR_RANGE);
    /* between two rows: the nearer one */
    assert_int_equal(ec_material_by_name("glass", &m), EC_OK);
    assert_int_equal(ec_material_check(&m, 200e9), 1);
    assert_non_null(strstr(ec_error_text(), "from 220 to 450 GHz"));
    assert_int_equal(ec_material_check(&m, 120e9), 1);
    assert_non_null(strstr(ec_error_text(), "from 0.1 to 100 GHz"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
