/* cli_patterns.h: the files of --out that say what the best design's arrays look like.
 *
 * Of array i of a search (the first has no number, the others _2, _3, ...):
 *   elements.csv            the element table
 *   pattern.csv             the pattern on a grid at least as fine as the script's, with the limits
 *                           of its masks on a cut
 *   pattern.ffd .cut        the far field on the script's own theta-phi grid; of a theta cut .cut
 *   pattern_u_cut.csv ...   of a surface: cuts through its peak along both coordinates, with the
 *                           limits of its masks; theta-phi with the peak at the pole: theta cuts, the
 *                           second (cross_cut) a quarter turn on
 *   pattern_uv.csv          of a theta-phi grid that sees a part of the front half: that half in
 *                           the u-v plane
 * and a plot of each pattern (output.h). Levels are in dB over the peak. An array that differs from
 * one before it in polarization only has patterns, but no tables and fields of its own.
 */
#ifndef EC_CLI_PATTERNS_H
#define EC_CLI_PATTERNS_H

#include "solve.h"

/* Nodes that the job's goals, constraints and records need; malloc'ed, ec_graph_count long. */
bool *ec_cli_job_nodes(const ec_job *job);
/* The calls of an evaluator among them that `wanted` (NULL: all) wants, each once, up to `most`; *left_out:
 * how many more. */
int ec_cli_calls_of(const ec_graph *graph, const bool *needed, const ec_evaluator_def *def,
                    bool (*wanted)(const ec_call *call), int most, ec_call **calls, int *left_out);
/* The same of all nodes that a job needs. Negative: a status. */
int ec_cli_job_calls(const ec_job *job, const ec_evaluator_def *def,
                     bool (*wanted)(const ec_call *call), int most, ec_call **calls, int *left_out);
/* An output of an array that is no adjoint. */
bool ec_cli_is_array_output(const ec_node *node);

/* Into a folder that exists. What an array has no such file for (uneven grids, fields that are not
 * finite) is said in the log. */
int ec_cli_patterns_write(ec_job *job, const ec_result *result, ec_backend *backend,
                          const char *folder, ec_log *log);

#endif
