/* test_far_field.c: files of far fields, good and bad, written and read back. */
#include "core/element_pattern.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define DEGREE (EC_PI / 180)

static int parse(const char *name, const char *text, ec_far_field **field)
{
    return ec_far_field_parse(name, text, strlen(text), NULL, field);
}

static ec_far_field *parsed(const char *name, const char *text)
{
    ec_far_field *field = NULL;

    if (parse(name, text, &field) != EC_OK)
        fail_msg("%s: %s", name, ec_error_text());
    assert_non_null(field);
    return field;
}

static void refused(const char *name, const char *text, const char *sentence)
{
    ec_far_field *field = NULL;

    if (parse(name, text, &field) != EC_ERR_FORMAT)
        fail_msg("%s was read", name);
    assert_null(field);
    if (strncmp(ec_error_text(), name, strlen(name)) != 0 || !strstr(ec_error_text(), sentence))
        fail_msg("'%s' is not in '%s'", sentence, ec_error_text());
}

static ec_c128 theta_part(const ec_far_field *f, int32_t i, int32_t k)
{
    return f->e_theta[(size_t)i * (size_t)f->n_phi + (size_t)k];
}

static ec_c128 phi_part(const ec_far_field *f, int32_t i, int32_t k)
{
    return f->e_phi[(size_t)i * (size_t)f->n_phi + (size_t)k];
}

static void same(ec_c128 a, double re, double im)
{
    if (!(fabs(a.re - re) < 1e-14 && fabs(a.im - im) < 1e-14))
        fail_msg("(%.17g, %.17g) is not (%.17g, %.17g)", a.re, a.im, re, im);
}

/* ---- good files ------------------------------------------------------------------------------ */

static const char ffd_text[] = "0 180 3\n"
                               "0,360,2\n"
                               "1 2 3 4\n5 6 7 8\n"
                               "9 10 11 12\n-1 -2 -3 -4\n"
                               "0.5 0 0 0\n1e-3 1D-3 1.5E+02 1.5-101\n";

static void test_ffd(void **state)
{
    ec_far_field *f = parsed("a.ffd", ffd_text);
    (void)state;

    assert_int_equal(f->n_theta, 3);
    assert_int_equal(f->n_phi, 2);
    assert_true(f->frequency == 0);
    assert_true(fabs(f->theta[1] - EC_PI / 2) < 1e-15 && fabs(f->phi[1] - 2 * EC_PI) < 1e-15);
    same(theta_part(f, 0, 1), 5, 6);
    same(phi_part(f, 1, 0), 11, 12);
    same(phi_part(f, 1, 1), -3, -4);
    same(theta_part(f, 2, 1), 1e-3, 1e-3);
    assert_true(phi_part(f, 2, 1).im == 1.5e-101);
    ec_far_field_destroy(&f);
    assert_null(f);
}

/* The same text with the line ends of other systems, blank lines, a mark of UTF-8. */
static void test_line_ends(void **state)
{
    static const char *const ends[] = {"\r\n", "\r", "\n\n", "  \t\n"};
    (void)state;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[1000];
        int n = sprintf(text, "%s", i == 0 ? "\xef\xbb\xbf" : "");
        for (const char *p = ffd_text; *p; p++)
            n += *p == '\n' ? sprintf(text + n, "%s", ends[i]) : sprintf(text + n, "%c", *p);
        ec_far_field *f = parsed("a.ffd", text);
        same(phi_part(f, 1, 1), -3, -4);
        ec_far_field_destroy(&f);
    }
    refused("a.ffd", "0 180 3\r\n0 360 2\r\n1 2 3\r\n", "line 3: the line ends");
    refused("a.ffd", "0 180 3\r0 360 2\r1 2 3\r", "line 3: the line ends");
}

static void test_ffd_frequencies(void **state)
{
    static const char text[] = "0 90 2\n0 0 1\nFrequencies 3\n"
                               "Frequency 1e9\n1 0 0 0\n1 0 0 2\n"
                               "Frequency 2e9\n2 0 0 0\n3 4 0 4\n"
                               "Frequency 4e9\n4 0 0 0\n5 4 0 6\n";
    ec_far_field_info info;
    ec_far_field *f = NULL;
    (void)state;

    ec_far_field_info_default(&info);
    assert_int_equal(ec_far_field_parse("f.ffd", text, strlen(text), &info, &f), EC_ERR_ARGUMENT);
    assert_non_null(
        strstr(ec_error_text(), "f.ffd has 3 fields, from 1000000000 to 4000000000 Hz"));
    const struct {
        double frequency, re, im;
        ec_far_field_select select;
        double got;
    } good[] = {{1e9, 1, 0, EC_FAR_FIELD_INTERPOLATE, 1e9},
                {4e9, 5, 4, EC_FAR_FIELD_INTERPOLATE, 4e9},
                {2.5e9, 3.5, 4, EC_FAR_FIELD_INTERPOLATE, 2.5e9},
                {1.25e9, 1.5, 1, EC_FAR_FIELD_INTERPOLATE, 1.25e9},
                {1.25e9, 1, 0, EC_FAR_FIELD_NEAREST, 1e9},
                {9e9, 5, 4, EC_FAR_FIELD_NEAREST, 4e9}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        info.frequency = good[i].frequency;
        info.select = good[i].select;
        assert_int_equal(ec_far_field_parse("f.ffd", text, strlen(text), &info, &f), EC_OK);
        same(theta_part(f, 1, 0), good[i].re, good[i].im);
        assert_true(f->frequency == good[i].got);
        ec_far_field_destroy(&f);
    }
    info.select = EC_FAR_FIELD_INTERPOLATE;
    for (int i = 0; i < 2; i++) {
        info.frequency = i ? 0.9e9 : 4.1e9;
        assert_int_equal(ec_far_field_parse("f.ffd", text, strlen(text), &info, &f), EC_ERR_RANGE);
        assert_non_null(strstr(ec_error_text(), "lies outside"));
    }
    info.frequency = 3e9; /* a file without a frequency is taken as it is */
    assert_int_equal(ec_far_field_parse("a.ffd", ffd_text, strlen(ffd_text), &info, &f), EC_OK);
    ec_far_field_destroy(&f);
}

/* One x-polarised field, E_theta = cos phi, E_phi = -sin phi, in the three kinds of components. */
static void test_cut_components(void **state)
{
    static const char *const bodies[] = {NULL, "0.70710678118654757 0 0.70710678118654757 0\n",
                                         "1 0 0 0\n"};
    static const double phis[] = {0, 30, 90, 215};
    char text[4000];
    (void)state;

    for (int kind = 1; kind <= 3; kind++) {
        size_t n = 0;
        for (int k = 0; k < 4; k++) {
            n += (size_t)sprintf(text + n, "cut %d\n0.0 45.0 3 %.1f %d 1 2\n", k, phis[k], kind);
            for (int i = 0; i < 3; i++)
                n += (size_t)(kind == 1 ? sprintf(text + n, "%.17g 0 %.17g 0\n",
                                                  cos(phis[k] * DEGREE), -sin(phis[k] * DEGREE))
                                        : sprintf(text + n, "%s", bodies[kind - 1]));
        }
        ec_far_field *f = parsed("x.cut", text);
        assert_int_equal(f->n_theta, 3);
        assert_int_equal(f->n_phi, 4);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 4; k++) {
                same(theta_part(f, i, k), cos(phis[k] * DEGREE), 0);
                same(phi_part(f, i, k), -sin(phis[k] * DEGREE), 0);
            }
        ec_far_field_destroy(&f);
    }
    /* right-hand circular about z: E_theta + j E_phi = sqrt 2 exp(-j phi), E_theta - j E_phi = 0 */
    ec_far_field *f = parsed("rhc.cut", "right\n0 10 2 60 2 1 2\n1 0 0 0\n0 1 0 0\n");
    same(theta_part(f, 0, 0), 0.5 * sqrt(0.5), -sqrt(0.75) * sqrt(0.5));
    same(phi_part(f, 0, 0), -sqrt(0.75) * sqrt(0.5), -0.5 * sqrt(0.5));
    same(theta_part(f, 1, 0), sqrt(0.75) * sqrt(0.5), 0.5 * sqrt(0.5));
    ec_far_field_destroy(&f);
}

/* Cuts through the axis: E_theta changes its sign there, E_co does not. */
static void test_cut_folded(void **state)
{
    ec_far_field *f = parsed("x.cut", "E_theta, E_phi\n-30 30 3 0 1 1 2\n"
                                      "1 0 2 0\n3 0 4 0\n5 0 6 0\n"
                                      "the other plane\n-30 30 3 90 1 1 2\n"
                                      "7 0 8 0\n9 0 10 0\n11 0 12 0\n");
    (void)state;
    assert_int_equal(f->n_theta, 2);
    assert_int_equal(f->n_phi, 4); /* 0, 90, 180, 270 */
    same(theta_part(f, 0, 0), 3, 0);
    same(theta_part(f, 0, 1), 9, 0);
    same(theta_part(f, 0, 2), -3, 0); /* the same field, seen from the other side of the pole */
    same(phi_part(f, 0, 3), -10, 0);
    same(theta_part(f, 1, 0), 5, 0);
    same(phi_part(f, 1, 1), 12, 0);
    same(theta_part(f, 1, 2), -1, 0);
    same(phi_part(f, 1, 2), -2, 0);
    same(theta_part(f, 1, 3), -7, 0);
    ec_far_field_destroy(&f);

    /* two cuts of one plane: each direction twice, the one with theta >= 0 counts */
    f = parsed("x.cut", "a\n-30 30 3 0 1 1 2\n1 0 2 0\n3 0 4 0\n5 0 6 0\n"
                        "b\n-30 30 3 180 1 1 2\n7 0 8 0\n9 0 10 0\n11 0 12 0\n");
    assert_int_equal(f->n_phi, 2);
    same(theta_part(f, 1, 0), 5, 0);
    same(theta_part(f, 1, 1), 11, 0);
    same(theta_part(f, 0, 1), 9, 0);
    ec_far_field_destroy(&f);

    f = parsed("x.cut", "co and cross\n-30 30 3 0 3 1 2\n1 0 2 0\n3 0 4 0\n5 0 6 0\n"
                        "co and cross\n-30 30 3 90 3 1 2\n7 0 8 0\n9 0 10 0\n11 0 12 0\n");
    same(theta_part(f, 1, 2), -1, 0); /* at phi = 180 theta^ is -x, phi^ is -y */
    same(phi_part(f, 1, 2), -2, 0);
    same(theta_part(f, 1, 3), -8, 0); /* at phi = 270 theta^ is -y, phi^ is x */
    same(phi_part(f, 1, 3), 7, 0);
    ec_far_field_destroy(&f);
}

static const char cut_text[] = "a\n-30 30 3 0 1 1 2\n1 0 2 0\n3 0 4 0\n5 0 6 0\n"
                               "b\n-30 30 3 90 1 1 2\n7 0 8 0\n9 0 10 0\n11 0 12 0\n";

static const char ffe_text[] =
    "##File Type: Far field\n##File Format: 3\n"
    "** written by hand\n\n"
    "#Request Name: FarField1\n#Frequency:   1.50000000E+009\n"
    "#Coordinate System: Spherical\n"
    "#No. of Theta Samples: 2\n#No. of Phi Samples: 3\n"
    "#Result Type: Gain\n#No. of Header Lines: 1\n"
    "#   \"Theta\"  \"Phi\"  \"Re(Etheta)\"  \"Im(Etheta)\"  \"Re(Ephi)\"  "
    "\"Im(Ephi)\"  \"Gain(Total)\"\n"
    " 0 0    1 2 3 4  0.1 ** a remark\n"
    " 45 0   5 6 7 8  -10.5\n"
    " 0 120  9 10 11 12 0\n 45 120 13 14 15 16 0\n"
    " 0 240  17 18 19 20 0\n 45 240 21 22 23 24 0\n";

static void test_ffe(void **state)
{
    ec_far_field *f = parsed("a.ffe", ffe_text);
    (void)state;

    assert_int_equal(f->n_theta, 2);
    assert_int_equal(f->n_phi, 3);
    assert_true(f->frequency == 1.5e9);
    same(theta_part(f, 1, 0), 5, 6);
    same(phi_part(f, 0, 2), 19, 20);
    ec_far_field_destroy(&f);
    /* columns in another order, two blocks */
    static const char two[] =
        "#Frequency: 1e9\n#\"Im(Ephi)\" \"Phi\" \"Theta\" \"Re(Etheta)\" \"Re(Ephi)\" "
        "\"Im(Etheta)\"\n1 0 0 2 3 4\n5 0 9 6 7 8\n"
        "#Frequency: 2e9\n#\"Theta\" \"Phi\" \"Re(Etheta)\" \"Im(Etheta)\" \"Re(Ephi)\" "
        "\"Im(Ephi)\"\n0 0 20 40 30 10\n9 0 60 80 70 50\n";
    ec_far_field_info info;
    ec_far_field_info_default(&info);
    info.frequency = 1.5e9;
    assert_int_equal(ec_far_field_parse("b.ffe", two, strlen(two), &info, &f), EC_OK);
    same(theta_part(f, 0, 0), 11, 22);
    same(phi_part(f, 1, 0), 38.5, 27.5);
    ec_far_field_destroy(&f);
}

static const char ffs_text[] =
    "// CST Farfield Source File\n\n// Version:\n3.0\n\n// Data Type\nFarfield\n\n"
    "// #Frequencies\n1\n\n// Position\n0 0 0\n\n// zAxis\n0 0 1\n\n// xAxis\n1 0 0\n\n"
    "// Radiated/Accepted/Stimulated Power , Frequency\n0.4\n0.45\n0.5\n2.4e9\n\n"
    "// >> Total #phi samples, total #theta samples\n2 3\n\n"
    "// >> Phi, Theta, Re(E_Theta), Im(E_Theta), Re(E_Phi), Im(E_Phi):\n"
    "0 0 1 2 3 4\n0 90 5 6 7 8\n0 180 9 10 11 12\n"
    "180 0 13 14 15 16\n180 90 17 18 19 20\n180 180 21 22 23 24\n";

static void test_ffs(void **state)
{
    ec_far_field *f = parsed("a.ffs", ffs_text);
    (void)state;

    assert_int_equal(f->n_theta, 3);
    assert_int_equal(f->n_phi, 2);
    assert_true(f->frequency == 2.4e9);
    same(theta_part(f, 1, 0), 5, 6);
    same(phi_part(f, 2, 1), 23, 24);
    ec_far_field_destroy(&f);
}

static const char csv_text[] = "# measured\ntheta_deg, phi_deg, note, e_theta_re, e_theta_im, "
                               "e_phi_re, e_phi_im\n"
                               "90, 0, 7, 5, 6, 7, 8\n0, 0, 7, 1, 2, 3, 4 # in any order\n"
                               "0, 45, 7, 9, 10, 11, 12\n90, 45, 7, 13, 14, 15, 16\n";

static void test_csv(void **state)
{
    ec_far_field *f = parsed("a.csv", csv_text);
    (void)state;

    assert_int_equal(f->n_theta, 2);
    assert_int_equal(f->n_phi, 2);
    same(theta_part(f, 1, 0), 5, 6);
    same(phi_part(f, 0, 1), 11, 12);
    ec_far_field_destroy(&f);
    f = parsed("b.csv", "theta_deg;\"e_phi_db\";e_phi_phase_deg\n0;20;90\n-90;-20;-180\n90;0;0\n"
                        "0.5;40;45\n-0.5;0;0\n");
    assert_int_equal(f->n_theta, 3);
    assert_int_equal(f->n_phi, 2);
    same(phi_part(f, 0, 0), 0, 10);
    same(phi_part(f, 2, 1), 0.1, 0); /* from -90 degrees, with the other sign */
    same(phi_part(f, 1, 0), 100 * sqrt(0.5), 100 * sqrt(0.5));
    same(theta_part(f, 2, 1), 0, 0);
    ec_far_field_destroy(&f);
}

/* ---- bad files ------------------------------------------------------------------------------- */

static void test_bad_ffd(void **state)
{
    (void)state;
    refused("a.ffd", "", "line 0: the file ends, expected theta start, stop and count");
    refused("a.ffd", "\n\n", "line 2: the file ends");
    refused("a.ffd", "0 180\n", "line 1: the line ends, expected theta start, stop and count");
    refused("a.ffd", "0 180 x\n", "line 1: found 'x', expected theta start");
    refused("a.ffd", "0 180 1\n", "(a whole number, 2 to 2147483647)");
    refused("a.ffd", "0 180 2.5\n", "found '2.5'");
    refused("a.ffd", "0 180 99999999999999999999\n", "found '99999999999999999999'");
    refused("a.ffd", "180 0 3\n", "line 1: 180 to 0 degrees");
    refused("a.ffd", "0 180 3 4\n", "line 1: found '4', expected the end of the line");
    refused("a.ffd", "0 180 2\n0 360 0\n", "line 2: found '0', expected phi start");
    refused("a.ffd", "0 180 2\n0 0 1\n1 2 3 4\n", "line 3: the file ends, expected Re and Im");
    refused("a.ffd", "0 180 2\n0 0 1\n1 2 3 4\n1 2 nan 4\n", "line 4: found 'nan', expected Re");
    refused("a.ffd", "0 180 2\n0 0 1\n1 2 3 4\n1 2 -inf 4\n", "line 4: found '-inf'");
    refused("a.ffd", "0 180 2\n0 0 1\n1 2 3 4\n1 2 1e999 4\n", "(a finite number)");
    refused("a.ffd", "0 180 2\n0 0 1\n1 2 3 4\n1 2 0x10 4\n", "found '0x10'");
    refused("a.ffd", "0 180 2\n0 0 1\n1 2 3 4\n1 2 1e200 4\n", "beyond 1e+100");
    refused("a.ffd", "0 180 2\n0 0 1\n1 2 3 4\n1 2 3 4\n1 2 3 4\n",
            "line 5: found '1', expected the end of the file");
    refused("a.ffd", "0 200 2\n0 0 1\n1 2 3 4\n1 2 3 4\n", "theta is 200 degrees");
    refused("a.ffd", "0 90 2\n0 400 2\n1 2 3 4\n1 2 3 4\n1 2 3 4\n1 2 3 4\n", "over 400 degrees");
    refused("a.ffd", "0 90 2\n0 0 1\nFrequencies 2\nFrequency 1e9\n1 2 3 4\n1 2 3 4\n",
            "line 6: the file ends, expected 'Frequency'");
    refused("a.ffd", "0 90 2\n0 0 1\nFrequencies 1\n1 2 3 4\n1 2 3 4\n",
            "line 4: found '1', expected 'Frequency'");
    refused("a.ffd", "0 90 2\n0 0 1\nFrequencies 1\nFrequency -1\n1 2 3 4\n1 2 3 4\n",
            "the frequency is -1 Hz");
    refused("a.ffd", "0 180 2000000000\n0 360 2000000000\n1 2 3 4\n", "the file ends");
}

static void test_bad_cut(void **state)
{
    (void)state;
    refused("a.cut", "", "the file ends, expected a line of text");
    refused("a.cut", "text\n", "line 1: the file ends, expected V_INI");
    refused("a.cut", "text\n0 1 2 0 1 1\n", "line 2: the line ends, expected NCOMP");
    refused("a.cut", "text\n0 1 2 0 4 1 2\n", "line 2: found '4', expected ICOMP");
    refused("a.cut", "text\n0 1 2 0 1 3 2\n", "line 2: found '3', expected ICUT");
    refused("a.cut", "text\n0 1 2 0 1 1 3\n", "line 2: found '3', expected NCOMP");
    refused("a.cut", "text\n0 0 2 0 1 1 2\n", "V_INC is 0");
    refused("a.cut", "text\n0 1 2 0 1 1 2\n1 2 3 4\n", "line 3: the file ends, expected Re");
    refused("a.cut", "text\n0 1 2 0 1 1 2\n1 2 3 4\n1 2 3\n", "line 4: the line ends");
    refused("a.cut", "text\n0 1 1 0 1 1 2\n1 2 3 4\n", "a grid with one theta");
    refused("a.cut", "a\n0 1 2 0 1 1 2\n1 2 3 4\n1 2 3 4\nb\n0 1 2 0 1 1 2\n1 2 3 4\n1 2 3 4\n",
            "line 7: theta 0, phi 0 is given twice, first in line 3");
    refused("a.cut", "a\n0 1 2 0 1 1 2\n1 2 3 4\n1 2 3 4\nb\n0 2 2 9 1 1 2\n1 2 3 4\n1 2 3 4\n",
            "3 thetas and 2 phis make a grid of more than the 4 directions");
    refused("a.cut", "a\n0 1 2 0 1 1 2\n1 2 3 4\n1 2 3 4\nb\n0 1 2 9 1 2 2\n1 2 3 4\n1 2 3 4\n",
            "line 6: ICUT is 2 after 1");
}

static void test_bad_ffe(void **state)
{
    static const char names[] = "#\"Theta\" \"Phi\" \"Re(Etheta)\" \"Im(Etheta)\" \"Re(Ephi)\" "
                                "\"Im(Ephi)\"\n";
    char text[2000];
    (void)state;

    refused("a.ffe", "", "the file ends, expected directions");
    refused("a.ffe", "##File Type: Far field\n", "the file ends, expected directions");
    refused("a.ffe", "1 2 3 4 5 6\n", "line 1: numbers before the names");
    refused("a.ffe", "#\"Theta\" \"Phi\" \"Re(Etheta)\" \"Im(Etheta)\" \"Re(Ephi)\"\n",
            "line 1: no column for 'imephi'");
    refused("a.ffe", "#Coordinate System: Cartesian\n", "line 1: found 'Cartesian'");
    refused("a.ffe", "#Frequency: high\n", "line 1: found 'high', expected the frequency");
    sprintf(text, "%s0 0 1 1 1\n", names);
    refused("a.ffe", text, "line 2: the line ends, expected a number for each column");
    sprintf(text, "%s0 0 1 1 1 1 1\n", names);
    refused("a.ffe", text, "line 2: found '1', expected the end of the line");
    sprintf(text, "%s0 0 1 1 1 1\n0 0 1 1 1 1\n9 0 1 1 1 1\n", names);
    refused("a.ffe", text, "line 3: theta 0, phi 0 is given twice, first in line 2");
    sprintf(text, "#No. of Theta Samples: 3\n#No. of Phi Samples: 1\n%s0 0 1 1 1 1\n9 0 1 1 1 1\n",
            names);
    refused("a.ffe", text, "the block has 2 directions, expected 3 x 1");
}

static void replaced(char *to, const char *text, const char *from, const char *with)
{
    const char *at = strstr(text, from);

    assert_non_null(at);
    sprintf(to, "%.*s%s%s", (int)(at - text), text, with, at + strlen(from));
}

static void test_bad_ffs(void **state)
{
    static const char *const cases[][3] = {
        {"0 0 1\n\n// xAxis", "0 1 0\n\n// xAxis", "line 16: an axis 0 1 0, expected 0 0 1"},
        {"2 3\n", "2 4\n", "line 36: the file ends, expected phi, theta"},
        {"2 3\n", "2 2\n", "3 thetas and 2 phis make a grid of more than the 4 directions"},
        {"22 23 24\n", "22 23 24\n0 0 1 2 3 4\n",
         "line 37: found '0', expected a line that begins with //"},
        {"// #Frequencies\n1", "// #Frequencies\n2", "the file ends after 1 fields, expected 2"},
        {"0 90 5", "0 91 5", "thetas and 2 phis"},
        {"0.45\n", "zero\n", "found 'zero', expected a power"},
        {"// >> Total #phi samples, total #theta samples\n2 3\n", "",
         "fields before their number"}};
    char text[2000];
    (void)state;

    refused("a.ffs", "", "the file ends after 0 fields, expected 1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        replaced(text, ffs_text, cases[i][0], cases[i][1]);
        refused("a.ffs", text, cases[i][2]);
    }
}

static void test_bad_csv(void **state)
{
    (void)state;
    refused("a.csv", "", "the file ends, expected the names of columns");
    refused("a.csv", "# nothing\n", "the file ends, expected the names");
    refused("a.csv", "theta,e_theta_re\n0,1\n", "line 1: no column theta_deg");
    refused("a.csv", "theta_deg,phi_deg\n0,1\n", "no column of a field");
    refused("a.csv", "theta_deg,e_theta_im\n0,1\n", "a column e_theta_im without e_theta_re");
    refused("a.csv", "theta_deg,e_phi_phase_deg,e_theta_re\n0,1,1\n", "without e_phi_db");
    refused("a.csv", "theta_deg,e_theta_re,e_theta_db\n0,1,2\n", "as Re and Im and in dB");
    refused("a.csv", "theta_deg,e_theta_re,e_theta_re\n0,1,2\n", "two columns e_theta_re");
    refused("a.csv", "theta_deg,e_theta_re\n", "the file ends, expected directions");
    refused("a.csv", "theta_deg,e_theta_re\n0,1\n1\n", "line 3: the line ends");
    refused("a.csv", "theta_deg,e_theta_re\n0,1\n1,2,3\n", "line 3: found '3'");
    refused("a.csv", "theta_deg,e_theta_re\n0,1\n1,two\n", "line 3: found 'two'");
    refused("a.csv", "theta_deg,e_theta_db\n0,1\n1,9e9\n", "beyond 1e+100");
    refused("a.csv", "theta_deg,phi_deg,e_theta_re\n0,0,1\n1,0,1\n0,9,1\n1,8,1\n",
            "2 thetas and 3 phis make a grid of more than the 4 directions");
    refused("a.csv", "theta_deg,phi_deg,e_theta_re\n0,0,1\n1,0,1\n0,9,1\n0,0,1\n",
            "line 5: theta 0, phi 0 is given twice, first in line 2");
}

/* A folded cut that leaves a hole. */
static void test_missing_direction(void **state)
{
    (void)state;
    refused("a.csv",
            "theta_deg,phi_deg,e_theta_re\n0,0,1\n1,0,1\n0,180,1\n-1,180,1\n0,90,1\n1,90,1\n",
            "theta 1, phi 180 is missing; expected each of 2 thetas with each of 3 phis");
}

/* Every text cut off at every byte is an error, or a whole file that is shorter. */
static void test_truncated(void **state)
{
    static const struct {
        const char *name, *text;
        int whole; /* lengths that are files */
    } files[] = {{"a.ffd", ffd_text, 5},
                 {"a.cut", cut_text, 4},
                 {"a.ffe", ffe_text, 2},
                 {"a.ffs", ffs_text, 3},
                 {"a.csv", csv_text, 20}};
    (void)state;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int whole = 0, size = (int)strlen(files[i].text);
        for (int n = 0; n <= size; n++) {
            ec_far_field *f = NULL;
            /* a block of its own size, so that the sanitizer sees what is read beyond */
            char *text = malloc((size_t)n + 1);
            assert_non_null(text);
            memcpy(text, files[i].text, (size_t)n);
            if (ec_far_field_parse(files[i].name, text, (size_t)n, NULL, &f) == EC_OK) {
                whole++;
                ec_far_field_destroy(&f);
            } else {
                assert_null(f);
                assert_non_null(strstr(ec_error_text(), "line "));
                assert_non_null(strstr(ec_error_text(), files[i].name));
            }
            free(text);
        }
        printf("%s: %d of %d lengths are files\n", files[i].name, whole, size + 1);
        assert_true(whole <= files[i].whole);
    }
}

/* ---- names, folders -------------------------------------------------------------------------- */

static void test_files(void **state)
{
    char folder[600], path[700];
    ec_far_field *f = NULL;
    (void)state;

    assert_int_equal(ec_far_field_parse("a.txt", ffd_text, strlen(ffd_text), NULL, &f),
                     EC_ERR_FILE);
    assert_non_null(strstr(ec_error_text(), "ends in .ffd, .cut, .ffe, .ffs or .csv"));
    assert_int_equal(ec_far_field_parse("A.FFD", ffd_text, strlen(ffd_text), NULL, &f), EC_OK);
    ec_far_field_destroy(&f);
    snprintf(folder, sizeof folder, "%s/test_far_field_%ld", EC_TEST_BINARY_DIR, (long)getpid());
    assert_int_equal(mkdir(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/none.ffd", folder);
    assert_int_equal(ec_far_field_read(path, NULL, &f), EC_ERR_FILE);
    assert_non_null(strstr(ec_error_text(), "No such file"));
    snprintf(path, sizeof path, "%s/pipe.ffd", folder); /* nobody writes into it */
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_int_equal(ec_far_field_read(path, NULL, &f), EC_ERR_FILE);
    assert_non_null(strstr(ec_error_text(), "is not a file"));
    unlink(path);
    snprintf(path, sizeof path, "%s/folder.ffd", folder);
    mkdir(path, 0777);
    assert_int_equal(ec_far_field_read(path, NULL, &f), EC_ERR_FILE);
    rmdir(path);
    rmdir(folder);
    ec_far_field_info info;
    ec_far_field_info_default(&info);
    info.frequency = NAN;
    assert_int_equal(ec_far_field_parse("a.ffd", ffd_text, strlen(ffd_text), &info, &f),
                     EC_ERR_RANGE);
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

static ec_far_field *random_field(int32_t n_theta, double to, int32_t n_phi, double phi0,
                                  double frequency)
{
    double theta[100], phi[100];
    ec_c128 a[5000], b[5000];
    uint64_t random = 1;
    ec_far_field *f = NULL;

    for (int32_t i = 0; i < n_theta; i++)
        theta[i] = to * i / (n_theta - 1) * DEGREE;
    for (int32_t k = 0; k < n_phi; k++)
        phi[k] = (phi0 + 7.3 * k) * DEGREE;
    for (int32_t i = 0; i < n_theta * n_phi; i++) {
        a[i] = (ec_c128){1e-3 * (double)next_random(&random), 1.0 / (double)next_random(&random)};
        b[i] = (ec_c128){-1e-30 * (double)next_random(&random), -0.0};
    }
    assert_int_equal(ec_far_field_create(n_theta, theta, n_phi, phi, a, b, frequency, &f), EC_OK);
    return f;
}

static void assert_equal_fields(const ec_far_field *a, const ec_far_field *b)
{
    size_t n = (size_t)a->n_theta * (size_t)a->n_phi;

    assert_int_equal(a->n_theta, b->n_theta);
    assert_int_equal(a->n_phi, b->n_phi);
    for (int32_t i = 0; i < a->n_theta; i++)
        assert_true(fabs(a->theta[i] - b->theta[i]) < 4e-15);
    for (int32_t i = 0; i < a->n_phi; i++)
        assert_true(fabs(a->phi[i] - b->phi[i]) < 4e-15);
    assert_memory_equal(a->e_theta, b->e_theta, n * sizeof *a->e_theta);
    assert_memory_equal(a->e_phi, b->e_phi, n * sizeof *a->e_phi);
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static int write_cut(const ec_far_field *f, const char *path)
{
    return ec_far_field_write_cut(f, NULL, path);
}

static void check_written(ec_far_field *f, const char *path,
                          int (*write)(const ec_far_field *, const char *), double frequency)
{
    ec_far_field *back = NULL;

    if (write(f, path) != EC_OK)
        fail_msg("%s", ec_error_text());
    if (ec_far_field_read(path, NULL, &back) != EC_OK)
        fail_msg("%s", ec_error_text());
    assert_equal_fields(f, back);
    assert_true(back->frequency == frequency);
    char *first = read_text(path);
    assert_int_equal(write(back, path), EC_OK);
    char *second = read_text(path);
    assert_string_equal(first, second);
    free(first);
    free(second);
    ec_far_field_destroy(&back);
    unlink(path);
}

static void test_written(void **state)
{
    static const struct {
        int32_t n_theta, n_phi;
        double to, phi0, frequency;
    } cases[] = {{2, 1, 90, 0, 0}, {91, 49, 180, 0, 1e9 / 3}, {19, 5, 57.6, -33.3, 28e9}};
    char path[600];
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ec_far_field *f = random_field(cases[i].n_theta, cases[i].to, cases[i].n_phi, cases[i].phi0,
                                       cases[i].frequency);
        snprintf(path, sizeof path, "%s/far_field_%ld.ffd", EC_TEST_BINARY_DIR, (long)getpid());
        check_written(f, path, ec_far_field_write_ffd, cases[i].frequency);
        snprintf(path, sizeof path, "%s/far_field_%ld.cut", EC_TEST_BINARY_DIR, (long)getpid());
        check_written(f, path, write_cut, 0);
        ec_far_field_destroy(&f);
    }
    ec_far_field *f = random_field(5, 40, 4, 0, 0);
    f->phi[2] += 0.01;
    assert_int_equal(ec_far_field_write_ffd(f, path), EC_ERR_UNSUPPORTED);
    assert_non_null(strstr(ec_error_text(), "a .ffd file has even steps, but phi[2]"));
    check_written(f, path, write_cut, 0); /* cuts stand where they like */
    assert_int_equal(ec_far_field_write_cut(f, "only E_theta", path), EC_OK);
    char *text = read_text(path);
    assert_non_null(strstr(text, "deg, only E_theta\n"));
    free(text);
    unlink(path);
    f->theta[1] += 0.01;
    assert_int_equal(ec_far_field_write_cut(f, NULL, path), EC_ERR_UNSUPPORTED);
    assert_int_equal(ec_far_field_write_ffd(f, "/nowhere/at/all.ffd"), EC_ERR_UNSUPPORTED);
    ec_far_field_destroy(&f);
    f = random_field(5, 40, 4, 0, 0);
    assert_int_equal(ec_far_field_write_ffd(f, "/nowhere/at/all.ffd"), EC_ERR_FILE);
    assert_int_equal(ec_far_field_write_ffd(f, "/"), EC_ERR_ARGUMENT);
    ec_far_field_destroy(&f);
}

static void test_element_list(void **state)
{
    const double x[2] = {0.1, -1.0 / 3}, phase[2] = {EC_PI, 0}, normal[6] = {1, 0, 0, 0, 0.6, 0.8};
    ec_element_list list = {.n = 2, .x = x, .phase = phase, .normal = normal};
    char path[600];
    (void)state;

    snprintf(path, sizeof path, "%s/elements_%ld.csv", EC_TEST_BINARY_DIR, (long)getpid());
    assert_int_equal(ec_element_list_write(&list, path), EC_OK);
    char *text = read_text(path);
    assert_string_equal(text, "x,y,z,amplitude,phase_deg,nx,ny,nz\n"
                              "0.10000000000000001,0,0,1,180,1,0,0\n"
                              "-0.33333333333333331,0,0,1,0,0,0.59999999999999998,"
                              "0.80000000000000004\n");
    free(text);
    list.normal = NULL;
    assert_int_equal(ec_element_list_write(&list, path), EC_OK);
    text = read_text(path);
    assert_string_equal(text, "x,y,z,amplitude,phase_deg\n0.10000000000000001,0,0,1,180\n"
                              "-0.33333333333333331,0,0,1,0\n");
    free(text);
    unlink(path);
    list.n = 0;
    assert_int_equal(ec_element_list_write(&list, path), EC_ERR_SHAPE);
    const double bad[2] = {0, NAN};
    list = (ec_element_list){.n = 2, .y = bad};
    assert_int_equal(ec_element_list_write(&list, path), EC_ERR_RANGE);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* A decimal comma elsewhere in the program changes no file. */
static void test_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
    const char *set = NULL;
    char path[600];
    (void)state;

    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_ALL, names[i]);
    if (!set)
        skip(); /* no such locale on this machine */
    ec_far_field *f = random_field(19, 57.6, 5, -33.3, 1e9 / 3);
    snprintf(path, sizeof path, "%s/far_field_%ld.ffd", EC_TEST_BINARY_DIR, (long)getpid());
    check_written(f, path, ec_far_field_write_ffd, 1e9 / 3);
    ec_far_field_destroy(&f);
    setlocale(LC_ALL, "C");
}

static void test_create_refused(void **state)
{
    const double theta[] = {0, 0.1, 0.2}, down[] = {0.2, 0.1, 0}, far[] = {0, 0.1, 3.2};
    const double phi[] = {0, 1}, wide[] = {0, 6.4};
    const ec_c128 good[6] = {{0, 0}}, bad[6] = {{0, 0}, {0, NAN}};
    ec_far_field *f = NULL;
    (void)state;

    assert_int_equal(ec_far_field_create(1, theta, 1, phi, good, NULL, 0, &f), EC_ERR_SHAPE);
    assert_int_equal(ec_far_field_create(3, theta, 0, phi, good, NULL, 0, &f), EC_ERR_SHAPE);
    assert_int_equal(ec_far_field_create(3, theta, INT32_MAX, phi, good, NULL, 0, &f),
                     EC_ERR_SHAPE);
    assert_int_equal(ec_far_field_create(3, down, 2, phi, good, NULL, 0, &f), EC_ERR_RANGE);
    assert_int_equal(ec_far_field_create(3, far, 2, phi, good, NULL, 0, &f), EC_ERR_RANGE);
    assert_int_equal(ec_far_field_create(3, theta, 2, wide, good, NULL, 0, &f), EC_ERR_RANGE);
    assert_int_equal(ec_far_field_create(3, theta, 2, phi, good, bad, 0, &f), EC_ERR_RANGE);
    assert_int_equal(ec_far_field_create(3, theta, 2, phi, good, NULL, -1, &f), EC_ERR_RANGE);
    assert_int_equal(ec_far_field_create(3, theta, 2, phi, NULL, NULL, 0, &f), EC_ERR_ARGUMENT);
    assert_null(f);
}

/* ---- mutations ------------------------------------------------------------------------------- */

static void mutate(char *text, size_t *size, size_t capacity, uint64_t *random)
{
    static const char pool[] = "0123456789+-.eEdD ,;\n\r\t#/*\"!:nax\0\xff";
    size_t at = next_random(random) % *size, n = 1 + next_random(random) % 12;

    n = n > *size - at ? *size - at : n;
    switch (next_random(random) % 4) {
    case 0:
        text[at] = pool[next_random(random) % (sizeof pool - 1)];
        break;
    case 1: /* a piece less */
        memmove(text + at, text + at + n, *size - at - n);
        *size -= n;
        break;
    case 2: /* a piece twice */
        if (*size + n <= capacity) {
            memmove(text + at + n, text + at, *size - at);
            *size += n;
        }
        break;
    default:
        text[at] = (char)next_random(random);
    }
}

/* Whatever grid came out of it, it makes a table with finite fields. */
static void check_table(const ec_far_field *f)
{
    ec_element_pattern p;

    if (ec_element_table_create(f, &p) != EC_OK)
        fail_msg("%s", ec_error_text());
    for (int i = 0; i < 20; i++) {
        double z = 1 - i / 9.5, s = sqrt(fabs(1 - z * z));
        ec_c128 a, b;
        ec_element_field_f64(&p, s * cos(7.0 * i), s * sin(7.0 * i), z, &a, &b);
        assert_true(isfinite(a.re) && isfinite(a.im) && isfinite(b.re) && isfinite(b.im));
    }
    ec_element_table_destroy(&p);
}

static void test_mutations(void **state)
{
    static const char many[] = "0 90 2\n0 90 2\nFrequencies 2\nFrequency 1e9\n1 0 0 0\n1 0 0 2\n"
                               "1 0 0 0\n1 0 0 2\nFrequency 2e9\n2 0 0 0\n3 4 0 4\n2 0 0 0\n"
                               "3 4 0 4\n";
    static const struct {
        const char *name, *text;
    } files[] = {{"a.ffd", ffd_text}, {"b.ffd", many},     {"a.cut", cut_text},
                 {"a.ffe", ffe_text}, {"a.ffs", ffs_text}, {"a.csv", csv_text}};
    enum { ROUNDS = 4000, CAPACITY = 4096 };
    uint64_t random = 42;
    (void)state;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int good = 0;
        for (int round = 0; round < ROUNDS; round++) {
            char work[CAPACITY];
            size_t size = strlen(files[i].text);
            ec_far_field_info info;
            ec_far_field *f = NULL;
            memcpy(work, files[i].text, size);
            for (uint64_t k = 1 + next_random(&random) % 4; k > 0 && size > 0; k--)
                mutate(work, &size, CAPACITY, &random);
            char *text = malloc(size + 1);
            assert_non_null(text);
            memcpy(text, work, size);
            ec_far_field_info_default(&info);
            info.frequency = round % 2 ? 1.5e9 : 0;
            info.select = round % 3 ? EC_FAR_FIELD_NEAREST : EC_FAR_FIELD_INTERPOLATE;
            int status = ec_far_field_parse(files[i].name, text, size, &info, &f);
            free(text);
            assert_true((status == EC_OK) == (f != NULL));
            assert_true(status == EC_OK || ec_error_text()[0]);
            good += status == EC_OK;
            if (f)
                check_table(f);
            for (int32_t t = 0; f && t < f->n_theta; t++)
                assert_true(f->theta[t] >= 0 && f->theta[t] <= EC_PI + 1e-12 &&
                            (t == 0 || f->theta[t] > f->theta[t - 1]));
            ec_far_field_destroy(&f);
        }
        printf("%s: %d of %d mutations were read\n", files[i].name, good, (int)ROUNDS);
        assert_true(good < ROUNDS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ffd),
                                       cmocka_unit_test(test_line_ends),
                                       cmocka_unit_test(test_ffd_frequencies),
                                       cmocka_unit_test(test_cut_components),
                                       cmocka_unit_test(test_cut_folded),
                                       cmocka_unit_test(test_ffe),
                                       cmocka_unit_test(test_ffs),
                                       cmocka_unit_test(test_csv),
                                       cmocka_unit_test(test_bad_ffd),
                                       cmocka_unit_test(test_bad_cut),
                                       cmocka_unit_test(test_bad_ffe),
                                       cmocka_unit_test(test_bad_ffs),
                                       cmocka_unit_test(test_bad_csv),
                                       cmocka_unit_test(test_missing_direction),
                                       cmocka_unit_test(test_truncated),
                                       cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_written),
                                       cmocka_unit_test(test_element_list),
                                       cmocka_unit_test(test_locale),
                                       cmocka_unit_test(test_create_refused),
                                       cmocka_unit_test(test_mutations)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
