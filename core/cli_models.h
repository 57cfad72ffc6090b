/* cli_models.h: the files of --out that say what the best design's structures are made of (fdtd_view.h),
 * structure.csv, and what their S-parameters are (fdtd_network.h), sparameters.sNp and sparameters.csv; of
 * further models of a search _2, _3, ... */
#ifndef EC_CLI_MODELS_H
#define EC_CLI_MODELS_H

#include "solve.h"

/* For `eciton check`: prints the grid of each model that the job needs, and where view is not NULL writes
 * what it holds at the first start design, or the middle of all variables: a .vtm with cuts in
 * NAME_cuts.png, or a .png with the cuts alone; of further models NAME_2 and so on. */
int ec_cli_models_check(ec_job *job, ec_backend *backend, const char *view, ec_log *log);
/* The same of values of models without design variables, with what they take. *views: how many were drawn
 * before, which has those of this call afterwards. */
int ec_cli_models_check_values(ec_graph *graph, int32_t n, const ec_expr *values,
                               ec_backend *backend, const char *view, int *views, ec_log *log);
/* Into a folder that exists. */
int ec_cli_models_write(ec_job *job, const ec_result *result, ec_backend *backend,
                        const char *folder, ec_log *log);

#endif
