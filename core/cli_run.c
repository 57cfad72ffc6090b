/* eciton run and eciton check. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "cli_models.h"
#include "cli_options.h"
#include "cli_place.h"
#include "cli_progress.h"
#include "cli_report.h"
#include "cli_sweep.h"
#include "cli_watch.h"
#include "output.h"
#include "run_store.h"
#include "utf8.h"
#include "wall_clock.h"

/* Processor time of a script outside searches, and its memory; ample for building a graph. */
static const double SCRIPT_SECONDS = 10;
static const size_t SCRIPT_MEMORY = (size_t)1 << 30;

/* That a run waits for another one in its folder to begin a sweep that they share. */
static const double LOCK_SECONDS = 10;

/* The one thing a signal handler can reach. */
static volatile int interrupted;
static volatile sig_atomic_t caught;

static void on_signal(int signal)
{
    caught = signal;
    interrupted = 1;
}

/* The first signal ends the search, a second one the program. Whoever reads the output may go
 * away: the search goes on for the files, and the write that fails is told at the end. */
static void catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the write */
}

static double script_seconds(void)
{
    const char *text = getenv("ECITON_SCRIPT_SECONDS");
    double seconds = text ? strtod(text, NULL) : 0;
    return seconds > 0 ? seconds : SCRIPT_SECONDS;
}

typedef struct run_state {
    ec_cli_progress progress;
    ec_cli_report report;
    ec_store *store; /* of --out, or NULL */
    int lock;        /* the folder of --out, -1: not locked */
    bool alone;      /* no other run was there at the begin */
    bool missed;     /* a search ended without a design that could be scored */
    bool begun;      /* the folder of --out holds this run */
} run_state;

/* A text file, malloc'ed; NULL when it cannot be read. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0;
    FILE *to = file ? open_memstream(&text, &size) : NULL;
    char block[4096];
    for (size_t n; to && (n = fread(block, 1, sizeof block, file)) > 0;)
        fwrite(block, 1, n, to);
    if (to)
        fclose(to);
    if (file)
        fclose(file);
    return text;
}

/* Keeps what the run was started with, for `eciton resume`. */
static int begin_run(const ec_cli_options *o, ec_backend *backend, ec_store *store, bool alone)
{
    char *script = realpath(o->script, NULL), *data = o->data ? realpath(o->data, NULL) : NULL;
    char *text = script ? read_text(script) : NULL;
    ec_store_run run = {.script = script ? script : (char *)o->script,
                        .data = data,
                        .text = text,
                        .quick = o->quick,
                        .trust = o->trust,
                        .beside = !alone,
                        .checkpoint_seconds = o->checkpoint_seconds};
    snprintf(run.version, sizeof run.version, "%s", EC_VERSION);
    ec_backend_list(backend, run.backend, sizeof run.backend);
    snprintf(run.device, sizeof run.device, "%s", backend->device);
    snprintf(run.isa, sizeof run.isa, "%s", backend->is_cuda ? "" : ec_isa_name(backend->isa));
    if (o->seed_given)
        snprintf(run.seed, sizeof run.seed, "%llu", (unsigned long long)o->seed);
    run.settings = calloc((size_t)o->n_sets + 1, sizeof *run.settings);
    run.n_settings = (size_t)o->n_sets;
    for (int i = 0; run.settings && i < o->n_sets; i++)
        run.settings[i] = (ec_store_setting){(char *)o->sets[i].name, (char *)o->sets[i].value};
    int status = run.settings ? ec_store_run_begin(store, &run)
                              : ec_fail(EC_ERR_MEMORY, "no memory for the run");
    free(run.settings);
    free(text);
    free(script);
    free(data);
    return status;
}

/* A run takes over the folder of --out with its first search, or with a sweep whose table fits. */
static void take_folder(run_state *state)
{
    const ec_cli_options *o = state->report.options;
    if (state->begun || !state->store)
        return;
    state->begun = true;
    int status = o->resume ? ec_store_run_resume(state->store)
                           : begin_run(o, state->report.backend, state->store, state->alone);
    if (status != EC_OK)
        ec_log_write(&state->progress.log, EC_LOG_WARNING, "the run cannot be resumed: %s",
                     ec_error_text());
}

/* A run without a search and a sweep has its files to be looked at, and may have taken long: it is told of too,
 * but not in the place of another one. */
static void take_empty_folder(run_state *state)
{
    ec_store_run run;
    bool found = false;

    if (!state->store || ec_store_run_read(state->store, &run, &found) != EC_OK)
        return;
    if (found)
        ec_store_run_release(&run);
    else
        take_folder(state);
}

static void end_run(run_state *state, int exit_status)
{
    const char *out = state->report.options->out;
    if (!state->begun && exit_status == EC_EXIT_OK)
        take_empty_folder(state);
    if (state->begun) {
        const char *word = interrupted                 ? "interrupted"
                           : exit_status == EC_EXIT_OK ? "finished"
                                                       : "failed";
        if (ec_store_run_end(state->store, word) != EC_OK)
            ec_log_write(&state->progress.log, EC_LOG_WARNING, "%s", ec_error_text());
        if (interrupted && state->report.options->checkpoint_seconds >= 0)
            ec_log_write(&state->progress.log, EC_LOG_WARNING, "to go on: eciton resume %s", out);
    }
    ec_store_close(&state->store);
}

/* Runs share a folder while they sweep, and none of them searches meanwhile. */
static int on_solve(void *user, const ec_job *job, const ec_solve_info *info)
{
    run_state *state = user;
    if (state->lock >= 0 && flock(state->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return ec_fail(EC_ERR_FILE,
                       "'%s' is being written by another run, which a search cannot share",
                       state->report.options->out);
    take_folder(state);
    ec_cli_progress_solve(&state->progress, job, info);
    return EC_OK;
}

static void on_progress(void *user, const ec_history_row *row, double seconds_left)
{
    ec_cli_progress_row(&((run_state *)user)->progress, row, seconds_left);
}

static int on_result(void *user, ec_job *job, const ec_result *result)
{
    run_state *state = user;
    ec_cli_progress_clear(&state->progress);
    /* the table, where there is one, begins with the message */
    bool failed = !result->found || result->status;
    bool bad = (failed || result->violation > 0) && state->report.options->json;
    state->missed = state->missed || failed;
    if (bad || result->stop == EC_STOP_INTERRUPT || result->stop == EC_STOP_DEVICE)
        ec_log_write(&state->progress.log, EC_LOG_WARNING, "%s", result->message);
    return ec_cli_report_result(&state->report, job, result);
}

static int on_check(void *user, ec_job *job, const ec_solve_info *info)
{
    return ec_cli_report_check(&((run_state *)user)->report, job, info);
}

static void on_sweep(void *user, const ec_job *job, const ec_sweep_info *info)
{
    const run_state *state = user;
    if (state->lock >= 0)
        flock(state->lock, LOCK_SH); /* others may sweep too */
    ec_cli_progress_sweep(&((run_state *)user)->progress, job, info);
}

static void on_sweep_progress(void *user, const ec_sweep *sweep, double seconds,
                              double seconds_left)
{
    take_folder(user);
    ec_cli_progress_rows(&((run_state *)user)->progress, sweep, seconds, seconds_left);
}

static int on_sweep_result(void *user, const ec_sweep *sweep, const ec_sweep_plan *plan,
                           const char *name)
{
    run_state *state = user;
    take_folder(state);
    ec_cli_progress_clear(&state->progress);
    size_t rows = sweep->found + sweep->run;
    state->missed = state->missed || (rows > 0 && sweep->failed == rows);
    if (sweep->stop == EC_STOP_INTERRUPT)
        ec_log_write(&state->progress.log, EC_LOG_WARNING, "%s", sweep->message);
    return ec_cli_sweep_result(&state->report, sweep, plan, name);
}

static int on_sensitivity(void *user, const ec_sensitivity *sensitivity, const ec_sweep *sweep,
                          const char *name)
{
    run_state *state = user;
    ec_cli_progress_clear(&state->progress);
    return ec_cli_sweep_sensitivity(&state->report, sensitivity, sweep, name);
}

static int on_sweep_check(void *user, ec_job *job, const ec_sweep_info *info)
{
    return ec_cli_sweep_check(&((run_state *)user)->report, job, info);
}

static int on_value_check(void *user, ec_graph *graph, int32_t n, const ec_expr *values)
{
    ec_cli_report *report = &((run_state *)user)->report;
    printf("%s\n", report->options->script);
    return ec_cli_models_check_values(graph, n, values, report->backend, report->options->view,
                                      &report->views, report->log);
}

static int print_error(const char *text)
{
    fprintf(stderr, "%s\n", text);
    return EC_EXIT_ERROR;
}

/* A script without a search leaves an object too. */
static void print_json(const ec_cli_report *report, const char *script)
{
    if (report->json) {
        printf("%s\n", report->json);
        return;
    }
    printf("{\"name\":\"");
    for (const char *c = script; *c; c++) {
        int n = ec_utf8_length(c);
        if (*c == '"' || *c == '\\')
            putchar('\\');
        if (n == 0 || (unsigned char)*c < ' ')
            fputs("\\ufffd", stdout);
        else
            fwrite(c, 1, (size_t)n, stdout);
        c += n > 1 ? n - 1 : 0;
    }
    printf("\",\"stop\":\"no search\",\"best\":null}\n");
}

/* Multiples of the golden ratio, without their whole part, are apart from each other. */
static double share_of(const run_state *state)
{
    double ratio = 0.6180339887498949 * (double)(getpid() % 10007);
    return state->alone ? 0 : ratio - (double)(int)ratio;
}

static int run_script(const ec_cli_options *o, run_state *state, ec_backend *backend)
{
    char library[PATH_MAX * 2];
    ec_cli_place(EC_LUA_FROM_BIN, library, sizeof library);
    ec_lua_settings settings = {.script = o->script,
                                .library = library,
                                .data = o->data,
                                .out = o->out,
                                .sets = o->sets,
                                .n_sets = o->n_sets,
                                .seed = o->seed,
                                .seed_given = o->seed_given,
                                .quick = o->quick,
                                .trust = o->trust,
                                .check = o->check,
                                .store = state->store,
                                .share = share_of(state),
                                .checkpoint_seconds = o->checkpoint_seconds,
                                .resume = o->resume,
                                .force = o->force,
                                .print_to = o->json ? stderr : stdout,
                                .seconds = script_seconds(),
                                .memory = SCRIPT_MEMORY,
                                .interrupt = &interrupted,
                                .events = {state, on_solve, on_progress, on_result, on_check,
                                           on_sweep, on_sweep_progress, on_sweep_result,
                                           on_sensitivity, on_sweep_check, on_value_check},
                                .log = &state->progress.log};
    ec_lua_host *host = NULL;
    if (ec_lua_host_create(&settings, backend, &host) != EC_OK)
        return print_error(ec_error_text());
    int status = ec_lua_host_run(host), exit_status = EC_EXIT_OK;
    ec_cli_progress_clear(&state->progress);
    if (status < 0) {
        exit_status = print_error(host->error);
        if (host->ended_by_signal)
            exit_status = host->solves ? EC_EXIT_OK : 128 + (int)caught;
    } else if (o->check && status != EC_STOPPED && !host->paged) {
        printf(o->view
                   ? "%s: no job:solve or job:sweep is reached, and no ec.value or model:save of "
                     "a model, which would be drawn\n"
                   : "%s: no job:solve or job:sweep is reached\n",
               host->script_name);
    }
    if (exit_status == EC_EXIT_OK && state->missed)
        exit_status = caught ? 128 + (int)caught : EC_EXIT_ERROR;
    /* what a search found is not lost with what the script does afterwards */
    if (o->json && !o->check && (exit_status == EC_EXIT_OK || state->report.json))
        print_json(&state->report, host->script_name);
    ec_lua_host_destroy(&host);
    return exit_status;
}

/* One run at a time searches in a folder, several may sweep. The lock goes with the process. A run that has
 * just begun shows only with its first search or sweep which of them it is: another one gives it some time. */
static bool lock_folder(const char *out, run_state *state)
{
    const struct timespec pause = {0, 20000000};
    double deadline = ec_wall_seconds() + LOCK_SECONDS;
    bool told = false;
    state->alone = true;
    state->lock = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    do {
        if (state->lock < 0 || flock(state->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return true; /* a file system without locks has none to wait for */
        state->alone = flock(state->lock, LOCK_SH | LOCK_NB) != 0;
        if (!state->alone)
            return true;
        if (!told)
            ec_log_write(&state->progress.log, EC_LOG_INFO,
                         "waiting for the run in '%s', whose sweep could be shared", out);
        told = true;
        nanosleep(&pause, NULL);
    } while (ec_wall_seconds() < deadline);
    close(state->lock);
    state->lock = -1;
    fprintf(stderr, "eciton: '%s' is being written by another run\n", out);
    return false;
}

/* Whether the run of a folder may be replaced by this one. */
static bool may_replace(const ec_cli_options *o, ec_store *store)
{
    ec_store_run run;
    bool found = false, good = true;
    if (o->fresh || ec_store_run_read(store, &run, &found) != EC_OK || !found)
        return true;
    char *script = realpath(o->script, NULL);
    if (ec_store_is_unfinished(store)) {
        good = false;
        fprintf(stderr,
                "eciton: '%s' holds an unfinished run: 'eciton resume %s' goes on with it, --fresh "
                "gives it up\n",
                o->out, o->out);
    } else if (script && run.script && strcmp(script, run.script) != 0) {
        good = false;
        fprintf(stderr,
                "eciton: '%s' holds a run of '%s': give another --out, or --fresh to put this one "
                "in its place\n",
                o->out, run.script);
    }
    free(script);
    ec_store_run_release(&run);
    return good;
}

/* The folder of --out and its store. */
static int open_out(const ec_cli_options *o, run_state *state)
{
    if (!o->out || o->check)
        return o->out && ec_output_folder(o->out) != EC_OK ? print_error(ec_error_text())
                                                           : EC_EXIT_OK;
    if (ec_output_folder(o->out) != EC_OK)
        return print_error(ec_error_text());
    if (!lock_folder(o->out, state))
        return EC_EXIT_ERROR;
    if (ec_store_open(o->out, EC_STORE_WRITE, &state->progress.log, &state->store) != EC_OK)
        return print_error(ec_error_text());
    return o->resume || may_replace(o, state->store) ? EC_EXIT_OK : EC_EXIT_ERROR;
}

/* The page of --watch, which shows what is in the store. */
static int begin_watch(const ec_cli_options *o, ec_cli_watch **watch)
{
    if (!o->watch)
        return EC_EXIT_OK;
    if (!o->out)
        return ec_cli_usage_error("--watch shows what is in the run store: it needs --out DIR%s%s",
                                  "", "");
    return ec_cli_watch_begin(o->out, o->port, watch) == EC_OK ? EC_EXIT_OK
                                                               : print_error(ec_error_text());
}

int ec_cli_run(const ec_cli_options *o)
{
    run_state state = {.lock = -1};
    ec_cli_watch *watch = NULL;
    ec_cli_progress_begin(&state.progress, o->quiet);
    int exit_status = open_out(o, &state);
    if (exit_status == EC_EXIT_OK)
        exit_status = begin_watch(o, &watch);
    if (exit_status != EC_EXIT_OK) {
        ec_store_close(&state.store);
        return exit_status;
    }
    ec_backend *backend = NULL;
    ec_backend_info info = {
        .name = o->backend, .threads = o->threads, .isa = o->isa, .log = &state.progress.log};
    if (ec_backend_create(&info, &backend) != EC_OK) {
        ec_store_close(&state.store);
        ec_cli_watch_end(&watch, false);
        return print_error(ec_error_text());
    }
    state.report = (ec_cli_report){.options = o, .backend = backend, .log = &state.progress.log};
    catch_signals();
    exit_status = run_script(o, &state, backend);
    end_run(&state, exit_status);
    ec_cli_watch_end(&watch, true);
    free(state.report.json);
    ec_backend_destroy(&backend);
    return exit_status;
}
