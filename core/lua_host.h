/* lua_host.h: the Lua side of Eciton: one host runs one script.
 *
 * A host owns the Lua state, one expression graph (all jobs of the script share it) and the budgets
 * of the script; the backend is lent by the caller. Lua errors are longjmps: every function that a
 * script can call first parses its arguments into plain C structs whose memory belongs to Lua, then
 * calls the core, then hands the result to a userdata that was made before the call. So no error
 * leaks. Nothing in the core calls Lua but the evaluator of ec.host, and that under lua_pcall.
 *
 * lua_host     create, run, messages              lua_budget     memory, time, watchdog
 * lua_sandbox  libraries, require, globals        lua_keys       key tables and their parser
 * lua_expr     expressions                        lua_functions  functions of expressions
 * lua_values   lists of numbers                   lua_files      paths, CSV and NPY
 * lua_job      jobs, variables, goals             lua_solve      job:solve
 * lua_result   what a solve found                 lua_module     ec.arg, value, range
 * lua_sweep    job:sweep                          lua_sweep_result  its table
 * lua_sensitivity  job:sensitivity
 * lua_array    ec.array                           lua_metric     the methods of arrays
 * lua_weights  ec.optimal                         lua_column     ec.host
 * lua_elements what an array's elements are       lua_patterns   files of elements, S-matrices
 * lua_library  what the modules in scripts/ use   lua_help       eciton help, the reference page
 * lua_front    the front of several objectives     lua_over       ec.over and its distributions
 * lua_scene    ec.scene                           lua_shapes     ec.box and other shapes
 * lua_mimo     ec.mimo, ec.grid                   lua_mimo_save  files of its designs
 * lua_fdtd     ec.fdtd                            lua_fdtd_parts  ec.wire, ec.port and other parts
 * lua_curve    quantities over frequency          lua_fdtd_save  files of its designs
 */
#ifndef EC_LUA_HOST_H
#define EC_LUA_HOST_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

#include "lua_budget.h"
#include "sensitivity.h"

/* Registry key of the table of the core's functions. Only the Lua library gets it, which makes the
 * module `eciton` of it: some of its functions are not for scripts. */
#define EC_LUA_CORE "eciton.core"

typedef struct ec_lua_host ec_lua_host;

/* name=value of --set */
typedef struct ec_lua_set {
    const char *name, *value;
    bool asked; /* a script line asked for it */
} ec_lua_set;

/* What the caller wants to hear of. Each may be NULL. */
typedef struct ec_lua_events {
    void *user;
    int (*solve)(void *user, const ec_job *job, const ec_solve_info *info); /* may refuse it */
    void (*progress)(void *user, const ec_history_row *row, double seconds_left);
    int (*result)(void *user, ec_job *job, const ec_result *result); /* a status */
    int (*check)(void *user, ec_job *job, const ec_solve_info *info);
    /* of sweeps; name: of its files */
    void (*sweep)(void *user, const ec_job *job, const ec_sweep_info *info);
    void (*sweep_progress)(void *user, const ec_sweep *sweep, double seconds, double seconds_left);
    int (*sweep_result)(void *user, const ec_sweep *sweep, const ec_sweep_plan *plan,
                        const char *name);
    int (*sensitivity)(void *user, const ec_sensitivity *sensitivity, const ec_sweep *sweep,
                       const char *name);
    int (*sweep_check)(void *user, ec_job *job, const ec_sweep_info *info);
    /* of values without design variables that take long (ec_evaluator_def.estimate) */
    int (*value_check)(void *user, ec_graph *graph, int32_t n, const ec_expr *values);
} ec_lua_events;

typedef struct ec_lua_settings {
    const char *script;     /* path of the script */
    const char *library;    /* folder of the Lua library */
    const char *data, *out; /* folders of --data and --out, or NULL */
    ec_lua_set *sets;
    int n_sets;
    uint64_t seed; /* of --seed, when seed_given */
    bool seed_given;
    bool quick, trust, check;
    struct ec_store *store;    /* of the run, or NULL */
    double share;              /* of sweeps that other processes write too; see ec_sweep_store */
    double checkpoint_seconds; /* between two states of a search; as in ec_solve_info */
    bool resume, force;        /* searches go on from what the store holds */
    FILE *print_to;            /* where print writes */
    double seconds;            /* processor time of the script itself, searches not counted */
    size_t memory;             /* bytes that Lua may hold */
    volatile int *interrupt;   /* set by a signal handler, and by a host function that ran away */
    ec_lua_events events;
    ec_log *log;
} ec_lua_settings;

struct ec_lua_host {
    lua_State *L;
    ec_lua_settings settings;
    ec_backend *backend;
    ec_graph *graph;
    ec_lua_budget budget;
    char script_dir[4096];              /* real path of the script's folder, ends without a slash */
    char data_dir[4096], out_dir[4096]; /* real paths, "" when absent */
    const char *script_name;            /* the script's file name, for messages */
    bool closing;                       /* the script has ended; only finalizers still run */
    bool stopped;                       /* a search was ended by the user; the script may finish */
    bool checked;                       /* `eciton check` has come to its end */
    const void *paged;         /* or has printed a page, of this last, and goes on; NULL: none */
    bool ended_by_signal;      /* the error that ends the script is the user's wish */
    int solves;                /* searches and sweeps that came to a result */
    int sweeps, sensitivities; /* that were reported */
    int stored;                /* searches that are in the store */
    uint64_t read_hash; /* of every file that was read so far, in order: what the script is */
    uint8_t *looked_at; /* by node: metrics that ec.value has said its warnings of */
    int32_t n_looked_at;
    int32_t counted_nodes; /* of the graph: their bytes are in the budget, or due */
    size_t graph_due;
    int in_core;       /* depth of long calls of the core; a host function may run inside one */
    lua_State *thread; /* the Lua thread that called the core; ec.host runs its function on it */
    char error[1024];  /* the message when run fails */
};

int ec_lua_host_create(const ec_lua_settings *settings, ec_backend *backend, ec_lua_host **host);
/* Runs the script to its end. ERR_SCRIPT: host->error has "file:line: what". STOPPED: `check` is
 * done. */
int ec_lua_host_run(ec_lua_host *host);
void ec_lua_host_destroy(ec_lua_host **host);

/* ---- for the lua_* files --------------------------------------------------------------------- */

ec_lua_host *ec_lua_host_of(lua_State *L);

/* Line of the script that is running (0 if unknown); file gets the chunk's name, may be NULL. */
int ec_lua_line(lua_State *L, char *file, size_t size);
/* "file:line: " + sentence, as a Lua error; without the line where it is unknown. */
int ec_lua_fail(lua_State *L, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
/* The sentence that the core recorded, after "file:line: " and, when not NULL, "what: ". */
int ec_lua_fail_core(lua_State *L, const char *what) __attribute__((noreturn));
/* Before the graph grows: attributes the nodes that follow to the running script line, and
 * raises when the script's time or its memory, graph included, is used up. */
void ec_lua_mark_line(lua_State *L);
/* Around long calls of the core, which the watchdog does not end. Enter returns the
 * thread that leave gets: a host function may have called the core on a thread of its own. Time that is not
 * the script's is added to its deadline before it leaves: the watchdog looks at any moment. */
lua_State *ec_lua_core_enter(lua_State *L);
void ec_lua_core_leave(lua_State *L, lua_State *caller);
/* The caller's log without what is below a warning, for single evaluations. */
ec_log ec_lua_warnings(const ec_lua_host *host);
/* Raises in a finalizer that runs after the script's end: what is made then has no owner. */
void ec_lua_check_open(lua_State *L, const char *what);

/* `name` nearest to `word` among n candidates when it is near enough for a typing mistake, else
 * NULL. */
const char *ec_lua_nearest(const char *word, const char *const *names, int n);
/* Pushes the names with commas between; returns the text, the stack's. */
const char *ec_lua_push_names(lua_State *L, const char *const *names, int n);

void ec_lua_sandbox_open(lua_State *L);
/* Loads a text chunk (never bytecode) from a file; leaves the function or a message, as
 * luaL_loadfile. */
int ec_lua_sandbox_load(lua_State *L, const char *path, const char *chunk_name);

/* Each adds its functions to the module table on top of the stack. */
void ec_lua_values_open(lua_State *L);
void ec_lua_expr_open(lua_State *L);
void ec_lua_library_open(lua_State *L);
void ec_lua_module_open(lua_State *L);
void ec_lua_over_open(lua_State *L);
void ec_lua_job_open(lua_State *L);
void ec_lua_result_open(lua_State *L);
void ec_lua_sweep_open(lua_State *L);
void ec_lua_array_open(lua_State *L);
void ec_lua_column_open(lua_State *L);
void ec_lua_files_open(lua_State *L);
void ec_lua_patterns_open(lua_State *L);
void ec_lua_scene_open(lua_State *L);
void ec_lua_mimo_open(lua_State *L);
void ec_lua_fdtd_open(lua_State *L);

#endif
