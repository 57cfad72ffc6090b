/* test_report.c: the page of `eciton report` has the figures of the store, whatever the texts in it are;
 * how it tells of runs that did not end; what it leaves out; and what is refused. */
#include "job.h"
#include "run_store.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cJSON.h>
#include <cmocka.h>
#include <sqlite3.h>

#define PROGRAM EC_TEST_BINARY_DIR "/bin/eciton"

enum { LIST = 3, MANY = 60000, GRID = 300 };

static const char evil[] = "</script><script>\"\\\n\t<!-- \xff & \xc3\xa4";
static char folder[64];

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/eciton_report_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[200];

    (void)state;
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", folder, folder);
    return system(command);
}

/* Runs the command on the folder; the exit status. What it says on stderr is in `said`. */
static int report(const char *more, char *said, size_t size)
{
    char command[600];

    snprintf(command, sizeof command, "'%s' report '%s' %s 2>&1 >/dev/null", PROGRAM, folder, more);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    said[fread(said, 1, size - 1, from)] = '\0';
    int status = pclose(from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *read_page(const char *name)
{
    char path[200];
    struct stat info;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    char *text = calloc(1, (size_t)info.st_size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)info.st_size, file), info.st_size);
    fclose(file);
    return text;
}

/* The data of the page, which end where the script's element does. */
static cJSON *page_data(void)
{
    static const char begin[] = "<script type=\"application/json\" id=\"data\">";
    char said[1000];

    if (report("", said, sizeof said) != 0)
        fail_msg("%s", said);
    char *page = read_page("report.html");
    assert_true(strlen(page) < 8u << 20);
    assert_non_null(strstr(page, "plotly.js v2."));
    assert_null(strstr(page, "{{"));
    char *data = strstr(page, begin);
    assert_non_null(data);
    char *end = strstr(data, "</script>");
    assert_non_null(end);
    *end = '\0';
    cJSON *json = cJSON_ParseWithOpts(data + strlen(begin), NULL, true);
    assert_non_null(json);
    free(page);
    return json;
}

static const cJSON *get(const cJSON *from, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(from, name);

    if (!found)
        fail_msg("there is no %s", name);
    return found;
}

static void is_number(const cJSON *item, double value)
{
    assert_non_null(item);
    if (isfinite(value))
        assert_true(cJSON_IsNumber(item) && item->valuedouble == value);
    else
        assert_true(cJSON_IsNull(item));
}

/* ---- a store ---- */

static const double low[LIST] = {-1, -2, -1.0 / 3}, high[LIST] = {1, 0, 1e300};
static const ec_store_quantity quantities[] = {
    {"variable", evil, LIST, -2, 1e300, low, high, NULL},
    {"variable", "s", 0, 0, INFINITY, NULL, NULL, NULL},
    {"objective", "f \"0\"", 0, NAN, NAN, NULL, NULL, "maximize"},
    {"constraint", "g", 0, NAN, NAN, NULL, NULL, NULL},
    {"recorded", "r", 0, NAN, NAN, NULL, NULL, NULL}};
enum { QUANTITIES = sizeof quantities / sizeof *quantities, LENGTH = LIST + 4 };
static const double winner[LENGTH] = {0.1, -1.0 / 3, 1e-310, 5, -0.7, NAN, INFINITY};

/* A run with a search; `rows` designs of it beside the winner, which is there when the search ended. */
static void write_run(const char *status, int rows)
{
    ec_store *store = NULL;
    ec_store_table *designs = NULL;
    ec_store_setting setting = {.name = (char *)"n", .value = (char *)evil};
    ec_store_run run = {.script = (char *)"/a/script.lua",
                        .text = (char *)evil,
                        .backend = "cpu",
                        .settings = &setting,
                        .n_settings = 1};
    ec_store_search search = {.job = evil, .method = "de", .keep = "all", .population = 8};

    assert_int_equal(ec_store_open(folder, EC_STORE_WRITE, NULL, &store), EC_OK);
    assert_int_equal(ec_store_begin(store), EC_OK);
    assert_int_equal(ec_store_run_begin(store, &run), EC_OK);
    assert_int_equal(ec_store_search_begin(store, 1, &search, quantities, QUANTITIES, &designs),
                     EC_OK);
    for (int i = 0; i < rows; i++) {
        double values[LENGTH] = {i, i, i, i, i == rows - 1 ? -0.7 : i, NAN, NAN};
        ec_store_row row = {.values = values,
                            .generation = (uint32_t)i + 1,
                            .stage = i == 1 ? "failed" : "search",
                            .status = i == 1,
                            .violation = i == 1 ? NAN : 0};
        assert_int_equal(ec_store_table_add(designs, &row, 1), EC_OK);
    }
    for (uint32_t g = 1; g <= 3; g++) {
        ec_history_row row = {.generation = g,
                              .evaluations = 8 * g,
                              .best = g == 3 ? -0.7 : 1.0 / g,
                              .median = NAN,
                              .spread = INFINITY};
        assert_int_equal(ec_store_history_add(store, 1, &row, g != 2), EC_OK);
    }
    if (strcmp(status, "finished") == 0) {
        ec_store_row row = {.values = winner, .generation = 3, .stage = "winner", .violation = 0};
        ec_result result = {.generations = 3, .evaluations = 24};
        snprintf(result.message, sizeof result.message, "all of it was used");
        assert_int_equal(ec_store_table_add(designs, &row, 1), EC_OK);
        assert_int_equal(ec_store_search_end(store, 1, &result), EC_OK);
    }
    if (strcmp(status, "running") != 0)
        assert_int_equal(ec_store_run_end(store, status), EC_OK);
    assert_int_equal(ec_store_commit(store), EC_OK);
    ec_store_table_close(&designs);
    ec_store_close(&store);
}

/* Elements whose bounds differ have them one by one; where they are alike there is one of each. */
static void test_bounds(void **state)
{
    static const double from[] = {2, 2, 1}, to[] = {4, 6, 6};
    static const ec_variable_info info[] = {
        {.name = "x", .kind = EC_VARIABLE_REAL, .count = 2, .min = from, .max = to},
        {.name = "n", .kind = EC_VARIABLE_INTEGER, .count = 2, .min = from + 1, .max = to + 1},
        {.name = "a", .kind = EC_VARIABLE_REAL, .count = 2, .min = from, .max = to + 1},
        {.name = "y", .kind = EC_VARIABLE_REAL, .min = from, .max = to}};
    ec_graph *graph = NULL;
    ec_job *job = NULL;

    (void)state;
    assert_int_equal(ec_graph_create(&graph), EC_OK);
    assert_int_equal(ec_job_create(graph, "job", 1, &job), EC_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ec_job_add_variable(job, &info[i]), i);
        const ec_store_quantity q = ec_store_variable(job, i);
        assert_string_equal(q.kind, "variable");
        assert_string_equal(q.name, info[i].name);
        assert_int_equal(q.length, info[i].count);
        assert_int_equal(q.element_min != NULL, i < 2);
        assert_int_equal(q.element_max != NULL, i < 2);
        for (int k = 0; k < info[i].count && i < 2; k++)
            assert_true(q.element_min[k] == info[i].min[k] && q.element_max[k] == info[i].max[k]);
        assert_true(i < 2 || (q.min == info[i].min[0] && q.max == info[i].max[0]));
    }
    ec_job_destroy(&job);
    ec_graph_destroy(&graph);
}

static void test_figures(void **state)
{
    static const char shown[] = "</script><script>\"\\\n\t<!-- \xef\xbf\xbd & \xc3\xa4";

    (void)state;
    write_run("finished", 4);
    cJSON *json = page_data();
    const cJSON *run = get(json, "run"), *search = cJSON_GetArrayItem(get(json, "searches"), 0);
    assert_string_equal(get(run, "status")->valuestring, "finished");
    assert_string_equal(get(run, "text")->valuestring, shown);
    assert_string_equal(
        cJSON_GetArrayItem(cJSON_GetArrayItem(get(run, "settings"), 0), 1)->valuestring, shown);
    const cJSON *about = cJSON_GetArrayItem(get(search, "about"), 0);
    assert_string_equal(get(about, "job")->valuestring, shown);
    assert_string_equal(get(about, "message")->valuestring, "all of it was used");
    /* the winner has the store's doubles, nothing else than numbers is null */
    const cJSON *best = get(search, "winner"), *values = get(best, "values");
    assert_string_equal(get(best, "stage")->valuestring, "winner");
    assert_int_equal(cJSON_GetArraySize(values), QUANTITIES);
    for (int k = 0; k < LIST; k++)
        is_number(cJSON_GetArrayItem(cJSON_GetArrayItem(values, 0), k), winner[k]);
    for (int k = LIST; k < LENGTH; k++)
        is_number(cJSON_GetArrayItem(values, k - LIST + 1), winner[k]);
    const cJSON *bounds = cJSON_GetArrayItem(get(search, "quantities"), 0);
    for (int k = 0; k < LIST; k++) {
        is_number(cJSON_GetArrayItem(get(bounds, "minimum"), k), low[k]);
        is_number(cJSON_GetArrayItem(get(bounds, "maximum"), k), high[k]);
    }
    bounds = cJSON_GetArrayItem(get(search, "quantities"), 1);
    is_number(get(bounds, "minimum"), 0);
    assert_true(cJSON_IsNull(get(bounds, "goal")));
    assert_string_equal(get(cJSON_GetArrayItem(get(search, "quantities"), 2), "goal")->valuestring,
                        "maximize");
    is_number(get(bounds, "maximum"), NAN);
    /* of the history the rows that history.csv has */
    const cJSON *rows = get(get(search, "history"), "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 2);
    is_number(cJSON_GetArrayItem(cJSON_GetArrayItem(rows, 1), 0), 3);
    is_number(cJSON_GetArrayItem(cJSON_GetArrayItem(rows, 1), 1), 24);
    is_number(cJSON_GetArrayItem(cJSON_GetArrayItem(rows, 1), 4), -0.7);
    is_number(cJSON_GetArrayItem(cJSON_GetArrayItem(rows, 1), 5), NAN);
    /* all designs, as so many do fit */
    const cJSON *designs = get(search, "designs");
    is_number(get(designs, "total"), 5);
    is_number(get(designs, "shown"), 5);
    is_number(cJSON_GetArrayItem(get(designs, "status"), 1), 1);
    is_number(cJSON_GetArrayItem(get(designs, "violation"), 1), NAN);
    const cJSON *second = cJSON_GetArrayItem(get(designs, "values"), 3);
    is_number(cJSON_GetArrayItem(second, 2), 2);
    is_number(cJSON_GetArrayItem(second, 4), 5);
    const cJSON *reason = cJSON_GetArrayItem(get(search, "reasons"), 0);
    assert_string_equal(get(reason, "reason")->valuestring, "not_finite");
    is_number(get(reason, "n"), 1);
    cJSON_Delete(json);
}

/* The best so far is the design with the history's best figure. */
static void test_unfinished(void **state)
{
    static const char *const words[] = {"running", "interrupted", "failed"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        write_run(words[i], 4);
        cJSON *json = page_data();
        assert_string_equal(get(get(json, "run"), "status")->valuestring, words[i]);
        const cJSON *search = cJSON_GetArrayItem(get(json, "searches"), 0);
        assert_true(cJSON_IsNull(get(cJSON_GetArrayItem(get(search, "about"), 0), "ended")));
        const cJSON *best = get(search, "winner");
        assert_string_equal(get(best, "stage")->valuestring, "search");
        is_number(cJSON_GetArrayItem(get(best, "values"), 1), 3);
        cJSON_Delete(json);
    }
}

/* ---- what is thinned ---- */

static const cJSON *file_named(const cJSON *json, const char *name)
{
    const cJSON *file;

    cJSON_ArrayForEach(file, get(json, "files")) if (strcmp(get(file, "name")->valuestring, name) ==
                                                     0) return file;
    fail_msg("there is no %s", name);
    return NULL;
}

static FILE *new_file(const char *name)
{
    char path[200];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    return file;
}

static void test_large(void **state)
{
    (void)state;
    write_run("finished", MANY);
    FILE *file = new_file("map.csv");
    fputs("u,v,level_db\r\n", file);
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < 2 * GRID; j++)
            fprintf(file, "%d,%d,%d\r\n", i, j, 1000 * i + j);
    fclose(file);
    cJSON *json = page_data();
    const cJSON *designs = get(cJSON_GetArrayItem(get(json, "searches"), 0), "designs");
    int shown = get(designs, "shown")->valueint;
    is_number(get(designs, "total"), MANY + 1);
    assert_in_range(shown, 5000, MANY / 2);
    assert_int_equal(cJSON_GetArraySize(get(designs, "stage")), shown);
    is_number(cJSON_GetArrayItem(get(designs, "stage"), shown - 1), 2); /* the winner stays */
    /* of the map whole lines of both axes */
    const cJSON *map = file_named(json, "map.csv"), *values = get(map, "values");
    int n[2] = {cJSON_GetArrayItem(get(map, "grid"), 0)->valueint,
                cJSON_GetArrayItem(get(map, "grid"), 1)->valueint};
    is_number(get(map, "total"), 2.0 * GRID * GRID);
    is_number(get(map, "shown"), n[0] * n[1]);
    assert_in_range(n[0] * n[1], 10000, 100000);
    const cJSON *axis[2] = {cJSON_GetArrayItem(values, 0), cJSON_GetArrayItem(values, 1)},
                *level = cJSON_GetArrayItem(values, 2);
    assert_int_equal(cJSON_GetArraySize(axis[0]), n[0]);
    assert_int_equal(cJSON_GetArraySize(axis[1]), n[1]);
    assert_int_equal(cJSON_GetArraySize(level), n[0] * n[1]);
    double at = 1000 * cJSON_GetArrayItem(axis[0], n[0] / 3)->valuedouble +
                cJSON_GetArrayItem(axis[1], n[1] / 2)->valuedouble;
    is_number(cJSON_GetArrayItem(level, n[0] / 3 * n[1] + n[1] / 2), at);
    cJSON_Delete(json);
}

/* ---- files ---- */

static void test_files(void **state)
{
    static const struct {
        const char *name, *text;
    } files[] = {{"a.csv", "x,\"y \"\"1\"\", m\",t\n1,nan,\"</script>,\"\n-2.5,inf,\n"},
                 {"short.csv", "a,b\n1,2\n3\n"},
                 {"empty.csv", ""},
                 {"best.csv", "name\nx\n"}};

    (void)state;
    write_run("finished", 2);
    for (int i = 0; i < 4; i++) {
        FILE *file = new_file(files[i].name);
        fputs(files[i].text, file);
        fclose(file);
    }
    cJSON *json = page_data();
    assert_int_equal(cJSON_GetArraySize(get(json, "files")), 3); /* best.csv is the winner */
    const cJSON *a = file_named(json, "a.csv"), *values = get(a, "values");
    assert_true(cJSON_IsNull(get(a, "why")) && cJSON_IsNull(get(a, "grid")));
    assert_string_equal(cJSON_GetArrayItem(get(a, "columns"), 1)->valuestring, "y \"1\", m");
    is_number(cJSON_GetArrayItem(cJSON_GetArrayItem(values, 0), 1), -2.5);
    is_number(cJSON_GetArrayItem(cJSON_GetArrayItem(values, 1), 0), NAN);
    is_number(cJSON_GetArrayItem(cJSON_GetArrayItem(values, 1), 1), NAN);
    assert_string_equal(cJSON_GetArrayItem(cJSON_GetArrayItem(values, 2), 0)->valuestring,
                        "</script>,");
    assert_true(cJSON_IsNull(cJSON_GetArrayItem(cJSON_GetArrayItem(values, 2), 1)));
    assert_non_null(
        strstr(get(file_named(json, "short.csv"), "why")->valuestring, "differ in length"));
    assert_non_null(strstr(get(file_named(json, "empty.csv"), "why")->valuestring, "empty"));
    cJSON_Delete(json);
}

/* Of a long list of paths the strongest of each pair stay. */
static void test_paths_and_scene(void **state)
{
    enum { PAIRS = 4000, RANKS = 20, SIDE = 200 };

    (void)state;
    write_run("finished", 2);
    FILE *file = new_file("paths.csv");
    fputs("rx,tx,path,gain_db\n", file);
    for (int i = 0; i < PAIRS; i++)
        for (int k = 1; k <= RANKS; k++)
            fprintf(file, "1,%d,%d,%d\n", i, k, -k);
    fclose(file);
    file = new_file("scene.vtk");
    fputs("# vtk\nPOINTS 4 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1.5\nPOLYGONS 2 8\n3 0 1 2\n3 0 2 3\n",
          file);
    fclose(file);
    file = new_file("scene_2.vtk"); /* a corner that is not there */
    fputs("# vtk\nPOINTS 1 double\n0 0 0\nPOLYGONS 1 4\n3 0 0 1\n", file);
    fclose(file);
    file = new_file("scene_3.vtk"); /* a sheet of very many triangles, and a large one above it */
    fprintf(file, "# vtk\nPOINTS %d double\n", SIDE * SIDE + 3);
    for (int i = 0; i < SIDE * SIDE; i++)
        fprintf(file, "%d %d 0\n", i % SIDE, i / SIDE);
    fprintf(file, "0 0 100\n%d 0 100\n0 %d 100\nPOLYGONS %d 4\n", SIDE - 1, SIDE - 1,
            2 * (SIDE - 1) * (SIDE - 1) + 1);
    for (int i = 0; i < SIDE * (SIDE - 1); i++)
        if (i % SIDE < SIDE - 1)
            fprintf(file, "3 %d %d %d\n3 %d %d %d\n", i, i + 1, i + SIDE, i + 1, i + SIDE + 1,
                    i + SIDE);
    fprintf(file, "3 %d %d %d\n", SIDE * SIDE, SIDE * SIDE + 1, SIDE * SIDE + 2);
    fclose(file);
    cJSON *json = page_data();
    const cJSON *paths = file_named(json, "paths.csv");
    int strongest = get(paths, "strongest")->valueint;
    assert_in_range(strongest, 3, RANKS - 1);
    is_number(get(paths, "total"), PAIRS * RANKS);
    is_number(get(paths, "shown"), PAIRS * strongest);
    const cJSON *rank = cJSON_GetArrayItem(get(paths, "values"), 2);
    is_number(cJSON_GetArrayItem(rank, strongest - 1), strongest);
    is_number(cJSON_GetArrayItem(rank, strongest), 1);
    const cJSON *scene = cJSON_GetArrayItem(get(json, "scenes"), 0);
    assert_true(cJSON_IsNull(get(scene, "why")));
    is_number(cJSON_GetArrayItem(get(scene, "z"), 3), 1.5);
    is_number(cJSON_GetArrayItem(get(scene, "k"), 0), 2);
    is_number(cJSON_GetArrayItem(get(scene, "j"), 1), 2);
    assert_non_null(strstr(get(cJSON_GetArrayItem(get(json, "scenes"), 1), "why")->valuestring,
                           "none of points and triangles"));
    /* of the large scene the whole extent is there, and the area of its sheet and of its large triangle */
    scene = cJSON_GetArrayItem(get(json, "scenes"), 2);
    assert_true(cJSON_IsNull(get(scene, "why")));
    is_number(get(scene, "total"), 2 * (SIDE - 1) * (SIDE - 1) + 1);
    const int shown = get(scene, "shown")->valueint;
    assert_in_range(shown, 5000, 30000);
    assert_int_equal(cJSON_GetArraySize(get(scene, "i")), shown);
    double area = 0, (*at)[3] = calloc(3u * (size_t)shown, sizeof *at);
    static const char *const corner[] = {"i", "j", "k"}, *const axis[] = {"x", "y", "z"};
    assert_non_null(at);
    double *place[3] = {NULL, NULL, NULL};
    const int points = cJSON_GetArraySize(get(scene, "x"));
    for (int c = 0; c < 3; c++) {
        const cJSON *item;
        int n = 0;
        place[c] = calloc((size_t)points, sizeof(double));
        assert_non_null(place[c]);
        cJSON_ArrayForEach(item, get(scene, axis[c])) place[c][n++] = item->valuedouble;
    }
    for (int c = 0; c < 3; c++) {
        const cJSON *item;
        int n = 0;
        cJSON_ArrayForEach(item, get(scene, corner[c]))
        {
            assert_in_range(item->valueint, 0, points - 1);
            for (int k = 0; k < 3; k++)
                at[3 * n + c][k] = place[k][item->valueint];
            n++;
        }
    }
    for (int i = 0; i < shown; i++) {
        double(*t)[3] = at + 3 * i;
        area += 0.5 * fabs((t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) -
                           (t[1][1] - t[0][1]) * (t[2][0] - t[0][0]));
    }
    assert_true(fabs(area / (1.5 * (SIDE - 1) * (SIDE - 1)) - 1) < 0.03);
    for (int c = 0; c < 3; c++)
        free(place[c]);
    free(at);
    cJSON_Delete(json);
}

/* Files of further searches, and S-parameters that are in a Touchstone file alone. */
static void test_folders(void **state)
{
    char path[100];
    ec_store *store = NULL;
    ec_store_table *designs = NULL;
    ec_store_search search = {.job = "again", .method = "de", .keep = "best", .population = 8};

    (void)state;
    write_run("running", 2);
    assert_int_equal(ec_store_open(folder, EC_STORE_WRITE, NULL, &store), EC_OK);
    assert_int_equal(ec_store_begin(store), EC_OK);
    assert_int_equal(ec_store_search_begin(store, 2, &search, quantities, QUANTITIES, &designs),
                     EC_OK);
    assert_int_equal(ec_store_commit(store), EC_OK);
    ec_store_table_close(&designs);
    ec_store_close(&store);
    snprintf(path, sizeof path, "%s/search_2", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    FILE *file = new_file("search_2/pattern.csv");
    fputs("u,level_db\n0,0\n1,-20\n", file);
    fclose(file);
    file = new_file("search_2/best.csv");
    fputs("name\nx\n", file);
    fclose(file);
    file = new_file("search_2/scene.vtk");
    fputs("# vtk\nPOINTS 3 double\n0 0 0\n1 0 0\n0 1 0\nPOLYGONS 1 4\n3 0 1 2\n", file);
    fclose(file);
    static const char touchstone[] = "# GHz S MA R 50\n1 0.5 0 0.1 90 0.01 -90 1 45\n";
    static const char *const names[] = {"a.s2p", "b.s2p", "b.csv", "c.s3p"};
    for (int i = 0; i < 4; i++) {
        file = new_file(names[i]);
        fputs(i == 2 ? "frequency_hz,s_1_1_db\n1,0\n" : touchstone, file);
        fclose(file);
    }
    cJSON *json = page_data();
    assert_int_equal(cJSON_GetArraySize(get(json, "files")), 4);
    const cJSON *values = get(file_named(json, "search_2/pattern.csv"), "values");
    is_number(cJSON_GetArrayItem(cJSON_GetArrayItem(values, 1), 1), -20);
    assert_string_equal(get(cJSON_GetArrayItem(get(json, "scenes"), 0), "name")->valuestring,
                        "search_2/scene.vtk");
    file_named(json, "b.csv"); /* in the place of b.s2p */
    assert_non_null(strstr(get(file_named(json, "c.s3p"), "why")->valuestring, "Touchstone"));
    static const struct {
        const char *column;
        double value;
    } wanted[] = {{"frequency_hz", 1e9},    {"s_1_1_db", -6.020600}, {"s_1_1_phase_deg", 0},
                  {"s_2_1_db", -20},        {"s_2_1_phase_deg", 90}, {"s_1_2_db", -40},
                  {"s_1_2_phase_deg", -90}, {"s_2_2_db", 0},         {"s_2_2_phase_deg", 45}};
    const cJSON *a = file_named(json, "a.s2p");
    assert_int_equal(cJSON_GetArraySize(get(a, "columns")), 9);
    for (int i = 0; i < 9; i++) {
        assert_string_equal(cJSON_GetArrayItem(get(a, "columns"), i)->valuestring,
                            wanted[i].column);
        const cJSON *value = cJSON_GetArrayItem(cJSON_GetArrayItem(get(a, "values"), i), 0);
        assert_true(fabs(value->valuedouble - wanted[i].value) <= 1e-5);
    }
    cJSON_Delete(json);
}

/* What the page's script reads without asking whether it is there. */
static void test_members(void **state)
{
    static const char *const page[] = {"format", "version",        "written", "folder",
                                       "run",    "searches",       "sweeps",  "scenes",
                                       "files",  "files_left_out", NULL};
    static const char *const run[] = {"quick",    "status",  "version", "script", "text",
                                      "data",     "backend", "device",  "isa",    "seed",
                                      "settings", "started", "ended",   NULL};
    static const char *const search[] = {"number", "about",   "quantities", "history",
                                         "winner", "designs", "reasons",    NULL};
    static const char *const about[] = {"job",         "method",  "population", "seed",
                                        "evaluations", "failed",  "seconds",    "ended",
                                        "stop",        "message", "keep",       NULL};
    static const char *const quantity[] = {"kind",    "name", "length", "minimum",
                                           "maximum", "goal", NULL};
    static const char *const history[] = {"total", "columns", "rows", NULL};
    static const char *const winner_of[] = {"generation", "stage",  "status", "reason",
                                            "violation",  "values", NULL};
    static const char *const designs[] = {"total",  "shown",     "columns", "generation", "stage",
                                          "status", "violation", "values",  NULL};
    static const char *const file_of[] = {"name", "why",    "columns", "total", "strongest",
                                          "grid", "values", "shown",   NULL};
    static const char *const columns[] = {"generation", "evaluations", "failed",    "best",
                                          "median",     "spread",      "violation", "hypervolume"};

    (void)state;
    write_run("finished", 4);
    FILE *file = new_file("a.csv");
    fputs("x,y\n1,2\n", file);
    fclose(file);
    cJSON *json = page_data();
    const cJSON *s = cJSON_GetArrayItem(get(json, "searches"), 0);
    const struct {
        const cJSON *of;
        const char *const *names;
    } parts[] = {{json, page},
                 {get(json, "run"), run},
                 {s, search},
                 {cJSON_GetArrayItem(get(s, "about"), 0), about},
                 {cJSON_GetArrayItem(get(s, "quantities"), 0), quantity},
                 {get(s, "history"), history},
                 {get(s, "winner"), winner_of},
                 {get(s, "designs"), designs},
                 {file_named(json, "a.csv"), file_of}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (int k = 0; parts[i].names[k]; k++)
            get(parts[i].of, parts[i].names[k]);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const cJSON *name;
        bool found = false;
        cJSON_ArrayForEach(name, get(get(s, "history"), "columns")) found =
            found || strcmp(name->valuestring, columns[i]) == 0;
        if (!found)
            fail_msg("the history has no %s", columns[i]);
    }
    assert_string_equal(get(json, "format")->valuestring, "eciton report 1");
    cJSON_Delete(json);
}

/* ---- refused ---- */

static void refuses(const char *more, int status, const char *text)
{
    char said[2000];

    int got = report(more, said, sizeof said);
    if (got != status || !strstr(said, text))
        fail_msg("exit status %d, '%s' is missing in '%s'", got, text, said);
}

static void test_refuses(void **state)
{
    char path[100];
    sqlite3 *db = NULL;

    (void)state;
    refuses("", 1, "holds no run: there is no");
    write_run("finished", 1);
    refuses("more", 2, "eciton report DIR [--output FILE], got 'more'");
    refuses("--output", 2, "got '--output'");
    refuses("--output /nowhere/a.html", 1, "'/nowhere/a.html' cannot be written");
    refuses("--output /dev", 1, "it is a folder");
    /* a pipe stays one, and so does a device */
    struct stat info;
    char more[120];
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(more, sizeof more, "--output %s", path);
    refuses(more, 1, "it is no file");
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    snprintf(path, sizeof path, "%s/run.db", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "DROP TABLE designs_1", NULL, NULL, NULL);
    refuses("", 1, "designs_1"); /* half a page is not left */
    snprintf(path, sizeof path, "%s/report.html", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    strcat(path, ".part");
    assert_int_not_equal(access(path, F_OK), 0);
    sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL);
    sqlite3_close(db);
    refuses("", 1, "was written by a newer version of Eciton");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test_setup_teardown(test_figures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unfinished, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paths_and_scene, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folders, setup, teardown),
        cmocka_unit_test_setup_teardown(test_members, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refuses, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
