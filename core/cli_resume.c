/* eciton resume: starts a run again as the store in its folder tells; its searches go on from their
 * states there. */
#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "run_store.h"

static int resume(const ec_store_run *run, ec_cli_options *o)
{
    ec_lua_set *sets = calloc(run->n_settings + 1, sizeof *sets);
    if (!sets) {
        fprintf(stderr, "eciton: no memory\n");
        return EC_EXIT_ERROR;
    }
    for (size_t i = 0; i < run->n_settings; i++)
        sets[i] = (ec_lua_set){run->settings[i].name, run->settings[i].value, false};
    free(o->sets);
    o->sets = sets;
    o->n_sets = (int)run->n_settings;
    o->script = run->script;
    o->data = run->data;
    if (!o->backend)
        o->backend = run->backend;
    o->isa = run->isa[0] ? run->isa : NULL;
    o->seed_given = run->seed[0] != 0;
    o->seed = strtoull(run->seed, NULL, 10);
    o->quick = run->quick;
    o->trust = run->trust;
    o->checkpoint_seconds = run->checkpoint_seconds;
    o->resume = true;
    return ec_cli_run(o);
}

/* What a run was started with cannot be changed when it goes on; of the backend its kind, which the
 * states tell. */
static const char *fixed_flag(const ec_cli_options *o)
{
    return o->data                 ? "--data"
           : o->out                ? "--out"
           : o->seed_given         ? "--seed"
           : o->n_sets             ? "--set"
           : o->quick              ? "--quick"
           : o->trust              ? "--trust"
           : o->fresh              ? "--fresh"
           : o->checkpoint_seconds ? "--checkpoint"
                                   : NULL;
}

/* The run that the folder holds; opened to be written, so that what is damaged is mended before. */
static int read_run(const char *folder, ec_log *log, ec_store_run *run)
{
    ec_store *store = NULL;
    bool found = false;

    if (!ec_store_exists(folder))
        return ec_fail(EC_ERR_FILE, "'%s' holds no run: there is no '%s/run.db'", folder, folder);
    int status = ec_store_open(folder, EC_STORE_WRITE, log, &store);
    if (status == EC_OK)
        status = ec_store_run_read(store, run, &found);
    ec_store_close(&store);
    if (status == EC_OK && (!found || !run->script)) {
        if (found)
            ec_store_run_release(run);
        return ec_fail(EC_ERR_FILE, "'%s' holds no run that has begun", folder);
    }
    return status;
}

static int go_on(ec_cli_options *o)
{
    ec_store_run run;
    int status;

    if (read_run(o->out, NULL, &run) != EC_OK) {
        fprintf(stderr, "eciton: %s\n", ec_error_text());
        return EC_EXIT_ERROR;
    }
    if (strcmp(run.version, EC_VERSION) != 0 && !o->force) {
        fprintf(stderr,
                "eciton: '%s' was begun by version %s, this is %s: a run goes on with the version "
                "that began it, or with --force to other bits\n",
                o->out, run.version, EC_VERSION);
        status = EC_EXIT_ERROR;
    } else {
        status = resume(&run, o);
    }
    ec_store_run_release(&run);
    return status;
}

int ec_cli_resume(int argc, char **argv)
{
    ec_cli_options options = {.check = false};

    if (argc == 0)
        return ec_cli_usage_error("which run? eciton resume DIR%s%s", "", "");
    int status = ec_cli_options_parse(argc, argv, &options);
    const char *fixed = status == EC_EXIT_OK ? fixed_flag(&options) : NULL;
    if (fixed)
        status = ec_cli_usage_error("%s is not for resume: the run goes on as it was begun%s",
                                    fixed, "");
    if (status == EC_EXIT_OK) {
        options.out = options.script; /* the one word that is no flag */
        status = go_on(&options);
    }
    ec_cli_options_release(&options);
    return status;
}
