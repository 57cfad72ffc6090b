#include "cli_links.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli_patterns.h"
#include "evaluators/mimo/mimo_design.h"
#include "evaluators/mimo/mimo_warnings.h"
#include "evaluators/mimo/scene_build.h"

/* Links written for one search: scripts with more save them on their own (best:save). */
enum { MOST_LINKS = 8 };

/* Of each pair of antennas; of all pairs together about so many. */
enum { STRONGEST = 20, FLOOR_DB = 60, MOST_PATHS = 100000 };

/* Sequences that are followed, over all pairs: 1e8 take some ten seconds on a core. */
static const double most_work = 1e8;
/* Rows of channel.csv, and triangles of scene.vtk. */
enum { MOST_ROWS = 1000000, MOST_TRIANGLES = 500000 };

typedef struct writing {
    const ec_mimo_design *design;
    int32_t link; /* from 1 */
    const char *folder, *title;
    char suffix[16];
    ec_log *log;
} writing;

/* FOLDER/NAME_2.ENDING */
static const char *file_of(const writing *w, const char *name, const char *ending, char path[4400])
{
    snprintf(path, 4400, "%s/%s%s.%s", w->folder, name, w->suffix, ending);
    return path;
}

static int write_channel(const writing *w)
{
    const ec_mimo_design *d = w->design;
    double rows = (double)d->n_frequencies * d->receivers * d->n_rx * d->n_tx;
    char path[4400];
    int status = ec_mimo_design_write_channel(d, file_of(w, "channel", "npy", path));
    if (status < 0)
        return status;
    ec_log_write(w->log, EC_LOG_INFO,
                 "channel%s.npy: [frequency][receiver][rx][tx] = %d x %d x %d x %d, complex128",
                 w->suffix, (int)d->n_frequencies, (int)d->receivers, (int)d->n_rx, (int)d->n_tx);
    if (rows > MOST_ROWS) {
        ec_log_write(w->log, EC_LOG_INFO,
                     "channel%s.csv was not written: it would have %.0f rows (best:save writes it)",
                     w->suffix, rows);
        return EC_OK;
    }
    return ec_mimo_design_write_channel(d, file_of(w, "channel", "csv", path));
}

static int write_paths(const writing *w)
{
    const ec_mimo_design *d = w->design;
    double work = ec_mimo_design_work(d), pairs = (double)d->receivers * d->n_rx * d->n_tx;
    ec_mimo_path_limits limits = {.strongest = STRONGEST, .floor_db = FLOOR_DB};
    ec_mimo_paths *paths = NULL;
    char path[4400];
    if (work > most_work) {
        ec_log_write(w->log, EC_LOG_INFO,
                     "paths%s.csv was not written: %.0f pairs of antennas have %.3g sequences each "
                     "(best:save writes it)",
                     w->suffix, pairs, work / pairs);
        return EC_OK;
    }
    if (pairs * STRONGEST > MOST_PATHS)
        limits.strongest = pairs > MOST_PATHS ? 1 : (int32_t)(MOST_PATHS / pairs);
    int status = ec_mimo_design_paths(d, &limits, &paths);
    if (status == EC_OK)
        status = ec_mimo_paths_write(paths, file_of(w, "paths", "csv", path));
    if (status == EC_OK)
        status = ec_mimo_paths_write(paths, file_of(w, "paths", "vtk", path));
    if (status == EC_OK)
        ec_log_write(w->log, EC_LOG_INFO,
                     "paths%s.csv: %zu paths, of each pair of antennas the %d strongest within %d "
                     "dB (best:save writes all)",
                     w->suffix, ec_mimo_paths_count(paths), (int)limits.strongest, FLOOR_DB);
    ec_mimo_paths_destroy(&paths);
    return status;
}

static int write_scene(const writing *w, const ec_scene *scene)
{
    char path[4400];
    if (scene->n_triangles > MOST_TRIANGLES) {
        ec_log_write(w->log, EC_LOG_INFO,
                     "scene%s.vtk was not written: it has %d triangles (scene:save writes it)",
                     w->suffix, (int)scene->n_triangles);
        return EC_OK;
    }
    return ec_scene_save(scene, file_of(w, "scene", "vtk", path));
}

static int write_link(writing *w, const ec_scene *scene)
{
    char name[40], path[4400];
    int status =
        ec_mimo_design_write_antennas(w->design, w->link, file_of(w, "antennas", "csv", path));
    if (status == EC_OK)
        status = write_channel(w);
    if (w->design->samples > 1)
        ec_log_write(w->log, EC_LOG_INFO,
                     "channel%s: the link of the first of %d samples (ec.over) is written",
                     w->suffix, (int)w->design->samples);
    if (status == EC_OK)
        status = write_paths(w);
    if (status == EC_OK && scene)
        status = write_scene(w, scene);
    snprintf(name, sizeof name, "coverage%s", w->suffix);
    if (status == EC_OK && w->design->receivers > 1)
        status = ec_mimo_design_map(w->design, w->title, 0, NULL, w->folder, name, w->log);
    return status;
}

int ec_cli_links_write(ec_job *job, const ec_result *result, ec_backend *backend,
                       const char *folder, ec_log *log)
{
    ec_call *calls[MOST_LINKS];
    const ec_scene *scenes[MOST_LINKS];
    char title[300];
    int left_out = 0,
        n = ec_cli_job_calls(job, &ec_evaluator_mimo, NULL, MOST_LINKS, calls, &left_out),
        status = n < 0 ? n : EC_OK;
    snprintf(title, sizeof title, "%.120s: %.60s = %.6g%s", ec_job_name(job),
             ec_job_objective(job, 0)->name, result->objective_final[0],
             result->violation > 0 ? " (infeasible)" : "");
    for (int i = 0; i < n && status == EC_OK; i++) {
        ec_mimo_winner winner = {ec_job_graph(job), job, result, backend, calls[i]};
        ec_mimo_design *design = NULL;
        bool is_new = true;
        scenes[i] = ec_mimo_scene(calls[i]);
        for (int k = 0; k < i; k++)
            is_new = is_new && scenes[k] != scenes[i];
        status = ec_mimo_design_create(&winner, &design);
        if (status == EC_ERR_RANGE) { /* the search found nothing better */
            ec_log_write(log, EC_LOG_WARNING, "the files of a link were not written: %s",
                         ec_error_text());
            status = EC_OK;
            continue;
        }
        writing w = {.design = design, .link = i + 1, .folder = folder, .title = title, .log = log};
        if (i > 0)
            snprintf(w.suffix, sizeof w.suffix, "_%d", i + 1);
        if (status == EC_OK)
            status = write_link(&w, is_new ? scenes[i] : NULL);
        ec_mimo_design_destroy(&design);
    }
    if (left_out > 0)
        ec_log_write(log, EC_LOG_INFO,
                     "the first %d links were written, %d were not (best:save writes any)", n,
                     left_out);
    return status;
}

/* ---- the result's summary --------------------------------------------------------------------- */

enum { MOST_PRINTED = 16 }; /* antennas of an end */

/* Of an end that the search has placed. */
static void print_side(const ec_mimo_winner *w, int link, bool receives, ec_log *log)
{
    const ec_expr *in = w->call->in + (receives ? 3 : 0);
    double(*at)[3] = NULL;
    int32_t n = 0;
    bool placed = false, sampled = false;

    for (int k = 0; k < 3; k++)
        placed =
            placed || ec_graph_node(w->graph, in[k])->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP);
    if (!placed)
        return;
    if (ec_mimo_design_places(w, receives, &at, &n, &sampled) < 0) {
        ec_log_write(log, EC_LOG_WARNING, "places of antennas: %s", ec_error_text());
        return;
    }
    printf("\n  %s", receives ? "receiving antennas" : "transmitting antennas");
    if (link > 0)
        printf(" of link %d", link);
    printf(", x y z in m%s\n ", sampled ? ", of the first sample" : "");
    if (n > MOST_PRINTED)
        printf(" %d antennas, antennas.csv of --out has them", (int)n);
    for (int32_t i = 0; i < n && n <= MOST_PRINTED; i++)
        printf(" (%.5g, %.5g, %.5g)", at[i][0] + 0.0, at[i][1] + 0.0, at[i][2] + 0.0);
    printf("\n");
    free(at);
}

void ec_cli_links_print(ec_job *job, const ec_result *result, ec_backend *backend, ec_log *log)
{
    ec_call *calls[MOST_LINKS];
    int left_out = 0,
        n = ec_cli_job_calls(job, &ec_evaluator_mimo, NULL, MOST_LINKS, calls, &left_out);

    for (int i = 0; i < n; i++) {
        const ec_mimo_winner winner = {ec_job_graph(job), job, result, backend, calls[i]};
        for (int receives = 0; receives < 2; receives++)
            print_side(&winner, n > 1 ? i + 1 : 0, receives, log);
    }
}

void ec_cli_links_warn(ec_job *job, const ec_result *result, ec_backend *backend, ec_log *log)
{
    ec_call *calls[MOST_LINKS];
    int left_out = 0,
        n = ec_cli_job_calls(job, &ec_evaluator_mimo, NULL, MOST_LINKS, calls, &left_out);
    for (int i = 0; i < n; i++) {
        ec_mimo_winner winner = {ec_job_graph(job), job, result, backend, calls[i]};
        ec_mimo_warn(&winner, log); /* what cannot be computed has been told */
    }
}
