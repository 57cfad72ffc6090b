/* test_checkpoint.c: searches that are killed at a random moment, by SIGKILL in a process of their
 * own, go on to the bits of an unbroken run: every method of the table. And what is refused.
 *
 * ECITON_KILLS says how often each method is killed (default 3, of NLopt 1). */
#include "job.h"
#include "run_store.h"
#include "solve.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

enum { GENES = 6, GENERATIONS = 100, POPULATION = 24 };

static char folder[] = "/tmp/eciton_checkpoint_XXXXXX";
static const char *program;

typedef struct problem {
    ec_graph *graph;
    ec_job *job;
    ec_backend *backend;
} problem;

static int check(int status)
{
    if (status < 0)
        fprintf(stderr, "%s: %s\n", ec_status_name(status), ec_error_text());
    return status;
}

/* A smooth cost with many minima and one constraint; for methods of bits, binary variables too. */
static int create(problem *p, const char *name, bool bits, int objectives, bool limited)
{
    static const double min[GENES] = {-4, -4, -4, -4, -4, -4}, max[GENES] = {5, 5, 5, 5, 5, 5};
    ec_backend_info backend = {.name = "cpu", .threads = 1};
    ec_variable_info real = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = GENES, .min = min, .max = max, .sum = -1};
    ec_variable_info binary = {.name = "b", .kind = EC_VARIABLE_BINARY, .count = 12, .sum = -1};

    memset(p, 0, sizeof *p);
    if (check(ec_graph_create(&p->graph)) < 0 ||
        check(ec_job_create(p->graph, name, 7, &p->job)) < 0 ||
        check(ec_backend_create(&backend, &p->backend)) < 0 ||
        check(ec_job_add_variable(p->job, bits ? &binary : &real)) < 0)
        return -1;
    ec_graph *g = p->graph;
    ec_expr x = ec_job_variable(p->job, 0)->value, one = ec_graph_number(g, 0.7);
    ec_expr d = ec_graph_binary(g, EC_OP_SUB, x, one);
    ec_expr waves =
        ec_graph_unary(g, EC_OP_COS, ec_graph_binary(g, EC_OP_MUL, d, ec_graph_number(g, 5)));
    ec_expr cost = ec_graph_unary(
        g, EC_OP_SUM, ec_graph_binary(g, EC_OP_SUB, ec_graph_unary(g, EC_OP_SQUARE, d), waves));
    ec_constraint limit = {.expr = ec_graph_slice(g, x, 0, 0),
                           .min = 0.2,
                           .max = INFINITY,
                           .tolerance = 0,
                           .scale = 1};
    if (check(ec_job_add_objective(p->job, "f", cost, false, 0)) < 0)
        return -1;
    if (objectives > 1 &&
        check(ec_job_add_objective(p->job, "g", ec_graph_unary(g, EC_OP_SUM, x), false, 0)) < 0)
        return -1;
    return limited ? check(ec_job_add_constraint(p->job, "limit", &limit)) : EC_OK;
}

static void destroy(problem *p)
{
    ec_job_destroy(&p->job);
    ec_graph_destroy(&p->graph);
    ec_backend_destroy(&p->backend);
}

/* Where a method needs another problem than real variables with one constraint. */
static bool takes_bits(const char *method)
{
    return strcmp(method, "aco") == 0;
}

static int takes_objectives(const ec_optimizer_def *def)
{
    return def->flags & EC_OPTIMIZER_FRONT ? 2 : 1;
}

static void settings(ec_solve_info *info, const char *method, ec_store *store)
{
    ec_solve_info_default(info);
    info->method = method;
    info->population = POPULATION;
    info->generations = GENERATIONS;
    info->store = store;
    info->store_number = 1;
    /* at looks, of which each of the first 64 generations is one */
    info->checkpoint_seconds = 2e-3;
    /* each policy with a third of the methods */
    info->kept_designs = (ec_kept_designs)(method[strlen(method) - 1] % 3);
    info->identity = 42;
}

static ec_store *open_store(const char *path)
{
    ec_store *store = NULL;

    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return NULL;
    return check(ec_store_open(path, EC_STORE_WRITE, NULL, &store)) < 0 ? NULL : store;
}

/* The store is that of the folder `path`. */
static int run(const char *method, const char *path, bool resume, ec_result **result)
{
    const ec_optimizer_def *def = ec_optimizer_find(method);
    problem p;
    ec_solve_info info;
    ec_store *store = open_store(path);

    if (!store)
        return EC_ERR_FILE;
    /* Without the constraint where the method takes none; not at all where it is not built. */
    int status = EC_ERR_UNSUPPORTED;
    for (int limited = 1; limited >= 0 && status == EC_ERR_UNSUPPORTED; limited--) {
        status = create(&p, "job", takes_bits(method), takes_objectives(def), limited == 1);
        if (status >= 0) {
            settings(&info, method, store);
            info.resume = resume;
            status = ec_solve(p.job, p.backend, &info, result);
        }
        destroy(&p);
    }
    ec_store_close(&store);
    return status;
}

/* What a process that is killed does. */
static int child(const char *method, const char *path)
{
    ec_result *result = NULL;

    return check(run(method, path, false, &result)) < 0;
}

static void pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};

    nanosleep(&t, NULL);
}

static void run_and_kill(const char *method, const char *path, double seconds)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        execl(program, program, "child", method, path, (char *)NULL);
        _exit(3);
    }
    pause_for(seconds);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void assert_same(const ec_result *a, const ec_result *b)
{
    assert_int_equal(a->stop, b->stop);
    assert_int_equal(a->generations, b->generations);
    assert_int_equal(a->evaluations, b->evaluations);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->n_genes, b->n_genes);
    assert_memory_equal(a->genes, b->genes, (size_t)a->n_genes * sizeof(double));
    assert_memory_equal(a->objective_final, b->objective_final,
                        (size_t)a->n_objectives * sizeof(double));
    assert_int_equal(a->front.n, b->front.n);
    for (int32_t i = 0; i < a->front.n * a->n_objectives; i++)
        assert_true(a->front.objective_final[i] == b->front.objective_final[i]);
    assert_int_equal(a->n_history, b->n_history);
    for (size_t i = 0; i < a->n_history; i++) {
        ec_history_row x = a->history[i], y = b->history[i];
        assert_int_equal(x.generation, y.generation);
        assert_int_equal(x.evaluations, y.evaluations);
        assert_memory_equal(&x.best, &y.best, sizeof x.best);
        assert_memory_equal(&x.median, &y.median, sizeof x.median);
        assert_memory_equal(&x.spread, &y.spread, sizeof x.spread);
    }
}

static bool has_state(const char *path)
{
    ec_store *store = ec_store_exists(path) ? open_store(path) : NULL;
    void *bytes = NULL;
    size_t size = 0;

    if (store)
        ec_store_checkpoint_get(store, 1, &bytes, &size);
    ec_store_close(&store);
    free(bytes);
    return bytes != NULL;
}

static int hash_cells(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    uint64_t *hash = (uint64_t *)user;

    (void)names;
    for (int i = 0; i < n; i++) {
        const char *bytes = cells[i].text ? cells[i].text : (const char *)&cells[i].number;
        size_t size = cells[i].text ? cells[i].size : sizeof cells[i].number;
        for (size_t k = 0; k < size && cells[i].kind != EC_CELL_NULL; k++)
            *hash = (*hash ^ (unsigned char)bytes[k]) * 0x100000001b3ull;
    }
    hash[1]++;
    return EC_OK;
}

/* Two runs left the same designs and the same history, but for the times. */
static void assert_same_store(const char *a, const char *b)
{
    static const char *const queries[] = {
        "SELECT * FROM designs_1 ORDER BY id",
        "SELECT generation, evaluations, failed, best, median, spread, feasible, population"
        " FROM history WHERE kept ORDER BY generation"};

    for (int q = 0; q < 2; q++) {
        uint64_t hash[2][2] = {{1, 0}, {1, 0}};
        for (int i = 0; i < 2; i++) {
            ec_store *store = open_store(i ? b : a);
            assert_non_null(store);
            assert_int_equal(check(ec_store_query(store, queries[q], 0, hash[i], hash_cells)),
                             EC_OK);
            ec_store_close(&store);
        }
        assert_true(hash[0][1] > 0);
        assert_int_equal(hash[0][1], hash[1][1]);
        assert_true(hash[0][0] == hash[1][0]);
    }
}

static void test_kill(void **state)
{
    const char *text = getenv("ECITON_KILLS");
    unsigned chance = (unsigned)getpid();

    (void)state;
    for (const ec_optimizer_def *const *def = ec_optimizer_table(); *def; def++) {
        const char *method = (*def)->name;
        /* NLopt's methods go on in one way, all of them */
        const int kills = text ? atoi(text) : strncmp(method, "nlopt_", 6) == 0 ? 1 : 3;
        ec_result *whole = NULL, *mended = NULL;
        int gone_on = 0;
        struct timespec begin, end;

        clock_gettime(CLOCK_MONOTONIC, &begin);
        char path[200], killed[220];
        snprintf(path, sizeof path, "%s/%s", folder, method);
        if ((*def)->flags & EC_OPTIMIZER_UNREPEATABLE) {
            printf("%s: not the same bits twice, by the library behind it\n", method);
            continue;
        }
        int first = run(method, path, false, &whole);
        if (first == EC_ERR_UNSUPPORTED) {
            printf("%s: %s\n", method, ec_error_text());
            continue;
        }
        if (check(first) < 0)
            fail_msg("%s", method);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double seconds =
            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        for (int i = 0; i < kills; i++) {
            snprintf(killed, sizeof killed, "%s_%d", path, i);
            chance = chance * 1103515245u + 12345u;
            run_and_kill(method, killed, 0.002 + seconds * 1.1 * (chance >> 8) / (1 << 24));
            gone_on += has_state(killed);
            if (check(run(method, killed, true, &mended)) < 0)
                fail_msg("%s", method);
            assert_same(whole, mended);
            assert_same_store(path, killed);
            ec_result_destroy(&mended);
        }
        printf("%s: %d of %d went on from a state\n", method, gone_on, kills);
        /* a finished one gives its result again */
        assert_true(check(run(method, path, true, &mended)) >= 0);
        assert_same(whole, mended);
        ec_result_destroy(&mended);
        ec_result_destroy(&whole);
    }
}

static void assert_refused(const char *method, ec_solve_info *info, const char *name,
                           const char *words)
{
    problem p;
    ec_result *result = NULL;

    assert_true(create(&p, name, false, 1, true) >= 0);
    info->method = method;
    assert_true(ec_solve(p.job, p.backend, info, &result) < 0);
    assert_null(result);
    if (!strstr(ec_error_text(), words))
        fail_msg("'%s' is not in '%s'", words, ec_error_text());
    destroy(&p);
}

/* Changes a byte of the state, from its end where `at` is negative; or only `size` bytes of it stay. */
static void change_state(ec_store *store, long at, size_t size)
{
    void *bytes = NULL;
    size_t whole = 0;

    assert_int_equal(check(ec_store_checkpoint_get(store, 1, &bytes, &whole)), EC_OK);
    assert_non_null(bytes);
    ((char *)bytes)[at < 0 ? (long)whole + at : at] ^= 1;
    assert_int_equal(check(ec_store_checkpoint_put(store, 1, bytes, size ? size : whole)), EC_OK);
    free(bytes);
}

static void test_refusals(void **state)
{
    char path[200];
    ec_result *result = NULL;
    ec_solve_info info;
    problem p;

    (void)state;
    snprintf(path, sizeof path, "%s/refused", folder);
    assert_true(check(run("rand1bin", path, false, &result)) >= 0);
    ec_result_destroy(&result);
    ec_store *store = open_store(path);
    assert_non_null(store);

    settings(&info, "rand1bin", store);
    info.resume = true;
    info.identity = 43;
    assert_refused("rand1bin", &info, "job", "another script");
    info.identity = 42;
    assert_refused("best1bin", &info, "job", "'rand1bin'");
    assert_refused("rand1bin", &info, "other", "other settings");
    info.generations = GENERATIONS + 1;
    assert_refused("rand1bin", &info, "job", "other settings");
    info.force = true; /* it would not fit */
    assert_refused("rand1bin", &info, "job", "other settings");
    info.force = false;
    info.generations = GENERATIONS;
    info.seed = 8;
    info.seed_given = true;
    assert_refused("rand1bin", &info, "job", "seed 7");
    info.seed_given = false;
    change_state(store, -20, 0);
    assert_refused("rand1bin", &info, "job", "damaged");
    change_state(store, -20, 0);
    change_state(store, 8, 0); /* the format */
    assert_refused("rand1bin", &info, "job", "version");
    change_state(store, 8, 0);
    /* what was refused is still there, and another script may go on from it when asked to */
    info.identity = 43;
    info.force = true;
    info.method = "rand1bin";
    assert_true(create(&p, "job", false, 1, true) >= 0);
    assert_int_equal(check(ec_solve(p.job, p.backend, &info, &result)), EC_OK);
    assert_int_equal(result->generations, GENERATIONS);
    ec_result_destroy(&result);
    destroy(&p);
    info.force = false;
    change_state(store, 0, 20);
    assert_refused("rand1bin", &info, "job", "none that this program knows");
    ec_store_close(&store);
}

/* A store that cannot be written any more: the search goes on, and says so. */
static int warnings;

static void count_warnings(void *user, ec_log_level level, const char *text)
{
    (void)user;
    warnings += level >= EC_LOG_WARNING && strstr(text, "cannot be kept");
}

static void test_no_room(void **state)
{
    problem p;
    ec_solve_info info;
    ec_result *result = NULL;
    ec_log log = {EC_LOG_WARNING, count_warnings, NULL};
    char path[200], file[220];
    sqlite3 *db = NULL;

    (void)state;
    snprintf(path, sizeof path, "%s/no_room", folder);
    snprintf(file, sizeof file, "%s/run.db", path);
    ec_store *store = open_store(path);
    assert_non_null(store);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "CREATE TRIGGER full BEFORE INSERT ON checkpoint BEGIN SELECT"
                                  " RAISE(ABORT, 'no room'); END",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    warnings = 0;
    assert_true(create(&p, "job", false, 1, true) >= 0);
    settings(&info, "rand1bin", store);
    info.log = &log;
    assert_int_equal(ec_solve(p.job, p.backend, &info, &result), EC_OK);
    assert_int_equal(result->generations, GENERATIONS);
    assert_int_equal(warnings, 1);
    ec_result_destroy(&result);
    destroy(&p);
    ec_store_close(&store);
}

static int remove_folder(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_no_room)};

    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return child(argv[2], argv[3]);
    program = "/proc/self/exe";
    if (!mkdtemp(folder))
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
