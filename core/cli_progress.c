#include "cli_progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Between two lines where there is no terminal. */
static const double LINE_SECONDS = 2.0;

void ec_cli_progress_clear(ec_cli_progress *p)
{
    if (p->line_open)
        fputs("\r\033[K", stderr);
    p->line_open = false;
}

/* The same note comes with every plan of the same graph; once is enough. */
static bool seen_before(ec_cli_progress *p, const char *text)
{
    uint64_t hash = 1469598103934665603ull;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        hash = (hash ^ *c) * 1099511628211ull;
    for (int i = 0; i < p->n_seen; i++)
        if (p->seen[i] == hash)
            return true;
    if (p->n_seen < EC_CLI_NOTES)
        p->seen[p->n_seen++] = hash;
    return false;
}

static void write_note(void *user, ec_log_level level, const char *text)
{
    ec_cli_progress *p = user;
    if (level <= EC_LOG_INFO && (p->quiet || seen_before(p, text)))
        return;
    ec_cli_progress_clear(p);
    fprintf(stderr, "%s%s\n",
            level == EC_LOG_WARNING ? "warning: "
            : level == EC_LOG_ERROR ? "error: "
                                    : "",
            text);
}

void ec_cli_progress_begin(ec_cli_progress *p, bool quiet)
{
    memset(p, 0, sizeof *p);
    p->log = (ec_log){EC_LOG_INFO, write_note, p};
    p->quiet = quiet;
    p->terminal = isatty(STDERR_FILENO) == 1;
}

void ec_cli_progress_solve(ec_cli_progress *p, const ec_job *job, const ec_solve_info *info)
{
    p->last = 0;
    p->last_evaluations = 0;
    p->constrained = ec_job_constraint_count(job) > 0;
    ec_log_write(&p->log, EC_LOG_INFO, "%s: searching with %s", ec_job_name(job), info->method);
}

static void format_left(double seconds, char *text, size_t size)
{
    if (!isfinite(seconds))
        snprintf(text, size, "?");
    else if (seconds < 100)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

void ec_cli_progress_row(ec_cli_progress *p, const ec_history_row *row, double seconds_left)
{
    if (p->quiet || (!p->terminal && row->seconds - p->last < LINE_SECONDS))
        return;
    char left[32], violation[48] = "", front[64] = "";
    format_left(seconds_left, left, sizeof left);
    if (p->constrained && row->violation > 0)
        snprintf(violation, sizeof violation, " (infeasible, violation %.3g)", row->violation);
    if (row->front > 0)
        snprintf(front, sizeof front, "  front %u  hypervolume %.6g", row->front,
                 ec_printable(row->hypervolume));
    double span = row->seconds - p->last;
    double rate = span > 0 ? (double)(row->evaluations - p->last_evaluations) / span : 0;
    if (rate <= 0 && row->seconds > 0)
        rate = (double)row->evaluations / row->seconds;
    fprintf(stderr,
            "%sgeneration %u  evaluations %llu  %.3g/s  best %.6g%s  median %.6g%s  failed %llu  "
            "left %s%s",
            p->terminal ? "\r\033[K" : "", row->generation, (unsigned long long)row->evaluations,
            rate, ec_printable(row->best), violation, ec_printable(row->median), front,
            (unsigned long long)row->failed, left, p->terminal ? "" : "\n");
    fflush(stderr);
    p->line_open = p->terminal;
    if (!p->terminal || span > LINE_SECONDS) {
        p->last = row->seconds;
        p->last_evaluations = row->evaluations;
    }
}

void ec_cli_progress_sweep(ec_cli_progress *p, const ec_job *job, const ec_sweep_info *info)
{
    p->last = 0;
    ec_log_write(&p->log, EC_LOG_INFO, "%s: a sweep of %zu designs", ec_job_name(job),
                 info->plan->n);
}

void ec_cli_progress_rows(ec_cli_progress *p, const ec_sweep *sweep, double seconds,
                          double seconds_left)
{
    if (p->quiet || (!p->terminal && seconds - p->last < LINE_SECONDS))
        return;
    char left[32];
    format_left(seconds_left, left, sizeof left);
    fprintf(stderr, "%srows %zu of %zu  %.3g/s  failed %zu  left %s%s",
            p->terminal ? "\r\033[K" : "", sweep->found + sweep->run, sweep->distinct,
            seconds > 0 ? (double)sweep->run / seconds : 0, sweep->failed, left,
            p->terminal ? "" : "\n");
    fflush(stderr);
    p->line_open = p->terminal;
    p->last = seconds;
}
