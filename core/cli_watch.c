#include "cli_watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "cli_page.h"
#include "cli_store.h"
#include "cli_table.h"

#if !EC_HAVE_MICROHTTPD

int ec_cli_watch_begin(const char *folder, int port, ec_cli_watch **watch)
{
    (void)folder;
    (void)port;
    *watch = NULL;
    return ec_fail(EC_ERR_ARGUMENT, "this program has no live view: it was built without "
                                    "libmicrohttpd; 'eciton report' writes the page as a file");
}

void ec_cli_watch_end(ec_cli_watch **watch, bool ended)
{
    (void)ended;
    *watch = NULL;
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "wall_clock.h"

static const double LEAST_SECONDS = 1,
                    COST = 250;        /* between two data, in times of what they take */
static const double IDLE_SECONDS = 20; /* until a connection is closed */
static const double LOOKING_SECONDS =
    3; /* since somebody asked: who still does asks every second */
enum { MOST_CONNECTIONS = 32, LOOKERS = 16 };

/* What shows that a store has changed, without opening it. */
typedef struct trace {
    int64_t bytes[2], seconds[2], nanoseconds[2];
} trace;

/* A page that asks, by the name that it gives itself; who gives none, or has loaded the page only, is "". */
typedef struct looker {
    char name[16];
    double asked; /* when it last did, -infinite: a free place */
    bool seen;    /* the end of the run has been sent to it */
} looker;

struct ec_cli_watch {
    const char *folder;
    struct MHD_Daemon *daemon;

    /* of the server's thread. Answers are shared by all who are sent them, however slowly they read. */
    char *json;                       /* NULL: not made yet; data owns it */
    struct MHD_Response *data, *page; /* page NULL: not made yet */
    uint64_t edition;                 /* of json; entity tags have it and the time of the start */
    int64_t start;
    trace made_of;
    double next; /* when it may be made again */
    int status;  /* of the last attempt, whose message is still the thread's */
    bool nice;   /* the thread gives way to those that compute */

    pthread_mutex_t lock; /* of what follows */
    looker lookers[LOOKERS];
    bool last; /* the run has ended */
};

/* ---- heads of answers ------------------------------------------------------------------------ */

static void add_headers(struct MHD_Response *response, const char *type)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-cache"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };

    for (size_t i = 0; response && i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (response && type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
}

static void write_tag(const ec_cli_watch *w, char *tag, size_t size)
{
    snprintf(tag, size, "\"%lld-%llu\"", (long long)w->start, (unsigned long long)w->edition);
}

/* ---- data ------------------------------------------------------------------------------------ */

static trace trace_of(const char *folder)
{
    static const char *const names[2] = {"run.db", "run.db-wal"};
    char path[4400];
    trace t;

    memset(&t, 0, sizeof t); /* compared as bytes */
    for (int i = 0; i < 2; i++) {
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (stat(path, &about) != 0)
            continue;
        t.bytes[i] = about.st_size;
        t.seconds[i] = about.st_mtim.tv_sec;
        t.nanoseconds[i] = about.st_mtim.tv_nsec;
    }
    return t;
}

static double thread_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void forget(struct MHD_Response **response)
{
    if (*response)
        MHD_destroy_response(*response); /* whoever is being sent it has it until then */
    *response = NULL;
}

/* Takes new data, which it owns from now on. */
static int take_data(ec_cli_watch *w, char *json, size_t size)
{
    char tag[64];
    struct MHD_Response *data = MHD_create_response_from_buffer(size, json, MHD_RESPMEM_MUST_FREE);

    if (!data) {
        free(json);
        return ec_fail(EC_ERR_MEMORY, "live view: no memory");
    }
    forget(&w->data);
    forget(&w->page);
    w->json = json;
    w->data = data;
    w->edition++;
    write_tag(w, tag, sizeof tag);
    add_headers(data, "application/json; charset=utf-8");
    MHD_add_response_header(data, MHD_HTTP_HEADER_ETAG, tag);
    return EC_OK;
}

/* Makes the data anew when they may have changed and it is time. last: whatever the time, and whatever the
 * files look like, whose time stamps are no finer than a tick of the system. What cannot be read now, as a
 * store that another process is mending, leaves the former data. */
static int renew(ec_cli_watch *w, bool last)
{
    trace now = trace_of(w->folder);
    double clock = ec_wall_seconds();
    char *json = NULL;
    size_t size = 0;

    if (!last && w->json && memcmp(&now, &w->made_of, sizeof now) == 0)
        return EC_OK;
    if (!last && clock < w->next)
        return w->json ? EC_OK : w->status;
    double before = thread_seconds();
    w->status = ec_page_data(w->folder, true, &json, &size);
    double used = COST * (thread_seconds() - before);
    w->next = clock + (used > LEAST_SECONDS ? used : LEAST_SECONDS);
    if (w->status < 0)
        return w->json ? EC_OK : w->status;
    if (w->json && ec_page_is_same(json, w->json))
        free(json);
    else
        w->status = take_data(w, json, size);
    if (w->status == EC_OK)
        w->made_of = now;
    return w->json ? EC_OK : w->status;
}

/* ---- answers --------------------------------------------------------------------------------- */

static enum MHD_Result send_once(struct MHD_Connection *connection, unsigned code,
                                 struct MHD_Response *response)
{
    enum MHD_Result result = response ? MHD_queue_response(connection, code, response) : MHD_NO;

    forget(&response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned code, const char *text)
{
    char line[1200];
    int n = snprintf(line, sizeof line, "%s\n", text);

    n = n < (int)sizeof line ? n : (int)sizeof line - 1;
    struct MHD_Response *response =
        MHD_create_response_from_buffer((size_t)n, line, MHD_RESPMEM_MUST_COPY);
    add_headers(response, "text/plain; charset=utf-8");
    if (response && code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    return send_once(connection, code, response);
}

/* "localhost:8642" and the like: a name of this machine for itself, and a port or none. */
static bool is_own_host(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(host, names[i], n) != 0)
            continue;
        const char *port = host + n;
        if (*port == 0)
            return true;
        return port[0] == ':' && port[1] && port[1 + strspn(port + 1, "0123456789")] == 0;
    }
    return false;
}

static int make_page(ec_cli_watch *w)
{
    char *page = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&page, &size);

    if (!to)
        return ec_fail(EC_ERR_MEMORY, "report: no memory");
    int status = ec_page_put(to, w->json, true);
    if (fclose(to) != 0 && status == EC_OK)
        status = ec_fail(EC_ERR_MEMORY, "report: no memory");
    if (status == EC_OK)
        w->page = MHD_create_response_from_buffer(size, page, MHD_RESPMEM_MUST_FREE);
    if (!w->page)
        free(page);
    if (status == EC_OK && !w->page)
        status = ec_fail(EC_ERR_MEMORY, "live view: no memory");
    add_headers(w->page, "text/html; charset=utf-8");
    return status;
}

static enum MHD_Result send_page(ec_cli_watch *w, struct MHD_Connection *connection)
{
    if (!w->page && make_page(w) < 0)
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, ec_error_text());
    return MHD_queue_response(connection, MHD_HTTP_OK, w->page);
}

static enum MHD_Result send_data(ec_cli_watch *w, struct MHD_Connection *connection)
{
    static char nothing[1];
    char tag[64];
    const char *has =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);

    write_tag(w, tag, sizeof tag);
    if (!has || strcmp(has, tag) != 0)
        return MHD_queue_response(connection, MHD_HTTP_OK, w->data);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    add_headers(response, NULL);
    if (response)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, tag);
    return send_once(connection, MHD_HTTP_NOT_MODIFIED, response);
}

/* ---- who asks -------------------------------------------------------------------------------- */

/* The place of whoever asks; a name that is new takes that of a page that has been loaded and has not asked
 * yet, a free one, or the one that was not asked from for the longest time. The lock is held. */
static looker *find_looker(ec_cli_watch *w, struct MHD_Connection *connection)
{
    const char *given = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "page");
    looker *place = w->lookers, *unnamed = NULL;
    char name[sizeof place->name];

    snprintf(name, sizeof name, "%s", given ? given : "");
    for (looker *l = w->lookers; l < w->lookers + LOOKERS; l++) {
        if (isfinite(l->asked) && strcmp(l->name, name) == 0)
            return l;
        if (isfinite(l->asked) && !*l->name)
            unnamed = l;
        if (l->asked < place->asked)
            place = l;
    }
    place = unnamed ? unnamed : place;
    *place = (looker){.asked = -INFINITY};
    memcpy(place->name, name, sizeof name);
    return place;
}

/* Whether one who was looking when the run ended still has to be sent its end. */
static bool is_awaited(const ec_cli_watch *w, double end)
{
    for (const looker *l = w->lookers; l < w->lookers + LOOKERS; l++)
        if (!l->seen && end - l->asked < LOOKING_SECONDS)
            return true;
    return false;
}

/* State of a request that is to be answered; of one that is answered with the end of the run it is the
 * looker. */
static int begun;

static enum MHD_Result serve(ec_cli_watch *w, struct MHD_Connection *connection, bool page,
                             void **state)
{
    if (!w->nice) /* of this thread alone, on Linux */
        setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
    w->nice = true;
    pthread_mutex_lock(&w->lock);
    looker *who = find_looker(w, connection);
    bool last = w->last && !who->seen;
    pthread_mutex_unlock(&w->lock);
    int status = renew(w, last);
    enum MHD_Result result = status < 0
                                 ? refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, ec_error_text())
                             : page ? send_page(w, connection)
                                    : send_data(w, connection);
    pthread_mutex_lock(&w->lock);
    who->asked = ec_wall_seconds();
    pthread_mutex_unlock(&w->lock);
    *state = last ? (void *)who : &begun;
    return result;
}

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    ec_cli_watch *w = user;
    bool page = strcmp(url, "/") == 0, data = strcmp(url, "/data.json") == 0;

    (void)version;
    (void)upload;
    if (*state && *upload_size > 0) { /* a body, which says nothing here */
        *upload_size = 0;
        return MHD_YES;
    }
    if (*state)
        return serve(w, connection, page, state);
    if (!is_own_host(
            MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
        return refuse(connection, MHD_HTTP_FORBIDDEN,
                      "this page is for localhost: no other Host is answered");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "this page is for reading");
    if (!page && !data)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "there is the report at / and nothing else");
    *state = &begun; /* an answer at once would close the connection */
    return MHD_YES;
}

/* An answer is on its way, all of it. */
static void completed(void *user, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code)
{
    ec_cli_watch *w = user;

    (void)connection;
    (void)code;
    pthread_mutex_lock(&w->lock);
    if (*state && *state != &begun)
        ((looker *)*state)->seen = true;
    pthread_mutex_unlock(&w->lock);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static struct MHD_Daemon *listen_at(ec_cli_watch *w, int port)
{
    struct sockaddr_in address;

    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    errno = 0;
    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, (uint16_t)port, NULL,
                            NULL, answer, w, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
                            MHD_OPTION_NOTIFY_COMPLETED, completed, w, MHD_OPTION_CONNECTION_LIMIT,
                            (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)IDLE_SECONDS, MHD_OPTION_END);
}

int ec_cli_watch_begin(const char *folder, int port, ec_cli_watch **watch)
{
    ec_cli_watch *w = calloc(1, sizeof *w);
    sigset_t all, before;
    int first = port == EC_WATCH_FREE_PORT ? EC_WATCH_PORT : port;
    int ports = port == EC_WATCH_FREE_PORT ? EC_WATCH_PORTS : 1, reason = 0;

    *watch = NULL;
    if (!w)
        return ec_fail(EC_ERR_MEMORY, "live view: no memory");
    w->folder = folder;
    w->start = (int64_t)time(NULL);
    for (int i = 0; i < LOOKERS; i++)
        w->lookers[i].asked = -INFINITY;
    pthread_mutex_init(&w->lock, NULL);
    sigfillset(&all); /* signals are for the thread that computes */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < ports && !w->daemon; i++) {
        w->daemon = listen_at(w, first + i);
        reason = errno;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!w->daemon) {
        ec_cli_watch_end(&w, false);
        return ec_fail(EC_ERR_FILE, "live view: port %d of 127.0.0.1 cannot be used%s%s%s", first,
                       ports > 1 ? ", nor are those behind it" : "", reason ? ": " : "",
                       reason ? strerror(reason) : "");
    }
    const union MHD_DaemonInfo *bound =
        MHD_get_daemon_info(w->daemon, MHD_DAEMON_INFO_BIND_PORT, MHD_OPTION_END);
    fprintf(stderr, "the run can be watched at http://127.0.0.1:%u/\n",
            bound ? (unsigned)bound->port : (unsigned)first);
    *watch = w;
    return EC_OK;
}

void ec_cli_watch_end(ec_cli_watch **watch, bool ended)
{
    static const struct timespec pause = {0, 20000000};
    ec_cli_watch *w = *watch;

    *watch = NULL;
    if (!w)
        return;
    double began = ec_wall_seconds();
    for (bool waiting = ended; waiting;) {
        pthread_mutex_lock(&w->lock);
        w->last = true;
        waiting = is_awaited(w, began) && ec_wall_seconds() - began < LOOKING_SECONDS;
        pthread_mutex_unlock(&w->lock);
        if (waiting)
            nanosleep(&pause, NULL);
    }
    if (w->daemon)
        MHD_stop_daemon(w->daemon);
    pthread_mutex_destroy(&w->lock);
    forget(&w->data);
    forget(&w->page);
    free(w);
}

#endif

/* ---- the command ----------------------------------------------------------------------------- */

int ec_cli_watch_port(const char *text, int *port)
{
    size_t n = strspn(text, "0123456789");
    long value = n > 0 && n < 6 && text[n] == 0 ? strtol(text, NULL, 10) : -1;

    if (value < 0 || value > 65535)
        return ec_cli_usage_error(
            "--port wants a whole number from 0 (any that is free) to 65535, got '%s'%s", text, "");
    *port = (int)value;
    return EC_EXIT_OK;
}

int ec_cli_watch_command(int argc, char **argv)
{
    const char *folder = NULL;
    ec_cli_watch *watch = NULL;
    int port = EC_WATCH_FREE_PORT, signal_that_came;
    sigset_t ends;

    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--port") == 0 && i + 1 < argc) {
            if (ec_cli_watch_port(argv[++i], &port) != EC_EXIT_OK)
                return EC_EXIT_USAGE;
        } else if (argv[i][0] == '-' || folder) {
            return ec_cli_misused("watch", NULL, argv[i]);
        } else {
            folder = argv[i];
        }
    }
    if (!folder)
        return ec_cli_misused("watch", "which run?", NULL);
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL); /* they wait for sigwait */
    int status =
        ec_store_exists(folder)
            ? ec_cli_watch_begin(folder, port, &watch)
            : ec_fail(EC_ERR_FILE, "'%s' holds no run: there is no '%s/run.db'", folder, folder);
    if (status < 0) {
        fprintf(stderr, "eciton: %s\n", ec_error_text());
        return EC_EXIT_ERROR;
    }
    sigwait(&ends, &signal_that_came);
    ec_cli_watch_end(&watch, false);
    return EC_EXIT_OK;
}
