/* cli_links.h: what a run says of the best design's links (mimo_design.h): files of --out, and the
 * places of few antennas in its summary.
 *
 * Of link i of a search (the first has no number, the others _2, _3, ...):
 *   antennas.csv              where the antennas are and point to
 *   channel.npy channel.csv   H
 *   paths.csv paths.vtk       the strongest paths of each pair of antennas
 *   scene.vtk                 what they lie in; once for links in one scene
 *   coverage.csv              of several receivers: gain, and with a link budget received power and
 *                             capacity, each with a map coverage_....png
 */
#ifndef EC_CLI_LINKS_H
#define EC_CLI_LINKS_H

#include "solve.h"

/* Into a folder that exists. What would be too large is left out, and the log says so. */
int ec_cli_links_write(ec_job *job, const ec_result *result, ec_backend *backend,
                       const char *folder, ec_log *log);
/* Where the search has placed antennas, a line an end, to stdout. */
void ec_cli_links_print(ec_job *job, const ec_result *result, ec_backend *backend, ec_log *log);

/* Warns of what the best design's links have that cannot be, or is missing (mimo_warnings.h). */
void ec_cli_links_warn(ec_job *job, const ec_result *result, ec_backend *backend, ec_log *log);

#endif
