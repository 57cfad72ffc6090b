/* eciton resume: starts a run again as run.json in its folder tells; its searches go on from the
 * states beside it. */
#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "run_file.h"

static int resume(const ec_run_file *run, ec_cli_options *o)
{
    ec_lua_set *sets = calloc(run->n_sets + 1, sizeof *sets);
    if (!sets) {
        fprintf(stderr, "eciton: no memory\n");
        return EC_EXIT_ERROR;
    }
    for (size_t i = 0; i < run->n_sets; i++)
        sets[i] = (ec_lua_set){run->sets[i].name, run->sets[i].value, false};
    free(o->sets);
    o->sets = sets;
    o->n_sets = (int)run->n_sets;
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

int ec_cli_resume(int argc, char **argv)
{
    ec_cli_options options = {.check = false};
    ec_run_file run;

    if (argc == 0)
        return ec_cli_usage_error("which run? eciton resume DIR%s%s", "", "");
    int status = ec_cli_options_parse(argc, argv, &options);
    const char *fixed = status == EC_EXIT_OK ? fixed_flag(&options) : NULL;
    if (fixed)
        status = ec_cli_usage_error("%s is not for resume: the run goes on as it was begun%s",
                                    fixed, "");
    if (status == EC_EXIT_OK) {
        options.out = options.script; /* the one word that is no flag */
        if (ec_run_file_read(options.out, &run) != EC_OK) {
            fprintf(stderr, "eciton: %s\n", ec_error_text());
            status = EC_EXIT_ERROR;
        } else if (strcmp(run.version, EC_VERSION) != 0) {
            fprintf(stderr,
                    "eciton: '%s' was begun by version %s, this is %s: a run goes on with the "
                    "version that began it\n",
                    options.out, run.version, EC_VERSION);
            status = EC_EXIT_ERROR;
            ec_run_file_release(&run);
        } else {
            status = resume(&run, &options);
            ec_run_file_release(&run);
        }
    }
    ec_cli_options_release(&options);
    return status;
}
