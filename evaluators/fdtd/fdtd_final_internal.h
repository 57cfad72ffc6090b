/* fdtd_final_internal.h: the model of final fidelity, which is that of the search on a finer grid. */
#ifndef EC_FDTD_FINAL_INTERNAL_H
#define EC_FDTD_FINAL_INTERNAL_H

#include "fdtd_lines_internal.h"

EC_C_BEGIN

/* ERR_RANGE, ERR_ARGUMENT: what of config->final is coarser than in the search. */
int ec_fdtd_final_check(const ec_fdtd_config *config);
/* A copy of the search's model, its numbers and designs, with what is on in its final. */
int ec_fdtd_final_model(const ec_fdtd_model *search, ec_fdtd_model **final);
/* What only planned lines tell: ERR_RANGE where an axis that is uniform at one of both has fewer cells,
 * or where a fixed number of steps is a shorter time. */
int ec_fdtd_final_check_lines(const ec_fdtd_line_plan *search, const ec_fdtd_line_plan *final);

EC_C_END
#endif
