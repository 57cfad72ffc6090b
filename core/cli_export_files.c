#include "cli_export_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "output.h"
#include "output_file.h"
#include "run_store.h"

/* Names in a folder, sorted. */
typedef struct names {
    struct dirent **entry;
    int n;
} names;

/* ".s2p" of a file of two ports. */
static bool is_touchstone(const char *ending)
{
    const char *p = ending + 2;

    if (ending[0] != '.' || tolower((unsigned char)ending[1]) != 's' || !isdigit((unsigned char)*p))
        return false;
    while (isdigit((unsigned char)*p))
        p++;
    return tolower((unsigned char)p[0]) == 'p' && !p[1];
}

static const char *ending_of(const char *name)
{
    const char *point = strrchr(name, '.');

    return point && !strchr(point, '/') ? point : "";
}

static bool is_wanted(const char *name, bool touchstone)
{
    const char *ending = ending_of(name);

    return touchstone ? strlen(ending) > 3 && is_touchstone(ending)
                      : strcasecmp(ending, ".ffd") == 0;
}

static int is_result(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strncmp(entry->d_name, "run.db", 6) != 0;
}

/* Leaves those that are good. */
static void keep(names *list, const char *folder, const char *ending, bool touchstone)
{
    char path[4400];
    struct stat info;
    int n = 0;

    for (int i = 0; i < list->n; i++) {
        const char *name = list->entry[i]->d_name;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (is_wanted(name, touchstone) && (!ending || strcasecmp(ending, ending_of(name)) == 0) &&
            stat(path, &info) == 0 && S_ISREG(info.st_mode))
            list->entry[n++] = list->entry[i];
        else
            free(list->entry[i]);
    }
    list->n = n;
}

static void release(names *list)
{
    for (int i = 0; i < list->n; i++)
        free(list->entry[i]);
    free(list->entry);
    *list = (names){.n = 0};
}

/* "a, b and 3 more". */
static void join(const names *list, char *text, size_t size)
{
    enum { SHOWN = 10 };
    size_t n = 0;

    text[0] = 0;
    for (int i = 0; i < list->n && i < SHOWN && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? ", " : "", list->entry[i]->d_name);
    if (list->n > SHOWN && n < size)
        snprintf(text + n, size - n, " and %d more", list->n - SHOWN);
}

static int read_names(const char *folder, names *list)
{
    list->n = scandir(folder, &list->entry, is_result, alphasort);
    if (list->n >= 0)
        return EC_OK;
    list->n = 0;
    return ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", folder, strerror(errno));
}

/* A run that goes on, or was killed, writes these files at its end. */
static int say_unfinished(const char *folder)
{
    ec_store *store = NULL;
    ec_store_run run;
    bool found = false;

    int status = ec_store_open(folder, EC_STORE_READ, NULL, &store);
    if (status == EC_OK)
        status = ec_store_run_read(store, &run, &found);
    if (status == EC_OK && found) {
        if (strcmp(run.status, "running") == 0)
            fprintf(stderr,
                    "eciton: the run in '%s' has not come to its end, when files are written: what "
                    "there is may be of an earlier one\n",
                    folder);
        ec_store_run_release(&run);
    }
    ec_store_close(&store);
    return status;
}

static int copy(const char *from, const char *to)
{
    struct stat one, other;
    ec_output_file out;
    char block[16384];

    if (stat(from, &one) == 0 && stat(to, &other) == 0 && one.st_dev == other.st_dev &&
        one.st_ino == other.st_ino)
        return ec_fail(EC_ERR_ARGUMENT, "export: '%s' would be written over itself", from);
    FILE *file = fopen(from, "rb");
    if (!file)
        return ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", from, strerror(errno));
    int status = ec_output_file_open(to, &out);
    if (status < 0) {
        fclose(file);
        return status;
    }
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
        if (fwrite(block, 1, n, out.stream) != n)
            break; /* which closing tells */
    bool unread = ferror(file);
    fclose(file);
    status = ec_output_file_close(&out);
    if (unread && status == EC_OK) {
        remove(to);
        return ec_fail(EC_ERR_FILE, "'%s' cannot be read to its end", from);
    }
    return status;
}

static int copy_all(const char *from, const char *to, bool is_file, const names *list)
{
    char source[4400], target[4400];
    snprintf(source, sizeof source, "%s", to);
    char *slash = strrchr(source, '/');
    if (is_file && slash && slash != source)
        *slash = 0; /* the folder of a file */
    int status = is_file && (!slash || slash == source) ? EC_OK : ec_output_folder(source);

    for (int i = 0; i < list->n && status == EC_OK; i++) {
        snprintf(source, sizeof source, "%s/%s", from, list->entry[i]->d_name);
        snprintf(target, sizeof target, is_file ? "%s" : "%s/%s", to, list->entry[i]->d_name);
        status = copy(source, target);
        if (status == EC_OK)
            printf("written: %s\n", target);
    }
    return status;
}

int ec_cli_export_files(const char *from, const char *to, bool touchstone)
{
    const char *kind = touchstone ? "S-parameters (.s1p, .s2p, ...)" : "far fields (.ffd)";
    const bool is_file = to && is_wanted(to, touchstone);
    char folder[4200], text[1200];
    names list = {.n = 0};

    snprintf(folder, sizeof folder, "%s/export", from);
    int status = say_unfinished(from);
    if (status == EC_OK)
        status = read_names(from, &list);
    join(&list, text, sizeof text);
    keep(&list, from, NULL, touchstone);
    if (status == EC_OK && list.n == 0)
        status = ec_fail(EC_ERR_FILE, "the run wrote no %s into '%s': there are %s", kind, from,
                         text[0] ? text : "no files");
    if (status == EC_OK && is_file) {
        join(&list, text, sizeof text);
        keep(&list, from, ending_of(to), touchstone);
        if (list.n == 0)
            status = ec_fail(EC_ERR_FILE, "none of the %s in '%s' ends in %s: there are %s", kind,
                             from, ending_of(to), text);
        else if (list.n > 1)
            status =
                ec_fail(EC_ERR_ARGUMENT,
                        "'%s' is one file and '%s' has several that end in %s: %s (--to FOLDER "
                        "takes all)",
                        to, from, ending_of(to), text);
    }
    if (status == EC_OK)
        status = copy_all(from, to ? to : folder, is_file, &list);
    release(&list);
    return status;
}
