/* test_output.c: the JSON line, the table and the files of a run, read back. */
#include "job.h"
#include "output.h"
#include "solve.h"

#include <cJSON.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct run {
    ec_graph *graph;
    ec_job *job;
    ec_backend *backend;
    ec_result *result;
    char folder[512];
} run;

static int set_up(void **state)
{
    run *r = calloc(1, sizeof *r);
    double min[3] = {-1, -1, -1}, max[3] = {1, 1, 1};
    ec_backend_info backend = {.name = "cpu", .threads = 1};
    ec_variable_info x = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = 3, .min = min, .max = max};
    ec_solve_info info;

    if (!r || ec_graph_create(&r->graph) != EC_OK ||
        ec_job_create(r->graph, "a \"quoted\" name", 18446744073709551615u, &r->job) != EC_OK ||
        ec_backend_create(&backend, &r->backend) != EC_OK || ec_job_add_variable(r->job, &x) != 0)
        return -1;
    ec_expr value = ec_job_variable(r->job, 0)->value;
    ec_expr sum =
        ec_graph_unary(r->graph, EC_OP_SUM, ec_graph_unary(r->graph, EC_OP_SQUARE, value));
    ec_expr cost = ec_graph_unary(r->graph, EC_OP_NEG, sum);
    ec_expr root = ec_graph_unary(r->graph, EC_OP_SQRT, ec_graph_unary(r->graph, EC_OP_NEG, sum));
    ec_constraint c = {.expr = value, .min = 0.1, .max = INFINITY, .scale = 1};
    if (ec_job_add_objective(r->job, "gain", cost, true, 0) != EC_OK ||
        ec_job_add_constraint(r->job, "floor", &c) != EC_OK ||
        ec_job_add_record(r->job, "nothing", root, 0) != EC_OK ||
        ec_job_add_record(r->job, "positions, all", value, 0) != EC_OK)
        return -1;
    ec_solve_info_default(&info);
    info.evaluations = 4000;
    if (ec_solve(r->job, r->backend, &info, &r->result) != EC_OK)
        return -1;
    snprintf(r->folder, sizeof r->folder, "%s/test_output_%ld", EC_TEST_BINARY_DIR, (long)getpid());
    *state = r;
    return 0;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    char path[1024];

    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%.400s", folder, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static int tear_down(void **state)
{
    run *r = *state;

    remove_folder(r->folder);
    ec_result_destroy(&r->result);
    ec_job_destroy(&r->job);
    ec_graph_destroy(&r->graph);
    ec_backend_destroy(&r->backend);
    free(r);
    return 0;
}

static char *read_file(const char *folder, const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is not there", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static void test_json(void **state)
{
    static const char *const keys[] = {"name",   "backend", "device",      "seed",
                                       "stop",   "message", "generations", "evaluations",
                                       "failed", "seconds", "best"};
    static const char *const best_keys[] = {"status",    "objectives", "search",  "constraints",
                                            "violation", "variables",  "recorded"};
    run *r = *state;
    char *text = NULL;

    assert_int_equal(ec_output_json(r->job, r->result, &text), EC_OK);
    assert_null(strchr(text, '\n'));
    assert_non_null(strstr(text, "\"seed\":18446744073709551615,"));
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    const cJSON *item = root->child;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++, item = item->next) {
        assert_non_null(item);
        assert_string_equal(item->string, keys[i]);
    }
    assert_null(item);
    const cJSON *best = cJSON_GetObjectItem(root, "best");
    item = best->child;
    for (size_t i = 0; i < sizeof best_keys / sizeof *best_keys; i++, item = item->next) {
        assert_non_null(item);
        assert_string_equal(item->string, best_keys[i]);
    }
    assert_null(item);
    assert_string_equal(cJSON_GetObjectItem(root, "name")->valuestring, "a \"quoted\" name");
    assert_string_equal(cJSON_GetObjectItem(root, "stop")->valuestring, "evaluations");
    assert_string_equal(cJSON_GetObjectItem(best, "status")->valuestring, "feasible");
    /* the sign as the script gave it, and every bit */
    double gain = cJSON_GetObjectItem(cJSON_GetObjectItem(best, "objectives"), "gain")->valuedouble;
    assert_true(gain == r->result->objective_final[0] && gain < 0);
    const cJSON *x = cJSON_GetObjectItem(cJSON_GetObjectItem(best, "variables"), "x");
    assert_int_equal(cJSON_GetArraySize(x), 3);
    for (int i = 0; i < 3; i++)
        assert_true(cJSON_GetArrayItem(x, i)->valuedouble == r->result->variable[0][i]);
    /* NaN is null */
    const cJSON *none = cJSON_GetObjectItem(cJSON_GetObjectItem(best, "recorded"), "nothing");
    assert_true(cJSON_IsNull(cJSON_GetArrayItem(none, 0)));
    cJSON_Delete(root);
    free(text);
}

static void test_table(void **state)
{
    run *r = *state;
    char *text = NULL, number[40];

    assert_int_equal(ec_output_table(r->job, r->result, &text), EC_OK);
    snprintf(number, sizeof number, "%.8g", r->result->objective_final[0]);
    assert_non_null(strstr(text, number));
    assert_non_null(strstr(text, "positions, all"));
    assert_non_null(strstr(text, "all 4000 evaluations"));
    assert_non_null(strstr(text, "met"));
    free(text);
}

static void test_csv(void **state)
{
    run *r = *state;
    char line[128];

    assert_int_equal(ec_output_all(r->job, r->result, r->folder, 0, NULL, NULL), EC_OK);
    char *text = read_file(r->folder, "best.csv");
    assert_int_equal(strncmp(text, "name,index,value,kind\n", 22), 0);
    snprintf(line, sizeof line, "\nx,2,%.17g,variable\n", r->result->variable[0][1]);
    assert_non_null(strstr(text, line));
    snprintf(line, sizeof line, "\n\"positions, all\",3,%.17g,recorded\n",
             r->result->variable[0][2]);
    assert_non_null(strstr(text, line));
    free(text);
    text = read_file(r->folder, "history.csv");
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, r->result->n_history + 1);
    assert_int_equal(strncmp(text, "generation,evaluations,", 23), 0);
    free(text);
    /* nothing half written is left */
    DIR *dir = opendir(r->folder);
    for (struct dirent *e; (e = readdir(dir));)
        assert_null(strstr(e->d_name, ".part"));
    closedir(dir);
}

static void test_plot(void **state)
{
    run *r = *state;
    double u[201], level[201], v[11], map[121];
    bool plotted = false;
    struct stat info;
    char path[1024];

    for (int i = 0; i < 201; i++) {
        u[i] = -1 + 0.01 * i;
        level[i] = i == 7 ? NAN : -20 - 10 * cos(20 * u[i]);
    }
    for (int i = 0; i < 11; i++)
        v[i] = -1 + 0.2 * i;
    for (int i = 0; i < 121; i++)
        map[i] = -0.5 * i;
    ec_output_pattern cut = {.name = "pattern",
                             .title = "it's a cut",
                             .axis = {"u", NULL},
                             .n = {201, 0},
                             .at = {u, NULL},
                             .value = "level_db",
                             .level = level,
                             .floor = NAN};
    ec_output_pattern grid = {.name = "map",
                              .title = "u-v",
                              .axis = {"u", "v"},
                              .n = {11, 11},
                              .at = {v, v},
                              .value = "level_db",
                              .level = map,
                              .floor = -50};
    assert_int_equal(ec_output_folder(r->folder), EC_OK);
    assert_int_equal(ec_output_plot(&cut, r->folder, &plotted, NULL), EC_OK);
    char *text = read_file(r->folder, "pattern.csv");
    assert_int_equal(strncmp(text, "u,level_db\n-1,", 14), 0);
    assert_non_null(strstr(text, ",nan\n"));
    free(text);
    text = read_file(r->folder, "pattern.gp");
    assert_non_null(strstr(text, "'it''s a cut'"));
    assert_non_null(strstr(text, "set yrange [-70:-10]"));
    assert_non_null(strstr(text, "set ylabel 'level (dB)'"));
    assert_null(strstr(text, "missing")); /* lines would go on across a nan */
    free(text);
    snprintf(path, sizeof path, "%s/pattern.png", r->folder);
    assert_true(plotted == (stat(path, &info) == 0 && info.st_size > 1000));
    assert_int_equal(ec_output_plot(&grid, r->folder, &plotted, NULL), EC_OK);
    text = read_file(r->folder, "map.csv");
    assert_int_equal(strncmp(text, "u,v,level_db\n-1,-1,-0\n", 22), 0);
    free(text);
    text = read_file(r->folder, "map.gp");
    assert_non_null(strstr(text, "with image"));
    assert_non_null(strstr(text, "set cbrange [-50:0]"));
    assert_non_null(strstr(text, "set size ratio -1")); /* u and v have one scale */
    assert_null(strstr(text, "missing"));               /* an image needs every pixel */
    free(text);
    snprintf(path, sizeof path, "%s/map.png", r->folder);
    assert_true(plotted == (stat(path, &info) == 0));
    cut.name = "../up";
    assert_true(ec_output_plot(&cut, r->folder, NULL, NULL) == EC_ERR_ARGUMENT);
}

/* The limits of a mask are columns and lines; a peak that rounding puts above 0 dB changes no axis;
 * angles have no common scale. */
static void test_mask(void **state)
{
    run *r = *state;
    double theta[3] = {-90, 0, 90}, level[3] = {-20, 1e-15, -20}, map[9] = {0};
    double max[3] = {-13, NAN, -15}, min[3] = {NAN, -3, NAN};
    bool plotted = false;
    struct stat info;
    char path[1024];
    ec_output_pattern cut = {.name = "masked",
                             .axis = {"theta_deg", NULL},
                             .n = {3, 0},
                             .at = {theta, NULL},
                             .value = "level_db",
                             .level = level,
                             .floor = NAN,
                             .max_db = max,
                             .min_db = min};
    ec_output_pattern grid = {.name = "angles",
                              .axis = {"theta_deg", "phi_deg"},
                              .n = {3, 3},
                              .at = {theta, theta},
                              .value = "level_db",
                              .level = map,
                              .floor = NAN};

    assert_int_equal(ec_output_folder(r->folder), EC_OK);
    assert_int_equal(ec_output_plot(&cut, r->folder, &plotted, NULL), EC_OK);
    char *text = read_file(r->folder, "masked.csv");
    assert_string_equal(text, "theta_deg,level_db,max_db,min_db\n-90,-20,-13,nan\n"
                              "0,1.0000000000000001e-15,nan,-3\n90,-20,-15,nan\n");
    free(text);
    text = read_file(r->folder, "masked.gp");
    assert_non_null(strstr(text, "set xrange [-90:90]\nset yrange [-60:0]"));
    assert_non_null(strstr(text, "using 1:3 every ::1 with lines"));
    assert_non_null(strstr(text, "using 1:4 every ::1 with lines"));
    free(text);
    snprintf(path, sizeof path, "%s/masked.png", r->folder);
    assert_true(plotted == (stat(path, &info) == 0 && info.st_size > 1000));
    assert_int_equal(ec_output_plot(&grid, r->folder, NULL, NULL), EC_OK);
    text = read_file(r->folder, "angles.gp");
    assert_null(strstr(text, "ratio"));
    free(text);
    cut.min_db = NULL;
    assert_int_equal(ec_output_plot(&cut, r->folder, NULL, NULL), EC_ERR_ARGUMENT);
    grid.max_db = grid.min_db = max;
    assert_int_equal(ec_output_plot(&grid, r->folder, NULL, NULL), EC_ERR_ARGUMENT);
}

static void told(void *user, ec_log_level level, const char *text)
{
    (void)level;
    strncat((char *)user, text, 999);
}

static void test_no_gnuplot(void **state)
{
    run *r = *state;
    double u[2] = {0, 1}, level[2] = {0, -10};
    char words[2000] = "", *path = strdup(getenv("PATH"));
    bool plotted = true;
    ec_log log = {EC_LOG_INFO, told, words};
    ec_output_pattern cut = {.name = "pattern",
                             .axis = {"u", NULL},
                             .n = {2, 0},
                             .at = {u, NULL},
                             .value = "level_db",
                             .level = level,
                             .floor = NAN};

    assert_int_equal(ec_output_folder(r->folder), EC_OK);
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(ec_output_plot(&cut, r->folder, &plotted, &log), EC_OK);
    setenv("PATH", path, 1);
    free(path);
    assert_false(plotted);
    assert_non_null(strstr(words, "gnuplot"));
}

static void test_refusals(void **state)
{
    run *r = *state;
    char path[600];

    assert_int_equal(ec_output_folder(r->folder), EC_OK);
    snprintf(path, sizeof path, "%s/file", r->folder);
    assert_int_equal(ec_output_write(r->folder, "file", "abc", 3), EC_OK);
    char *text = read_file(r->folder, "file");
    assert_string_equal(text, "abc");
    free(text);
    assert_int_equal(ec_output_folder(path), EC_ERR_FILE);
    strcat(path, "/below");
    assert_int_equal(ec_output_folder(path), EC_ERR_FILE);
    assert_non_null(strstr(ec_error_text(), "file"));
    assert_int_equal(ec_output_write(path, "x", "abc", 3), EC_ERR_FILE);
    assert_int_equal(ec_output_folder("/proc/nothing/here"), EC_ERR_FILE);
    assert_int_equal(ec_output_folder(""), EC_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_csv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mask, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_gnuplot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
