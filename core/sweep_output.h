/* sweep_output.h: what a sweep leaves behind besides its table: a summary for people or as JSON, and
 * plots of grids along one or two variables. */
#ifndef EC_SWEEP_OUTPUT_H
#define EC_SWEEP_OUTPUT_H

#include "sweep.h"

EC_C_BEGIN

/* Rows, failures with their reasons, the best row of each objective, the range of each recorded
 * quantity, of a list over all its elements; several lines, malloc'ed. */
EC_API int ec_sweep_output_summary(const ec_sweep *sweep, char **text);
/* One JSON object on one line, malloc'ed: name, backend, device, stop, message, rows, distinct, found,
 * run, failed, seconds, reasons { name: count }, best { objective: { row, value, variables } }. */
EC_API int ec_sweep_output_json(const ec_sweep *sweep, char **text);
/* Of a grid with one or two axes of single values: NAME_QUANTITY.csv, .gp and .png of every objective
 * and recorded quantity that is a number (output.h). */
EC_API int ec_sweep_output_plots(const ec_sweep *sweep, const ec_sweep_plan *plan,
                                 const char *folder, const char *name, ec_log *log);

EC_C_END
#endif
