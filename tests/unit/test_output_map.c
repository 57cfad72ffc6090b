/* test_output_map.c: maps over places: which plane is drawn, cells or points, panels, colours. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "output_map.h"

enum { PLACES_MAX = 400 };

static char folder[300];
static double at[PLACES_MAX][3], level[PLACES_MAX], other[PLACES_MAX];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/output_map_%ld", EC_TEST_BINARY_DIR, (long)getpid());
    return mkdir(folder, 0777);
}

static int tear_down(void **state)
{
    DIR *dir = opendir(folder);
    char path[700];

    (void)state;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%.300s", folder, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (dir)
        closedir(dir);
    return rmdir(folder);
}

static char *read_file(const char *file)
{
    static char text[1 << 16];
    char path[700];

    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is not there", path);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

/* Writes n places with a level in dB; the script of its picture. */
static const char *map_of(int32_t n)
{
    const char *const name[1] = {"level_db"};
    const double *const value[1] = {level};
    ec_output_map map = {.name = "map",
                         .title = "a 'title'",
                         .place = "user",
                         .n = n,
                         .at = (const double(*)[3])at,
                         .n_values = 1,
                         .value = name,
                         .values = value};

    for (int32_t i = 0; i < n; i++)
        level[i] = -41.5 - 0.25 * i;
    if (ec_output_map_write(&map, folder, NULL) != EC_OK)
        fail_msg("%s", ec_error_text());
    return read_file("map_level_db.gp");
}

/* nx x ny x nz places with steps, x first; those whose number is a multiple of `hole` are left
 * out. */
static int32_t grid(int nx, int ny, int nz, double dx, double dy, double dz, int hole)
{
    int32_t n = 0;

    for (int i = 0; i < nx * ny * nz; i++) {
        if (hole && i % hole == 0)
            continue;
        at[n][0] = 1.1 + dx * (i % nx);
        at[n][1] = -0.3 + dy * (i / nx % ny);
        at[n++][2] = 1.2 + dz * (i / (nx * ny));
    }
    return n;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is missing in\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' is in\n%s", part, text);
}

static void test_lattice(void **state)
{
    (void)state;
    const char *gp = map_of(grid(12, 9, 1, 0.5, 0.4, 1, 0));
    has(gp, "with boxxyerror");
    has(gp, ":3:(0.2525):(0.202):5 every ::1"); /* cells of 0.5 x 0.4, a little larger */
    has(gp, "set xrange [0.85:6.85]");
    has(gp, "set cbrange [-70:-40]"); /* -41.5 down to -68.25 */
    has(gp, "set cblabel 'level (dB)'");
    has(gp, "set title 'a ''title'', z = 1.2 m'");
    has(gp, "set xlabel 'x (m)'\nset ylabel 'y (m)'");
    has_not(gp, "multiplot");
    char *table = read_file("map.csv");
    has(table, "user,x,y,z,level_db\n1,1.1000000000000001,");
    gp = map_of(grid(12, 9, 1, 0.5, 0.4, 1, 7)); /* with holes it stays a lattice */
    has(gp, "with boxxyerror");
}

static void test_planes(void **state)
{
    (void)state;
    const char *gp = map_of(grid(6, 5, 3, 0.5, 0.5, 1.5, 0));
    has(gp, "set multiplot layout 2,2 title 'a ''title'''");
    has(gp, "set title 'z = 2.7 m'");
    has(gp, "abs($4 - (4.2000000000000002)) <= ");
    /* heights that all differ are one picture of points */
    gp = map_of(grid(2, 2, 12, 0.5, 0.5, 0.13, 0));
    has_not(gp, "multiplot");
    has(gp, "with points");
}

static void test_other_planes(void **state)
{
    (void)state;
    const char *gp = map_of(grid(6, 1, 5, 0.5, 1, 0.5, 0));
    has(gp, "set xlabel 'x (m)'\nset ylabel 'z (m)'");
    has(gp, "? $2 : NaN):4:(0.2525)");
    has(gp, ", y = -0.3 m'");
    gp = map_of(grid(1, 6, 5, 1, 0.5, 0.5, 0));
    has(gp, "set xlabel 'y (m)'\nset ylabel 'z (m)'");
    /* a line is a curve */
    gp = map_of(grid(20, 1, 1, 0.25, 1, 1, 0));
    has(gp, "set title 'a ''title'', y = -0.3 m, z = 1.2 m'");
    has(gp, "set xlabel 'x (m)'\nset ylabel 'level (dB)'");
    has(gp, "using 2:(abs($5) < 1e300 ? $5 : NaN) every ::1");
    has_not(gp, "palette");
    has(map_of(grid(1, 1, 20, 1, 1, 0.25, 0)), "set xlabel 'z (m)'\nset ylabel 'level (dB)'");
    /* a strip is not to scale, so that its labels have room */
    has_not(map_of(grid(20, 2, 1, 0.25, 0.25, 1, 0)), "set size ratio");
    has(map_of(grid(6, 2, 1, 0.25, 0.25, 1, 0)), "set size ratio -1");
    gp = map_of(grid(1, 1, 1, 1, 1, 1, 0));
    has(gp, "set xrange [0.6:1.6]");
}

static void test_scattered(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        at[i][0] = 7 * fmod(0.618034 * (i + 1), 1);
        at[i][1] = 4 * fmod(0.754878 * (i + 1), 1);
        at[i][2] = 1.5;
    }
    has(map_of(50), "with points pointtype 7");
    /* a few places of a large lattice are points too */
    for (int i = 0; i < 10; i++) {
        at[i][0] = i * i % 7;
        at[i][1] = 30 * i;
        at[i][2] = 0;
    }
    at[9][1] = 271;
    has(map_of(10), "with points");
}

static void test_values(void **state)
{
    (void)state;
    const char *const name[2] = {"received_dbm", "capacity_bit_s_hz"};
    const double *const value[2] = {level, other};
    const double mark[2][3] = {{2, 0.5, 3}, {4, 1, 3}};
    int32_t n = grid(4, 3, 1, 1, 1, 1, 0);
    ec_output_map map = {.name = "map",
                         .place = "user",
                         .n = n,
                         .at = (const double(*)[3])at,
                         .n_values = 2,
                         .value = name,
                         .values = value,
                         .n_marks = 2,
                         .mark = mark};

    for (int32_t i = 0; i < n; i++) {
        level[i] = i ? -60 - 20.0 * i : -INFINITY;
        other[i] = i == 3 ? NAN : 2.5;
    }
    assert_int_equal(ec_output_map_write(&map, folder, NULL), EC_OK);
    const char *text = read_file("map.csv");
    has(text, "user,x,y,z,received_dbm,capacity_bit_s_hz\n");
    has(text, ",-inf,2.5\n");
    has(text, ",nan\n");
    text = read_file("map_received_dbm.gp");
    has(text, "set cbrange [-180:-80]"); /* no more than 100 dB */
    has(text, "set cblabel 'received (dBm)'");
    has(text, "$marks << EOD\n2,0.5,3\n4,1,3\nEOD\n");
    has(text, "$marks using 1:2 with points");
    text = read_file("map_capacity_bit_s_hz.gp");
    has(text, "set cblabel 'capacity (bit/s/Hz)'");
    has(text, "set cbrange [2.5:3.5]"); /* one value is a range all the same */
    has(text, "abs($6) < 1e300");
}

static void test_errors(void **state)
{
    (void)state;
    const char *name[1] = {"a,b"};
    const double *const value[1] = {level};
    ec_output_map map = {.name = "map", .place = "user", .n = 0, .n_values = 1};

    map.at = (const double(*)[3])at;
    map.value = name;
    map.values = value;
    assert_int_equal(ec_output_map_write(&map, folder, NULL), EC_ERR_ARGUMENT);
    map.n = 3;
    assert_int_equal(ec_output_map_write(&map, folder, NULL), EC_ERR_ARGUMENT);
    has(ec_error_text(), "'a,b' is no name for a file");
    name[0] = "ok";
    assert_int_equal(ec_output_map_write(&map, "/nowhere/at all", NULL), EC_ERR_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lattice),      cmocka_unit_test(test_planes),
        cmocka_unit_test(test_other_planes), cmocka_unit_test(test_scattered),
        cmocka_unit_test(test_values),       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
