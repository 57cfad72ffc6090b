/* cli_models.h: the files of --out that say what the S-parameters of the best design's structures are
 * (fdtd_network.h): sparameters.sNp and sparameters.csv; of further models of a search _2, _3, ... */
#ifndef EC_CLI_MODELS_H
#define EC_CLI_MODELS_H

#include "solve.h"

/* Into a folder that exists. */
int ec_cli_models_write(ec_job *job, const ec_result *result, ec_backend *backend,
                        const char *folder, ec_log *log);

#endif
