/* mimo_internal.h: what of a call of ec_mimo_call those read that follow a design's paths
 * (mimo_design.h). */
#ifndef EC_MIMO_INTERNAL_H
#define EC_MIMO_INTERNAL_H

#include "mimo_design.h"
#include "path_field.h"

enum { EC_MIMO_IN_FREQUENCY = 8 };

/* Borrowed from the call. */
typedef struct ec_mimo_parts {
    const ec_scene *scene;
    const ec_path_plan *plan;
    const ec_path_sequences *sequences;
    int32_t n_tx, n_rx, receivers; /* n_rx: of each receiver */
    int32_t n_frequencies;
    const double *frequency;     /* Hz; NULL: the expression in[EC_MIMO_IN_FREQUENCY] of the call */
    double power_dbm, noise_dbm; /* NAN: no link budget */
    const double *power_share;   /* of each transmitter; NULL: alike */
} ec_mimo_parts;

ec_mimo_parts ec_mimo_parts_of(const ec_call *call);
/* The antenna of a number, from 0, of the transmitting or of all receiving ones. */
const ec_antenna *ec_mimo_antenna_of(const ec_call *call, bool receives, int32_t antenna);

/* The first sample of an expression at a design, complex as pairs; malloc'ed. */
int ec_mimo_evaluate(const ec_mimo_winner *winner, ec_expr expr, double **value);

#endif
