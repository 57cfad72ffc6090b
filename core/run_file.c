/* run_file.c: see run_file.h. */
#include "run_file.h"
#include "output.h"

#include <cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUN_FILE_LARGEST = 1 << 20 };

int ec_run_state_folder(const char *folder, char *path, size_t size)
{
    int n = snprintf(path, size, "%s/state", folder);

    if (n < 0 || (size_t)n >= size)
        return ec_fail(EC_ERR_ARGUMENT, "'%.80s...': the path is too long", folder);
    return EC_OK;
}

/* Counts the states of searches in a folder, or removes them. */
static size_t states_in(const char *folder, bool removed)
{
    static const char begin[] = "search_";
    DIR *entries = opendir(folder);
    char path[4400];
    size_t n = 0;

    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (strncmp(entry->d_name, begin, sizeof begin - 1) == 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path) {
            n++;
            if (removed)
                unlink(path);
        }
    if (entries)
        closedir(entries);
    return n;
}

static bool file_in(const char *folder, const char *name, bool removed)
{
    char path[4400];

    if (snprintf(path, sizeof path, "%s/state/%s", folder, name) >= (int)sizeof path)
        return false;
    return removed ? unlink(path) == 0 : access(path, F_OK) == 0;
}

int ec_run_file_finish(const char *folder)
{
    char state[4200];

    int status = ec_run_state_folder(folder, state, sizeof state);
    return status == EC_OK ? ec_output_write(state, "finished", "", 0) : status;
}

bool ec_run_is_unfinished(const char *folder)
{
    char state[4200];

    return ec_run_state_folder(folder, state, sizeof state) == EC_OK &&
           file_in(folder, "run.json", false) && !file_in(folder, "finished", false) &&
           states_in(state, false) > 0;
}

static bool add_all(const ec_run_file *run, cJSON *object)
{
    bool good = cJSON_AddStringToObject(object, "eciton", run->version) &&
                cJSON_AddStringToObject(object, "script", run->script) &&
                cJSON_AddStringToObject(object, "backend", run->backend) &&
                cJSON_AddStringToObject(object, "isa", run->isa) &&
                cJSON_AddStringToObject(object, "seed", run->seed) &&
                cJSON_AddBoolToObject(object, "quick", run->quick) &&
                cJSON_AddBoolToObject(object, "trust", run->trust) &&
                cJSON_AddNumberToObject(object, "checkpoint_seconds", run->checkpoint_seconds);

    if (good && run->data)
        good = cJSON_AddStringToObject(object, "data", run->data) != NULL;
    cJSON *sets = good ? cJSON_AddObjectToObject(object, "set") : NULL;
    for (size_t i = 0; sets && good && i < run->n_sets; i++)
        good = cJSON_AddStringToObject(sets, run->sets[i].name, run->sets[i].value) != NULL;
    return sets && good;
}

int ec_run_file_write(const ec_run_file *run, const char *folder)
{
    char state[4200];
    cJSON *object = cJSON_CreateObject();
    char *text = object && add_all(run, object) ? cJSON_Print(object) : NULL;
    int status = ec_run_state_folder(folder, state, sizeof state);

    if (status == EC_OK && !text)
        status = ec_fail(EC_ERR_MEMORY, "no memory for run.json");
    if (status == EC_OK)
        status = ec_output_folder(state);
    if (status == EC_OK) {
        states_in(state, true);
        file_in(folder, "finished", true);
        status = ec_output_write(state, "run.json", text, strlen(text));
    }
    cJSON_free(text);
    cJSON_Delete(object);
    return status;
}

/* ---- reading ---- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? (char *)malloc(RUN_FILE_LARGEST + 1) : NULL;
    size_t size = text ? fread(text, 1, RUN_FILE_LARGEST, file) : 0;

    if (file)
        fclose(file);
    if (text)
        text[size] = '\0';
    return text;
}

static const char *string_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static bool copy_string(const cJSON *object, const char *key, char *to, size_t size)
{
    const char *text = string_of(object, key);

    return text && (size_t)snprintf(to, size, "%s", text) < size;
}

static bool read_sets(const cJSON *object, ec_run_file *run)
{
    const cJSON *sets = cJSON_GetObjectItemCaseSensitive(object, "set");
    int n = cJSON_GetArraySize(sets);

    run->sets = (ec_run_setting *)calloc((size_t)n + 1, sizeof *run->sets);
    for (const cJSON *item = sets && run->sets ? sets->child : NULL; item; item = item->next) {
        if (!cJSON_IsString(item))
            return false;
        ec_run_setting *s = &run->sets[run->n_sets++];
        s->name = strdup(item->string);
        s->value = strdup(item->valuestring);
        if (!s->name || !s->value)
            return false;
    }
    return cJSON_IsObject(sets) && run->sets;
}

static bool read_all(const cJSON *object, ec_run_file *run)
{
    const char *script = string_of(object, "script"), *data = string_of(object, "data");
    const cJSON *seconds = cJSON_GetObjectItemCaseSensitive(object, "checkpoint_seconds");

    run->script = script ? strdup(script) : NULL;
    run->data = data ? strdup(data) : NULL;
    run->quick = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "quick"));
    run->trust = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "trust"));
    run->checkpoint_seconds = cJSON_IsNumber(seconds) ? seconds->valuedouble : 0;
    return run->script && (!data || run->data) &&
           copy_string(object, "eciton", run->version, sizeof run->version) &&
           copy_string(object, "backend", run->backend, sizeof run->backend) &&
           copy_string(object, "isa", run->isa, sizeof run->isa) &&
           copy_string(object, "seed", run->seed, sizeof run->seed) && read_sets(object, run);
}

int ec_run_file_read(const char *folder, ec_run_file *run)
{
    char path[4300];

    memset(run, 0, sizeof *run);
    if (snprintf(path, sizeof path, "%s/state/run.json", folder) >= (int)sizeof path)
        return ec_fail(EC_ERR_ARGUMENT, "'%.80s...': the path is too long", folder);
    errno = 0;
    char *text = read_text(path);
    if (!text)
        return ec_fail(EC_ERR_FILE, "'%s' holds no run: '%s' cannot be read: %s", folder, path,
                       strerror(errno ? errno : EIO));
    cJSON *object = cJSON_Parse(text);
    bool good = cJSON_IsObject(object) && read_all(object, run);
    cJSON_Delete(object);
    free(text);
    if (good)
        return EC_OK;
    ec_run_file_release(run);
    return ec_fail(EC_ERR_FORMAT, "'%s' is damaged or was not written by eciton run", path);
}

void ec_run_file_release(ec_run_file *run)
{
    for (size_t i = 0; i < run->n_sets; i++) {
        free(run->sets[i].name);
        free(run->sets[i].value);
    }
    free(run->sets);
    free(run->script);
    free(run->data);
    memset(run, 0, sizeof *run);
}
