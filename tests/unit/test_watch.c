/* test_watch.c: `eciton run --watch` and `eciton watch` over a socket: the page and data that grow, tags, the
 * last state at the run's end, what is refused, and that only this machine is listened to. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cJSON.h>
#include <cmocka.h>

#define PROGRAM EC_TEST_BINARY_DIR "/bin/eciton"

enum { LONGEST = 16 << 20, PATIENCE = 60 /* seconds */ };

static char folder[64];
static pid_t child;
static int port;

static int setup(void **state)
{
    (void)state;
    child = 0;
    snprintf(folder, sizeof folder, "/tmp/eciton_watch_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[200];

    (void)state;
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){0, 50000000}, NULL);
}

/* ---- the program ---- */

/* A search that ends by a signal only. */
static const char *write_script(void)
{
    static char path[100];

    snprintf(path, sizeof path, "%s/endless.lua", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("local ec = require 'eciton'\n"
          "local job = ec.job{ name = 'endless' }\n"
          "local x = job:real{ name = 'x', count = 8, min = -5, max = 5 }\n"
          "job:minimize('f', ec.sum(x * x))\n"
          "job:solve{ method = 'de', seconds = 600, polish = false }\n",
          file);
    fclose(file);
    return path;
}

/* What the program that was started says, the first of it. */
static char *said(void)
{
    static char text[4000];
    char path[100];

    snprintf(path, sizeof path, "%s/said", folder);
    FILE *file = fopen(path, "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* Starts the program with its words, the last of which is NULL. */
static void start(const char *const *words)
{
    char path[100];

    snprintf(path, sizeof path, "%s/said", folder);
    unlink(path); /* what another one said is not read for its words */
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(to, STDERR_FILENO);
        dup2(to, STDOUT_FILENO);
        execv(PROGRAM, (char *const *)words);
        _exit(127);
    }
}

static int ended(void)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Waits for the address that the program says. */
static void find_port(void)
{
    static const char address[] = "http://127.0.0.1:";

    for (int i = 0; i < PATIENCE * 20; i++) {
        const char *at = strstr(said(), address);
        if (at && strchr(at, '\n')) {
            port = atoi(at + strlen(address));
            assert_in_range(port, 1, 65535);
            return;
        }
        wait_a_little();
    }
    fail_msg("no address: %s", said());
}

/* ---- requests ---- */

static int connect_to(int at)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)at)};
    int s = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s >= 0 && connect(s, (struct sockaddr *)&address, sizeof address) != 0) {
        close(s);
        return -1;
    }
    return s;
}

static char answer[LONGEST];

/* The status of the answer, whose head and body are in `answer`; the body. 0: nobody listens. */
static int ask_with(const char *method, const char *path, const char *headers, char **body)
{
    char request[1000];
    size_t n = 0;
    int s = connect_to(port);

    if (s < 0)
        return 0;
    int length = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nConnection: close\r\n%s\r\n",
                          method, path, headers);
    assert_int_equal(write(s, request, (size_t)length), length);
    for (ssize_t got; (got = read(s, answer + n, sizeof answer - 1 - n)) > 0;)
        n += (size_t)got;
    close(s);
    answer[n] = '\0';
    char *end = strstr(answer, "\r\n\r\n");
    if (!end)
        return 0;
    *end = '\0';
    *body = end + 4;
    int status = 0;
    assert_int_equal(sscanf(answer, "HTTP/1.1 %d", &status), 1);
    return status;
}

static int ask(const char *path, char **body)
{
    return ask_with("GET", path, "Host: 127.0.0.1\r\n", body);
}

/* ---- */

static cJSON *data_of(const char *body)
{
    cJSON *json = cJSON_Parse(body);
    assert_non_null(json);
    return json;
}

static const char *status_of(const cJSON *json)
{
    const cJSON *run = cJSON_GetObjectItem(json, "run");
    const cJSON *status = cJSON_GetObjectItem(run, "status");
    return cJSON_IsString(status) ? status->valuestring : "";
}

/* The last generation of the first search, -1 before there is one. */
static double generation(const cJSON *json)
{
    const cJSON *search = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "searches"), 0);
    const cJSON *rows = cJSON_GetObjectItem(cJSON_GetObjectItem(search, "history"), "rows");
    int n = cJSON_GetArraySize(rows);
    return n > 0 ? cJSON_GetArrayItem(cJSON_GetArrayItem(rows, n - 1), 0)->valuedouble : -1;
}

/* Data with a later generation than the last. */
static double wait_for(double last)
{
    char *body;

    for (int i = 0; i < PATIENCE * 20; i++) {
        if (ask("/data.json", &body) == 200) {
            cJSON *json = data_of(body);
            double now = generation(json);
            assert_string_equal(status_of(json), now < 0 ? status_of(json) : "running");
            cJSON_Delete(json);
            if (now > last)
                return now;
        }
        wait_a_little();
    }
    fail_msg("no data after generation %g: %s", last, said());
    return 0;
}

static void test_run(void **state)
{
    char out[100], tag[200], *body;
    const char *words[] = {PROGRAM,  "run", write_script(), "--out",     out, "--watch",
                           "--port", "0",   "--quiet",      "--threads", "1", NULL};

    (void)state;
    snprintf(out, sizeof out, "%s/out", folder);
    start(words);
    find_port();
    /* the page is whole, may ask for data, and holds the script that does */
    assert_int_equal(ask("/", &body), 200);
    assert_non_null(strstr(body, "</html>"));
    assert_non_null(strstr(body, "connect-src 'self'"));
    assert_non_null(strstr(body, "fetch(\"data.json?page=\""));
    assert_non_null(strstr(answer, "no-cache"));
    wait_for(wait_for(wait_for(-1))); /* it grows, twice */
    /* the end is there to be fetched by those who look, each of them */
    assert_int_equal(ask("/data.json?page=other", &body), 200);
    assert_int_equal(kill(child, SIGINT), 0);
    bool seen = false;
    for (int i = 0; i < PATIENCE * 20 && !seen; i++) {
        int status = ask("/data.json?page=one", &body);
        assert_int_equal(status, 200);
        cJSON *json = data_of(body);
        seen = strcmp(status_of(json), "interrupted") == 0;
        cJSON_Delete(json);
        if (!seen)
            wait_a_little();
    }
    assert_true(seen);
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    assert_int_equal(ask("/data.json?page=other", &body), 200);
    cJSON *end = data_of(body);
    assert_string_equal(status_of(end), "interrupted");
    cJSON_Delete(end);
    assert_int_equal(ended(), 0);
    assert_int_equal(ask("/", &body), 0);

    /* the same folder, served by a program of its own; what does not change is not sent again */
    const char *later[] = {PROGRAM, "watch", out, "--port", "0", NULL};
    start(later);
    find_port();
    assert_int_equal(ask("/data.json", &body), 200);
    cJSON *json = data_of(body);
    assert_string_equal(status_of(json), "interrupted");
    cJSON_Delete(json);
    const char *etag = strstr(answer, "ETag: ");
    assert_non_null(etag);
    snprintf(tag, sizeof tag, "Host: localhost\r\nIf-None-Match: %.*s\r\n",
             (int)strcspn(etag + 6, "\r\n"), etag + 6);
    assert_int_equal(ask_with("GET", "/data.json", tag, &body), 304);
    assert_string_equal(body, "");
    assert_int_equal(
        ask_with("GET", "/data.json", "Host: localhost\r\nIf-None-Match: \"1\"\r\n", &body), 200);
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(ended(), 0);
}

/* Lines of /proc/net/tcp: "  0: 0100007F:1F90 00000000:0000 0A ...", of listeners 0A. */
static void test_loopback(void **state)
{
    char out[400], local[40], line[400], *body;
    const char *words[] = {PROGRAM, "watch", out, "--port", "0", NULL};
    int found = 0;

    (void)state;
    snprintf(out, sizeof out, "cd %s && '%s' run %s --out o --quick --quiet >/dev/null 2>&1",
             folder, PROGRAM, write_script());
    assert_int_equal(system(out), 0);
    snprintf(out, sizeof out, "%s/o", folder);
    start(words);
    find_port();
    assert_int_equal(ask("/", &body), 200);
    snprintf(local, sizeof local, ":%04X", (unsigned)port);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(i ? "/proc/net/tcp6" : "/proc/net/tcp", "r");
        while (file && fgets(line, sizeof line, file)) {
            char at[80], far[80], kind[8];
            if (sscanf(line, " %*s %79s %79s %7s", at, far, kind) != 3 || strcmp(kind, "0A") != 0 ||
                !strstr(at, local))
                continue;
            found++;
            assert_true(strncmp(at, "0100007F:", 9) == 0);
        }
        if (file)
            fclose(file);
    }
    assert_int_equal(found, 1);

    static const struct {
        const char *method, *path, *headers;
        int status;
    } requests[] = {
        {"GET", "/", "Host: localhost:1\r\n", 200}, /* the end of a tunnel has its own port */
        {"GET", "/", "Host: LOCALHOST\r\n", 200},
        {"GET", "/", "Host: [::1]:80\r\n", 200},
        {"HEAD", "/data.json", "Host: localhost\r\n", 200},
        {"GET", "/data.json", "Host: localhost\r\nContent-Length: 0\r\n", 200},
        {"GET", "/", "Host: example.com\r\n", 403},
        {"GET", "/data.json", "Host: localhost.example.com\r\n", 403},
        {"GET", "/data.json", "Host: 127.0.0.1.example.com:80\r\n", 403},
        {"GET", "/data.json", "Host: example.com:127.0.0.1\r\n", 403},
        {"GET", "/data.json", "Host: localhost:\r\n", 403},
        {"GET", "/data.json", "Host: 127.0.0.1@example.com\r\n", 403},
        {"GET", "/run.db", "Host: localhost\r\n", 404},
        {"GET", "/report.html", "Host: localhost\r\n", 404},
        {"GET", "/../run.db", "Host: localhost\r\n", 404},
        {"GET", "/%2e%2e/run.db", "Host: localhost\r\n", 404},
        {"GET", "//", "Host: localhost\r\n", 404},
        {"POST", "/", "Host: localhost\r\nContent-Length: 0\r\n", 405},
        {"PUT", "/data.json", "Host: localhost\r\nContent-Length: 0\r\n", 405},
        {"DELETE", "/run.db", "Host: localhost\r\n", 405},
        {"OPTIONS", "/", "Host: localhost\r\n", 405}};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        int status = ask_with(requests[i].method, requests[i].path, requests[i].headers, &body);
        if (status != requests[i].status)
            fail_msg("%s %s %s: %d in place of %d", requests[i].method, requests[i].path,
                     requests[i].headers, status, requests[i].status);
    }
    int without = ask_with("GET", "/", "", &body);
    assert_true(without == 400 || without == 403);
    /* one that never ends its request holds nobody up */
    int idle = connect_to(port);
    assert_true(idle >= 0);
    assert_int_equal(write(idle, "GET / HT", 8), 8);
    assert_int_equal(ask("/", &body), 200);
    close(idle);
    /* a body means nothing */
    assert_int_equal(
        ask_with("GET", "/", "Host: localhost\r\nContent-Length: 4\r\n\r\nbody", &body), 200);
}

static size_t resident(void)
{
    char path[64], line[200];
    size_t kilobytes = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "VmRSS: %zu", &kilobytes) != 1)
        ;
    fclose(file);
    assert_true(kilobytes > 0);
    return kilobytes << 10;
}

/* Pages that are asked for and not read are one page in memory. */
static void test_unread(void **state)
{
    enum { READERS = 24 };
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char out[400], *body;
    const char *words[] = {PROGRAM, "watch", out, "--port", "0", NULL};
    int readers[READERS];

    (void)state;
    snprintf(out, sizeof out, "cd %s && '%s' run %s --out o --quick --quiet >/dev/null 2>&1",
             folder, PROGRAM, write_script());
    assert_int_equal(system(out), 0);
    snprintf(out, sizeof out, "%s/o", folder);
    start(words);
    find_port();
    assert_int_equal(ask("/", &body), 200);
    size_t page = strlen(body), before = resident();
    for (int i = 0; i < READERS; i++) {
        char first;
        readers[i] = connect_to(port);
        assert_true(readers[i] >= 0);
        assert_int_equal(write(readers[i], request, strlen(request)), strlen(request));
        assert_int_equal(read(readers[i], &first, 1), 1);
    }
    size_t after = resident();
    if (after > before + READERS / 2 * page)
        fail_msg("%zu bytes, %zu before %d pages of %zu", after, before, READERS, page);
    for (int i = 0; i < READERS; i++)
        close(readers[i]);
}

static void test_refused(void **state)
{
    char out[100], number[20];
    const char *script = write_script();
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;

    (void)state;
    snprintf(out, sizeof out, "%s/out", folder);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(s, 1), 0);
    assert_int_equal(getsockname(s, (struct sockaddr *)&address, &length), 0);
    snprintf(number, sizeof number, "%d", ntohs(address.sin_port));
    const char *const calls[][10] = {
        {PROGRAM, "run", script, "--out", out, "--watch", "--port", number, NULL},
        {PROGRAM, "run", script, "--watch", NULL},
        {PROGRAM, "run", script, "--out", out, "--port", "8642", NULL},
        {PROGRAM, "run", script, "--out", out, "--watch", "--port", "65536", NULL},
        {PROGRAM, "run", script, "--out", out, "--watch", "--port", "-1", NULL},
        {PROGRAM, "check", script, "--out", out, "--watch", NULL},
        {PROGRAM, "watch", folder, NULL},
        {PROGRAM, "watch", NULL},
        {PROGRAM, "watch", out, "--port", NULL}};
    static const struct {
        int status;
        const char *text;
    } expected[] = {{1, "cannot be used"},
                    {2, "it needs --out DIR"},
                    {2, "the port of --watch"},
                    {2, "from 0 (any that is free) to 65535, got '65536'"},
                    {2, "got '-1'"},
                    {2, "a flag of eciton run"},
                    {1, "holds no run"},
                    {2, "which run?"},
                    {2, "got '--port'"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        start(calls[i]);
        int status = ended();
        if (status != expected[i].status || !strstr(said(), expected[i].text))
            fail_msg("call %d: %d, %s", (int)i, status, said());
    }
    close(s);
}

int main(void)
{
    const char *words[] = {PROGRAM, "info", NULL};

    /* a build without libmicrohttpd says so */
    if (setup(NULL) != 0)
        return 1;
    start(words);
    ended();
    bool without = strstr(said(), "no live view") != NULL;
    teardown(NULL);
    if (without) {
        printf("skipped: built without libmicrohttpd\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_loopback, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unread, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
