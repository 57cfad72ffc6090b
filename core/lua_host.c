#include "lua_host.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

ec_lua_host *ec_lua_host_of(lua_State *L)
{
    return *(ec_lua_host **)lua_getextraspace(L);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Chunks of the user are named "@file"; those of the Lua library "=...", and are passed over. */
int ec_lua_line(lua_State *L, char *file, size_t size)
{
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0 && ar.source[0] == '@') {
            if (file)
                snprintf(file, size, "%s", ar.source + 1);
            return ar.currentline;
        }
    }
    if (file && size)
        file[0] = 0;
    return 0;
}

static void push_where(lua_State *L)
{
    char file[300];
    int line = ec_lua_line(L, file, sizeof file);
    if (line > 0)
        lua_pushfstring(L, "%s:%d: ", file, line);
    else /* as in `return job:solve{}`, whose line is gone from the stack when it runs */
        lua_pushfstring(L, "%s: ", ec_lua_host_of(L)->script_name);
}

int ec_lua_fail(lua_State *L, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ec_text_plain_nan(text);
    push_where(L);
    lua_pushstring(L, text);
    lua_concat(L, 2);
    lua_error(L);
    abort(); /* lua_error does not return */
}

/* The core's sentence without the name that it begins with, when that is the function's own: the
 * "solve: " of job:solve. */
static const char *without_name(const char *text, const char *what)
{
    const char *verb = what + strcspn(what, ":.");
    const char *names[] = {what, *verb ? verb + 1 : what};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(text, names[i], n) == 0 && text[n] == ':')
            return text + n + 1 + strspn(text + n + 1, " ");
    }
    return text;
}

int ec_lua_fail_core(lua_State *L, const char *what)
{
    char text[1024];
    snprintf(text, sizeof text, "%s", ec_error_text());
    if (what)
        ec_lua_fail(L, "%s: %s", what, without_name(text, what));
    ec_lua_fail(L, "%s", text);
}

/* Lua's allocator does not see the graph: its nodes are counted here, about as large as they
 * are. */
static void count_graph(lua_State *L, ec_lua_host *host)
{
    enum { NODE_BYTES = 200 };
    int32_t count = ec_graph_count(host->graph);
    for (; host->counted_nodes < count; host->counted_nodes++) {
        const ec_node *node = ec_graph_node(host->graph, host->counted_nodes);
        size_t elements = node->op == EC_OP_SAMPLES ? (size_t)node->par[2] : (size_t)node->elements;
        host->graph_due +=
            NODE_BYTES + (node->data ? 8 * elements : 0) + (node->index ? 4 * elements : 0);
    }
    ec_lua_budget_take(L, host->graph_due);
    host->graph_due = 0;
}

void ec_lua_mark_line(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    ec_lua_budget_check(L);
    count_graph(L, host);
    ec_graph_set_line(host->graph, ec_lua_line(L, NULL, 0));
}

lua_State *ec_lua_core_enter(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    lua_State *caller = host->thread;
    host->thread = L;
    host->in_core++;
    ec_lua_budget_pause(&host->budget);
    return caller;
}

void ec_lua_core_leave(lua_State *L, lua_State *caller)
{
    ec_lua_host *host = ec_lua_host_of(L);
    host->thread = caller;
    host->in_core--;
    ec_lua_budget_resume(&host->budget);
}

ec_log ec_lua_warnings(const ec_lua_host *host)
{
    ec_log log = {EC_LOG_WARNING, NULL, NULL};
    if (host->settings.log) {
        log.write = host->settings.log->write;
        log.user = host->settings.log->user;
    }
    return log;
}

void ec_lua_check_open(lua_State *L, const char *what)
{
    if (ec_lua_host_of(L)->closing)
        ec_lua_fail(L, "%s: the script has ended, a finalizer cannot do this", what);
}

static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    int m = (int)strlen(a), n = (int)strlen(b), row[LONGEST + 1];
    if (m > LONGEST || n > LONGEST)
        return INT_MAX;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; i <= m; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *ec_lua_nearest(const char *word, const char *const *names, int n)
{
    const char *nearest = NULL;
    int length = (int)strlen(word), least = length / 3 + 1;
    for (int i = 0; i < n; i++) {
        int distance = edit_distance(word, names[i]);
        if (distance <= least && distance < (int)strlen(names[i])) {
            nearest = names[i];
            least = distance - 1;
        }
    }
    /* or the beginning of a name */
    for (int i = 0; !nearest && length >= 3 && i < n; i++)
        if (strncmp(word, names[i], (size_t)length) == 0)
            nearest = names[i];
    return nearest;
}

const char *ec_lua_push_names(lua_State *L, const char *const *names, int n)
{
    luaL_Buffer b;

    luaL_buffinit(L, &b);
    for (int i = 0; i < n; i++) {
        luaL_addstring(&b, i ? ", " : "");
        luaL_addstring(&b, names[i]);
    }
    luaL_pushresult(&b);
    return lua_tostring(L, -1);
}

/* ---- the state ------------------------------------------------------------------------------- */

static void open_core(lua_State *L)
{
    lua_newtable(L);
    ec_lua_library_open(L);
    ec_lua_values_open(L);
    ec_lua_expr_open(L);
    ec_lua_files_open(L);
    ec_lua_patterns_open(L);
    ec_lua_scene_open(L);
    ec_lua_mimo_open(L);
    ec_lua_fdtd_open(L);
    ec_lua_result_open(L);
    ec_lua_sweep_open(L);
    ec_lua_module_open(L);
    ec_lua_over_open(L);
    ec_lua_job_open(L);
    ec_lua_array_open(L);
    ec_lua_column_open(L);
}

static int open_all(lua_State *L)
{
    ec_lua_sandbox_open(L);
    open_core(L);
    lua_setfield(L, LUA_REGISTRYINDEX, EC_LUA_CORE);
    return 0;
}

/* Only an error outside every protected call comes here: Lua itself could not start. */
static int panic(lua_State *L)
{
    fprintf(stderr, "eciton: %s\n", lua_tostring(L, -1));
    return 0;
}

static int real_folder(const char *flag, const char *path, char *to)
{
    struct stat info;
    char *real = realpath(path, NULL);
    bool folder = real && stat(real, &info) == 0 && S_ISDIR(info.st_mode);
    if (!folder || strlen(real) >= PATH_MAX) {
        bool file = real && !folder;
        free(real);
        return ec_fail(EC_ERR_FILE, "%s '%s': %s", flag, path,
                       file ? "it is a file, not a folder" : "there is no such folder");
    }
    strcpy(to, real);
    free(real);
    return EC_OK;
}

/* The folder of the script, without resolving a link that the script itself may be. */
static int find_folders(ec_lua_host *host)
{
    const ec_lua_settings *s = &host->settings;
    const char *slash = strrchr(s->script, '/');
    host->script_name = slash ? slash + 1 : s->script;
    char dir[PATH_MAX] = ".";
    if (slash)
        snprintf(dir, sizeof dir, "%.*s/", (int)(slash - s->script), s->script);
    int status = real_folder("script", dir, host->script_dir);
    if (status == EC_OK && s->data)
        status = real_folder("--data", s->data, host->data_dir);
    if (status == EC_OK && s->out)
        status = real_folder("--out", s->out, host->out_dir);
    return status;
}

int ec_lua_host_create(const ec_lua_settings *settings, ec_backend *backend, ec_lua_host **host)
{
    ec_lua_host *h = calloc(1, sizeof *h);
    if (!h)
        return ec_fail(EC_ERR_MEMORY, "no memory for the Lua host");
    h->settings = *settings;
    h->backend = backend;
    int status = ec_lua_budget_start(&h->budget, settings->trust ? SIZE_MAX : settings->memory,
                                     settings->trust ? INFINITY : settings->seconds);
    if (status == EC_OK)
        status = find_folders(h);
    if (status == EC_OK)
        status = ec_graph_create(&h->graph);
    if (status == EC_OK) {
        h->L = lua_newstate(ec_lua_budget_alloc, &h->budget);
        if (!h->L)
            status = ec_fail(EC_ERR_MEMORY, "no memory for a Lua state");
    }
    if (status == EC_OK) {
        *(ec_lua_host **)lua_getextraspace(h->L) = h;
        lua_atpanic(h->L, panic);
        lua_pushcfunction(h->L, open_all);
        if (lua_pcall(h->L, 0, 0, 0) != LUA_OK)
            status = ec_fail(EC_ERR_SCRIPT, "Lua could not start: %s", lua_tostring(h->L, -1));
    }
    if (status != EC_OK) {
        ec_lua_host_destroy(&h);
        return status;
    }
    *host = h;
    return EC_OK;
}

void ec_lua_host_destroy(ec_lua_host **host)
{
    ec_lua_host *h = *host;
    if (!h)
        return;
    if (h->L) {
        /* finalizers of the script run here: the watchdog looks on */
        h->closing = true;
        ec_lua_budget_renew(&h->budget);
        ec_lua_budget_resume(&h->budget);
        lua_close(h->L);
        ec_lua_budget_pause(&h->budget);
    }
    ec_lua_budget_stop(&h->budget);
    ec_graph_destroy(&h->graph);
    free(h->looked_at);
    free(h);
    *host = NULL;
}

/* ---- running --------------------------------------------------------------------------------- */

/* "file:line: ...", or "script: ..." where the line was unknown. */
static bool has_place(const ec_lua_host *host, const char *text)
{
    size_t name = strlen(host->script_name);
    const char *colon = strchr(text, ':');
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    return (digits > 0 && colon[1 + digits] == ':') ||
           (strncmp(text, host->script_name, name) == 0 && text[name] == ':');
}

/* The message of a failed thread. Its stack is still there, so that an error without a place (no
 * memory, error("text", 0)) gets the line that was running. */
static void describe_error(ec_lua_host *host, lua_State *thread, int status)
{
    char file[300] = "";
    int line = ec_lua_line(thread, file, sizeof file);
    if (status == LUA_ERRMEM) {
        char where[340] = "";
        if (line > 0)
            snprintf(where, sizeof where, "%s:%d: ", file, line);
        else
            snprintf(where, sizeof where, "%s: ", host->script_name);
        snprintf(host->error, sizeof host->error,
                 "%snot enough memory: the script may hold %.3g GiB (--trust lifts the limit)",
                 where, (double)host->budget.memory_limit / (1 << 30));
        return;
    }
    const char *text = lua_tostring(thread, -1); /* of a text or a number */
    if (!text)
        snprintf(host->error, sizeof host->error, "%s:%d: the script raised an error that is a %s",
                 line > 0 ? file : host->script_name, line, luaL_typename(thread, -1));
    else if (has_place(host, text))
        snprintf(host->error, sizeof host->error, "%s", text);
    else if (line > 0)
        snprintf(host->error, sizeof host->error, "%s:%d: %s", file, line, text);
    else
        snprintf(host->error, sizeof host->error, "%s: %s", host->script_name, text);
}

static int unasked_set(ec_lua_host *host)
{
    for (int i = 0; i < host->settings.n_sets; i++)
        if (!host->settings.sets[i].asked) {
            snprintf(host->error, sizeof host->error,
                     "--set %s=%s: no line of %s asked for it with ec.arg(\"%s\", ...)",
                     host->settings.sets[i].name, host->settings.sets[i].value, host->script_name,
                     host->settings.sets[i].name);
            return EC_ERR_SCRIPT;
        }
    return EC_OK;
}

/* Runs in protected mode: makes the thread (which inherits the hook) and loads the script into
 * it. */
static int prepare(lua_State *L)
{
    ec_lua_host *host = ec_lua_host_of(L);
    char chunk_name[PATH_MAX];
    snprintf(chunk_name, sizeof chunk_name, "@%s", host->script_name);
    ec_lua_budget_hook(L);
    lua_State *thread = lua_newthread(L);
    if (ec_lua_sandbox_load(thread, host->settings.script, chunk_name) != LUA_OK) {
        lua_xmove(thread, L, 1);
        return lua_error(L);
    }
    return 1;
}

int ec_lua_host_run(ec_lua_host *host)
{
    lua_State *L = host->L;
    lua_pushcfunction(L, prepare);
    if (lua_pcall(L, 0, 1, 0) != LUA_OK) {
        snprintf(host->error, sizeof host->error, "%s",
                 lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                : "the script cannot be loaded");
        lua_settop(L, 0);
        return EC_ERR_SCRIPT;
    }
    /* In a thread of its own, because the stack of a failed thread can still be read. */
    lua_State *thread = lua_tothread(L, -1);
    ec_lua_budget_renew(&host->budget);
    ec_lua_budget_resume(&host->budget);
    int results = 0, status = lua_resume(thread, L, 0, &results);
    ec_lua_budget_pause(&host->budget);
    int code = EC_OK;
    if (host->checked) {
        code = EC_STOPPED;
    } else if (status == LUA_YIELD) {
        snprintf(host->error, sizeof host->error, "%s: the script yields outside a coroutine",
                 host->script_name);
        code = EC_ERR_SCRIPT;
    } else if (status != LUA_OK) {
        describe_error(host, thread, status);
        code = EC_ERR_SCRIPT;
    } else {
        code = unasked_set(host);
    }
    lua_settop(L, 0);
    return code;
}
