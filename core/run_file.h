/* run_file.h: what a run was started with, kept as JSON in its folder so that `eciton resume` can
 * start it again: DIR/state/run.json, beside the states of its searches.
 *
 * Numbers that do not fit a double (seeds) are texts. Unknown keys are left alone.
 */
#ifndef EC_RUN_FILE_H
#define EC_RUN_FILE_H

#include "status.h"

EC_C_BEGIN

typedef struct ec_run_setting {
    char *name, *value;
} ec_run_setting;

typedef struct ec_run_file {
    char version[32];
    char *script, *data; /* absolute paths; data may be NULL */
    char backend[160];   /* as it was chosen, with its workers: "cuda:0,cuda:1" */
    char isa[8];         /* "" on CUDA */
    char seed[24];       /* "" when none was given */
    bool quick, trust;
    double checkpoint_seconds;
    ec_run_setting *sets;
    size_t n_sets;
} ec_run_file;

/* Folder of the states below the run's folder. ERR_ARGUMENT when the path is too long. */
EC_API int ec_run_state_folder(const char *folder, char *path, size_t size);
/* Begins a run in `folder`: creates the folder of states, removes states of an earlier run there,
 * and writes run.json. */
EC_API int ec_run_file_write(const ec_run_file *run, const char *folder);
/* Marks the run in `folder` as over. */
EC_API int ec_run_file_finish(const char *folder);
/* Whether the folder holds a run that was ended from outside and has a state to go on from. */
EC_API bool ec_run_is_unfinished(const char *folder);
/* Reads it back; *run is to be released. Errors: there is none, or it is no run.json. */
EC_API int ec_run_file_read(const char *folder, ec_run_file *run);
EC_API void ec_run_file_release(ec_run_file *run);

EC_C_END
#endif
