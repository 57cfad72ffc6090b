/* eciton.h: the public C API in one include, for programs that link the library.
 *
 * In the order one calls them: a backend (backend.h), a graph and a job on it (graph.h, job.h), a C
 * function as its model where that is not made of expressions (callback.h), ec_solve (solve.h), the
 * result's JSON line and files (output.h), and what lasts (run_store.h); instead of a search a plan and ec_sweep_run (sweep.h),
 * with rows in the run store (sweep_table.h), or an analysis of sensitivity (sensitivity.h). Errors are
 * negative statuses with a sentence in ec_error_text (status.h). Evaluators have headers of their
 * own, such as array_pattern.h.
 */
#ifndef EC_ECITON_H
#define EC_ECITON_H

#include "status.h"
#include "log.h"
#include "backend.h"
#include "array.h"
#include "graph.h"
#include "job.h"
#include "callback.h"
#include "solve.h"
#include "output.h"
#include "run_store.h"
#include "sweep_output.h"
#include "sweep_table.h"
#include "sensitivity.h"

#endif
