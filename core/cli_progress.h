/* cli_progress.h: what the program writes to stderr while it runs: notes and warnings of the
 * core, and the progress of a search: on a terminal a line that is written over, otherwise a
 * line every two seconds. */
#ifndef EC_CLI_PROGRESS_H
#define EC_CLI_PROGRESS_H

#include "sweep.h"

enum { EC_CLI_NOTES = 256 };

typedef struct ec_cli_progress {
    ec_log log; /* its sink is this struct */
    bool quiet, terminal;
    bool line_open;   /* a progress line stands on the terminal */
    bool constrained; /* the job has constraints: show the violation of an infeasible best */
    double last;      /* when a line was written, seconds of the run */
    uint64_t last_evaluations;
    uint64_t seen[EC_CLI_NOTES]; /* hashes of notes: each is written once */
    int n_seen;
} ec_cli_progress;

void ec_cli_progress_begin(ec_cli_progress *progress, bool quiet);
void ec_cli_progress_solve(ec_cli_progress *progress, const ec_job *job, const ec_solve_info *info);
void ec_cli_progress_row(ec_cli_progress *progress, const ec_history_row *row, double seconds_left);
void ec_cli_progress_sweep(ec_cli_progress *progress, const ec_job *job, const ec_sweep_info *info);
void ec_cli_progress_rows(ec_cli_progress *progress, const ec_sweep *sweep, double seconds,
                          double seconds_left);
/* Takes the progress line off the terminal. */
void ec_cli_progress_clear(ec_cli_progress *progress);

#endif
