/* test_touchstone.c: scattering matrices from Touchstone files, good and bad. */
#include "core/element_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int parse(const char *name, const char *text, ec_touchstone **data)
{
    return ec_touchstone_parse(name, text, strlen(text), data);
}

static ec_touchstone *parsed(const char *name, const char *text)
{
    ec_touchstone *data = NULL;

    if (parse(name, text, &data) != EC_OK)
        fail_msg("%s: %s", name, ec_error_text());
    assert_non_null(data);
    return data;
}

static void refused(const char *name, const char *text, int status, const char *sentence)
{
    ec_touchstone *data = NULL;
    int got = parse(name, text, &data);

    assert_null(data);
    if (got != status || !strstr(ec_error_text(), sentence))
        fail_msg("status %d; '%s' is not in '%s'", got, sentence, ec_error_text());
    assert_non_null(strstr(ec_error_text(), name));
}

/* S_ij, counted from 1, of frequency f */
static void same(const ec_touchstone *d, int32_t f, int32_t i, int32_t j, double re, double im)
{
    ec_c128 s = d->s[((size_t)f * (size_t)d->n_ports + (size_t)(i - 1)) * (size_t)d->n_ports +
                     (size_t)(j - 1)];

    if (!(fabs(s.re - re) < 1e-14 && fabs(s.im - im) < 1e-14))
        fail_msg("S%d%d is (%.17g, %.17g), not (%.17g, %.17g)", (int)i, (int)j, s.re, s.im, re, im);
}

static const char one_port[] = "! antenna\n# MHz S DB R 75\n"
                               "100 -20 90 ! a remark\n\n200 0 -180\n";

static void test_one_port(void **state)
{
    ec_touchstone *d = parsed("a.s1p", one_port);
    (void)state;

    assert_int_equal(d->n_ports, 1);
    assert_int_equal(d->n_frequencies, 2);
    assert_true(d->frequency[0] == 1e8 && d->frequency[1] == 2e8);
    assert_true(d->reference[0] == 75);
    same(d, 0, 1, 1, 0, 0.1);
    same(d, 1, 1, 1, -1, 0);
    ec_touchstone_destroy(&d);
    assert_null(d);
    d = parsed("A.S1P", "#\n1 0.5 90\n"); /* GHz, magnitude and angle, 50 ohm */
    assert_true(d->frequency[0] == 1e9 && d->reference[0] == 50);
    same(d, 0, 1, 1, 0, 0.5);
    ec_touchstone_destroy(&d);
}

static const char two_port[] = "# R 50 RI hz S\r\n1e9 11 12 21 22 12 13 22 23\r\n"
                               "2e9 1 2 3 4 5 6 7 8\r\n"
                               "# MHz S MA R 99\r\n"
                               "3e9 1 2 3 4 5 6 7 8\r\n"
                               "! noise: frequency, minimum, optimum, resistance\r\n"
                               "1e9 1 0.5 20 0.3\r\n2e9 1 0.5 20 0.3\r\n";

/* Version 1 has S21 before S12. */
static void test_two_port(void **state)
{
    ec_touchstone *d = parsed("a.s2p", two_port);
    (void)state;

    assert_int_equal(d->n_frequencies, 3);
    same(d, 0, 1, 1, 11, 12);
    same(d, 0, 2, 1, 21, 22);
    same(d, 0, 1, 2, 12, 13);
    same(d, 0, 2, 2, 22, 23);
    same(d, 2, 2, 1, 3, 4); /* a second option line says nothing */
    assert_true(d->reference[1] == 50);
    ec_touchstone_destroy(&d);
}

static const char three_port[] = "# GHz S RI R 50\n"
                                 "1 11 0.1 12 0.2 13 0.3 ! first row\n"
                                 "  21 0.4 22 0.5 23 0.6\n"
                                 "  31 0.7 32 0.8 33 0.9\n"
                                 "2 1 0 2 0 3 0\n4 0 5 0 6 0\n7 0 8 0 9 0\n";

static void test_more_ports(void **state)
{
    ec_touchstone *d = parsed("a.s3p", three_port);
    char text[4000];
    (void)state;

    same(d, 0, 1, 3, 13, 0.3);
    same(d, 0, 2, 1, 21, 0.4);
    same(d, 0, 3, 2, 32, 0.8);
    same(d, 1, 2, 3, 6, 0);
    ec_touchstone_destroy(&d);
    /* ten ports, four pairs a line at most */
    size_t n = (size_t)sprintf(text, "# Hz S RI\n5");
    for (int i = 1; i <= 10; i++)
        for (int j = 1; j <= 10; j++)
            n += (size_t)sprintf(text + n, " %d %d%s", i, j,
                                 j == 4 || j == 8 || j == 10 ? "\n" : "");
    d = parsed("a.s10p", text);
    assert_int_equal(d->n_ports, 10);
    same(d, 0, 3, 9, 3, 9);
    same(d, 0, 10, 1, 10, 1);
    ec_touchstone_destroy(&d);
}

#define VERSION_2(order, format, data)                                                             \
    "! of version 2\n[Version] 2.0\n# MHz S RI R 50\n[Number of Ports] 2\n"                        \
    "[Two-Port Data Order] " order "\n[Number of Frequencies] 1\n[Reference] 50\n 75 ! two\n"      \
    "[Begin Information]\nanything [Network Data]\n[End Information]\n" format                     \
    "[Network Data]\n" data "[End]\nwhat follows is not read\n"

static void test_version_2(void **state)
{
    static const struct {
        const char *text;
        double s12, s21;
    } cases[] = {
        {VERSION_2("12_21", "", "5 11 0 12 0 21 0 22 0\n"), 12, 21},
        {VERSION_2("21_12", "", "5 11 0 12 0 21 0 22 0\n"), 21, 12},
        {VERSION_2("12_21", "[Matrix Format] Full\n", "5 11 0 12 0\n21 0 22 0\n"), 12, 21},
        {VERSION_2("12_21", "[Matrix Format] Lower\n", "5 11 0\n21 0 22 0\n"), 21, 21},
        {VERSION_2("21_12", "[Matrix Format] Upper\n", "5 11 0 12 0\n22 0\n"), 12, 12},
        {VERSION_2("12_21", "", "5 11 0 12 0 21 0 22 0\n[Noise Data]\n1 2 3 4 5\n"), 12, 21}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ec_touchstone *d = parsed(i % 2 ? "a.s2p" : "a.ts", cases[i].text);
        assert_true(d->frequency[0] == 5e6);
        assert_true(d->reference[0] == 50 && d->reference[1] == 75);
        same(d, 0, 1, 1, 11, 0);
        same(d, 0, 1, 2, cases[i].s12, 0);
        same(d, 0, 2, 1, cases[i].s21, 0);
        same(d, 0, 2, 2, 22, 0);
        ec_touchstone_destroy(&d);
    }
}

static void test_bad(void **state)
{
    static const struct {
        const char *name, *text, *sentence;
    } cases[] = {
        {"a.s1p", "", "line 0: the file ends, expected data of the network"},
        {"a.s1p", "# GHz S MA R 50\n", "line 1: the file ends, expected data"},
        {"a.s1p", "1 2 3\n", "line 1: data before the option line"},
        {"a.s1p", "# GHz S XX R 50\n1 2 3\n", "line 1: found 'XX', expected Hz, kHz"},
        {"a.s1p", "# GHz S MA R\n1 2 3\n", "line 1: the line ends, expected the reference"},
        {"a.s1p", "# GHz S MA R 0\n1 2 3\n", "the reference is 0 ohm"},
        {"a.s1p", "#\n1 2\n", "line 2: the file ends, expected an S-parameter"},
        {"a.s1p", "#\n1 2 3 4\n", "line 2: found '4', expected the end of the line"},
        {"a.s1p", "#\n1 nan 3\n", "line 2: found 'nan', expected an S-parameter"},
        {"a.s1p", "#\n1 inf 3\n", "line 2: found 'inf'"},
        {"a.s1p", "# DB\n1 9999 3\n", "beyond 1e100"},
        {"a.s1p", "#\nx 2 3\n", "line 2: found 'x', expected a frequency"},
        {"a.s1p", "#\n2 2 3\n1 2 3\n", "line 3: the frequency 1000000000 Hz after 2000000000 Hz"},
        {"a.s1p", "#\n1 2 3\n1 2 3\n", "expected one that is higher"},
        {"a.s1p", "#\n-1 2 3\n", "the frequency -1000000000 Hz"},
        {"a.s2p", "#\n1 1 1 1 1 1 1 1\n", "line 2: the file ends, expected an S-parameter"},
        {"a.s2p", "#\n1 1 1 1 1 1 1 1\n2 1 1 1 1 1 1 1 1\n", "line 3: found '1', expected the end"},
        {"a.s3p", "#\n1 1 1 1 1\n", "line 2: the file ends before the matrix of 3 ports does"},
        {"a.s4096p", "#\n1 1 1 1 1\n", "line 2: the file ends before the matrix of 4096 ports"},
        {"a.s1p", "[Number of Ports] 1\n", "line 1: a keyword in brackets before [Version] 2.0"},
        {"a.s1p", "[Version] 3.0\n", "version 3, expected 2.0"},
        {"a.s1p", "[Version] 2.0\n[Number of Ports] 2\n", "line 2: 2 ports, expected the 1 of"},
        {"a.ts", "[Version] 2.0\n[Number of Ports] 0\n", "line 2: found '0', expected the number"},
        {"a.ts", "[Version] 2.0\n[Number of Ports] 99999\n", "found '99999'"},
        {"a.ts", "[Version] 2.0\n[Reference] 50\n", "[Reference] before [Number of Ports]"},
        {"a.ts", "[Version] 2.0\n[Number of Ports] 2\n[Reference] 50\n[Network Data]\n",
         "line 4: found '[Network', expected a reference"},
        {"a.ts", "[Version] 2.0\n[Number of Ports] 2\n[Reference] 50\n",
         "the file ends, expected a"},
        {"a.ts", "[Version] 2.0\n[Number of Ports] 1\n[Reference] 50\n[Reference] 50\n", "second"},
        {"a.ts", "[Version] 2.0\n[Begin Information]\n", "the file ends, expected [End Inf"},
        {"a.ts", "[Version] 2.0\n[Color] red\n", "line 2: found '[Color] red', expected a keyword"},
        {"a.ts", "[Version] 2.0\n[Two-Port Data Order] 21\n", "found '21', expected 12_21"},
        {"a.ts", "[Version] 2.0\n[Matrix Format] Half\n", "found 'Half', expected Full"},
        {"a.ts", "[Version] 2.0\n#\n[Number of Ports] 1\n1 2 3\n", "data before [Network Data]"},
        {"a.ts", "[Version] 2.0\n#\n[Network Data]\n1 2 3\n", "data before [Number of Ports]"},
        {"a.ts", "[Version] 2.0\n#\n[Number of Ports] 2\n[Network Data]\n1 1 1 1 1 1 1 1 1\n",
         "a two-port's data before [Two-Port Data Order]"},
        {"a.ts", "[Version] 2.0\n#\n[Number of Ports] 1\n[Network Data]\n1 2 3\n[End]\n",
         "no [Number of Frequencies]"},
        {"a.ts",
         "[Version] 2.0\n#\n[Number of Ports] 1\n[Number of Frequencies] 2\n[Network Data]\n1 2 3\n"
         "[End]\n",
         "1 frequencies, expected 2"},
        {"a.ts",
         "[Version] 2.0\n#\n[Number of Ports] 1\n[Number of Frequencies] 2\n[Network Data]\n1 2 3\n"
         "[Reference] 50\n",
         "line 7: a keyword amid the data"}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i].name, cases[i].text, EC_ERR_FORMAT, cases[i].sentence);
    refused("a.s1p", "# GHz Z MA R 50\n1 2 3\n", EC_ERR_UNSUPPORTED, "line 1: Z-parameters");
    refused("a.s2p", "# h\n1 2 3\n", EC_ERR_UNSUPPORTED, "H-parameters");
    refused("a.ts", "[Version] 2.0\n[Mixed-Mode Order] D2,3 C2,3\n", EC_ERR_UNSUPPORTED, "mixed");
    refused("a.snp", "", EC_ERR_FILE, "the name of a Touchstone file ends in");
    refused("a.s0p", "", EC_ERR_FILE, "ends in");
    refused("a.s99999p", "", EC_ERR_FILE, "ends in");
    refused("touchstone", "", EC_ERR_FILE, "ends in");
}

static void test_truncated(void **state)
{
    static const struct {
        const char *name, *text;
        int whole; /* lengths that are files */
    } files[] = {{"a.s1p", one_port, 19},
                 {"a.s3p", three_port, 6},
                 {"a.ts", VERSION_2("12_21", "", "5 11 0 12 0 21 0 22 0\n"), 29}};
    (void)state;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int whole = 0, size = (int)strlen(files[i].text);
        for (int n = 0; n <= size; n++) {
            ec_touchstone *d = NULL;
            char *text = malloc((size_t)n + 1);
            assert_non_null(text);
            memcpy(text, files[i].text, (size_t)n);
            whole += ec_touchstone_parse(files[i].name, text, (size_t)n, &d) == EC_OK;
            ec_touchstone_destroy(&d);
            free(text);
        }
        printf("%s: %d of %d lengths are files\n", files[i].name, whole, size + 1);
        assert_true(whole <= files[i].whole);
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

static void test_mutations(void **state)
{
    static const char pool[] = "0123456789+-.eE ,\n\r\t#![]nax_\0\xff";
    static const struct {
        const char *name, *text;
    } files[] = {{"a.s1p", one_port},
                 {"a.s2p", two_port},
                 {"a.s3p", three_port},
                 {"a.ts", VERSION_2("12_21", "", "5 11 0 12 0 21 0 22 0\n")}};
    enum { ROUNDS = 4000 };
    uint64_t random = 42;
    (void)state;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int good = 0;
        for (int round = 0; round < ROUNDS; round++) {
            size_t size = strlen(files[i].text);
            char *text = malloc(size + 1);
            ec_touchstone *d = NULL;
            assert_non_null(text);
            memcpy(text, files[i].text, size);
            for (uint64_t k = 1 + next_random(&random) % 4; k > 0; k--) {
                size_t at = next_random(&random) % size, n = next_random(&random) % 10;
                if (n < 7 || n >= size - at) {
                    text[at] = pool[next_random(&random) % (sizeof pool - 1)];
                } else {
                    memmove(text + at, text + at + n, size - at - n);
                    size -= n;
                }
            }
            int status = ec_touchstone_parse(files[i].name, text, size, &d);
            assert_true((status == EC_OK) == (d != NULL));
            good += status == EC_OK;
            ec_touchstone_destroy(&d);
            free(text);
        }
        printf("%s: %d of %d mutations were read\n", files[i].name, good, (int)ROUNDS);
        assert_true(good < ROUNDS);
    }
}

static void test_read(void **state)
{
    ec_touchstone *d = NULL;
    char path[600];
    (void)state;

    snprintf(path, sizeof path, "%s/touchstone_%ld.s2p", EC_TEST_BINARY_DIR, (long)getpid());
    assert_int_equal(ec_touchstone_read(path, &d), EC_ERR_FILE);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(two_port, file);
    fclose(file);
    assert_int_equal(ec_touchstone_read(path, &d), EC_OK);
    assert_int_equal(d->n_ports, 2);
    ec_touchstone_destroy(&d);
    unlink(path);
}

/* What is written is read back bit by bit, for numbers of ports on either side of each way to lay
 * out a matrix, with equal and with different references. */
static void test_write(void **state)
{
    static const int32_t ports[] = {1, 2, 3, 4, 5, 9};
    uint64_t random = 7;
    (void)state;

    for (size_t i = 0; i < 2 * sizeof ports / sizeof *ports; i++) {
        enum { FREQUENCIES = 3 };
        int32_t n = ports[i / 2];
        bool differ = i % 2 && n > 1;
        double frequency[FREQUENCIES] = {0, 1e9 / 3, 2.45e9}, reference[9];
        ec_c128 s[FREQUENCIES * 81];
        char path[600];
        ec_touchstone *d = NULL;
        ec_touchstone data = {n, FREQUENCIES, frequency, s, reference};
        for (int32_t k = 0; k < n; k++)
            reference[k] = differ ? 50 + k / 3.0 : 75;
        for (int32_t k = 0; k < FREQUENCIES * n * n; k++)
            s[k] = (ec_c128){(double)(next_random(&random) % 1000003) / 1000003.0,
                             -(double)(next_random(&random) % 1000003) / 999983.0};
        snprintf(path, sizeof path, "%s/written_%ld.s%dp", EC_TEST_BINARY_DIR, (long)getpid(),
                 (int)n);
        assert_int_equal(ec_touchstone_write(&data, i < 4 ? NULL : "ports: 1 in", path), EC_OK);
        assert_int_equal(ec_touchstone_read(path, &d), EC_OK);
        assert_int_equal(d->n_ports, n);
        assert_int_equal(d->n_frequencies, FREQUENCIES);
        assert_memory_equal(d->frequency, frequency, sizeof frequency);
        assert_memory_equal(d->reference, reference, (size_t)n * sizeof *reference);
        assert_memory_equal(d->s, s, (size_t)(FREQUENCIES * n * n) * sizeof *s);
        ec_touchstone_destroy(&d);
        unlink(path);
    }
    ec_touchstone one = {1, 1, (double[]){1}, (ec_c128[]){{0, 0}}, (double[]){50}};
    assert_int_equal(ec_touchstone_write(&one, NULL, "/tmp/x.s2p"), EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "a matrix of 1 port is written as .s1p"));
}

/* References that differ by a rounding alone are one: the file is of version 1. */
static void test_rounded_references(void **state)
{
    double frequency[1] = {1e9}, reference[2] = {50, 50 * (1 + 1e-9)};
    ec_c128 s[4] = {{0, 0}};
    const ec_touchstone data = {2, 1, frequency, s, reference};
    char path[600], line[64] = "";
    (void)state;

    snprintf(path, sizeof path, "%s/rounded_%ld.s2p", EC_TEST_BINARY_DIR, (long)getpid());
    for (int differ = 0; differ < 2; differ++) {
        reference[1] = differ ? 50.01 : reference[1];
        assert_int_equal(ec_touchstone_write(&data, NULL, path), EC_OK);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        fclose(file);
        assert_string_equal(line, differ ? "[Version] 2.0\n" : "# Hz S RI R 50\n");
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_port),   cmocka_unit_test(test_two_port),
        cmocka_unit_test(test_more_ports), cmocka_unit_test(test_version_2),
        cmocka_unit_test(test_bad),        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_mutations),  cmocka_unit_test(test_read),
        cmocka_unit_test(test_write),      cmocka_unit_test(test_rounded_references)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
