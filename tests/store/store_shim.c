/* store_shim.c: loaded in front of the C library (LD_PRELOAD) it counts the calls by which a program changes
 * its run store (DIR/run.db and SQLite's files beside it) and ends the program, or its room, at one of them:
 *
 *     STORE_SHIM_KILL=n   SIGKILL at the n-th call, from 1: before it, after it, or with half of the bytes
 *                         written, by the rest of n / 3
 *     STORE_SHIM_FULL=n   from the n-th call on what is written finds no room (ENOSPC), as on a full disk
 *     STORE_SHIM_COUNT=F  the calls of a program that came to its end, into the file F
 *
 * So every state in which a kill can leave the files comes by its number, not by luck. Writes to mapped
 * memory (run.db-shm) are not counted; the files are the same before and after them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static long number_of(const char *name)
{
    const char *text = getenv(name);

    return text ? strtol(text, NULL, 10) : 0;
}

static int is_store(int file)
{
    char link[64], path[4400];

    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return 0;
    path[n] = 0;
    const char *name = strrchr(path, '/');
    return name && strncmp(name, "/run.db", 7) == 0;
}

static void end_now(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

typedef struct call {
    int dies_before, dies_half, dies_after, full;
} call;

static call next_call(int file)
{
    call c = {0, 0, 0, 0};

    if (!is_store(file))
        return c;
    long n = atomic_fetch_add(&calls, 1) + 1, last = number_of("STORE_SHIM_KILL"),
         full = number_of("STORE_SHIM_FULL");
    c.dies_before = n == last && n % 3 == 0;
    c.dies_half = n == last && n % 3 == 1;
    c.dies_after = n == last && n % 3 == 2;
    c.full = full > 0 && n >= full;
    return c;
}

__attribute__((destructor)) static void tell_count(void)
{
    const char *path = getenv("STORE_SHIM_COUNT");
    FILE *to = path && calls > 0 ? fopen(path, "w") : NULL;

    if (!to)
        return;
    fprintf(to, "%ld\n", (long)calls);
    fclose(to);
}

/* The C library's own function of this name. */
static void *own(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (!function)
        abort();
    return function;
}

static ssize_t put(const char *name, int file, const void *bytes, size_t size, off_t at)
{
    ssize_t (*real)(int, const void *, size_t, off_t);
    void *function = own(name);
    call c = next_call(file);

    memcpy(&real, &function, sizeof real);
    if (c.dies_before)
        end_now();
    if (c.full) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t n = real(file, bytes, c.dies_half ? size / 2 : size, at);
    if (c.dies_half || c.dies_after)
        end_now();
    return n;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    return put("pwrite", file, bytes, size, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t at)
{
    return put("pwrite64", file, bytes, size, at);
}

/* Calls without bytes: half of one is none of it. */
static int change(const char *name, int file, off_t size, int sized)
{
    int (*real)(int, off_t), (*plain)(int);
    void *function = own(name);
    call c = next_call(file);

    memcpy(&real, &function, sizeof real);
    memcpy(&plain, &function, sizeof plain);
    if (c.dies_before || c.dies_half)
        end_now();
    int status = sized ? real(file, size) : plain(file);
    if (c.dies_after)
        end_now();
    return status;
}

int ftruncate(int file, off_t size)
{
    return change("ftruncate", file, size, 1);
}

int ftruncate64(int file, off_t size)
{
    return change("ftruncate64", file, size, 1);
}

int fsync(int file)
{
    return change("fsync", file, 0, 0);
}

int fdatasync(int file)
{
    return change("fdatasync", file, 0, 0);
}
