/* cli_report.h: what the program says of a search: the table or the JSON line, the files of
 * --out, and the page of `eciton check`. */
#ifndef EC_CLI_REPORT_H
#define EC_CLI_REPORT_H

#include "cli_options.h"

typedef struct ec_cli_report {
    const ec_cli_options *options;
    ec_backend *backend;
    ec_log *log;
    char *json; /* of the last search, malloc'ed */
    int searches;
    int views; /* that `eciton check` has drawn */
} ec_cli_report;

/* Prints or keeps the result and writes its files; a status. */
int ec_cli_report_result(ec_cli_report *report, ec_job *job, const ec_result *result);
/* Lines of the page of `eciton check`: variables and goals of a job; its graph, memory and time. */
void ec_cli_report_job(const ec_job *job);
void ec_cli_report_plan(const ec_check *check);
int ec_cli_report_check(ec_cli_report *report, ec_job *job, const ec_solve_info *info);

#endif
