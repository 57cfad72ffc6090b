/* cli_sweep.h: what the program says of a sweep: its summary or JSON line, plots into --out, and the
 * page of `eciton check`. */
#ifndef EC_CLI_SWEEP_H
#define EC_CLI_SWEEP_H

#include "cli_report.h"

int ec_cli_sweep_result(ec_cli_report *report, const ec_sweep *sweep, const ec_sweep_plan *plan,
                        const char *name);
int ec_cli_sweep_sensitivity(ec_cli_report *report, const ec_sensitivity *sensitivity,
                             const ec_sweep *sweep, const char *name);
int ec_cli_sweep_check(ec_cli_report *report, ec_job *job, const ec_sweep_info *info);

#endif
