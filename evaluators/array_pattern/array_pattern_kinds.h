/* array_pattern_kinds.h: the coordinates of a pattern's grid and the polarization; C17 and CUDA,
 * without the graph. */
#ifndef EC_ARRAY_PATTERN_KINDS_H
#define EC_ARRAY_PATTERN_KINDS_H

typedef enum ec_array_grid_kind {
    EC_ARRAY_CUT_U,          /* u list at a fixed v, w = sqrt(1 - u^2 - v^2): a line array's cut */
    EC_ARRAY_GRID_UV,        /* tensor product of u and v, w >= 0 */
    EC_ARRAY_CUT_THETA,      /* theta list at a fixed phi; negative theta is phi + pi */
    EC_ARRAY_CUT_PHI,        /* phi list at a fixed theta; a full turn wraps around */
    EC_ARRAY_GRID_THETA_PHI, /* tensor product, a full turn of phi wraps around */
    EC_ARRAY_DIRECTIONS      /* a list of (u, v, w) */
} ec_array_grid_kind;

/* Which part of the field counts. Co- and cross-polar by Ludwig's third definition. */
typedef enum ec_array_polarization {
    EC_POLARIZATION_TOTAL,
    EC_POLARIZATION_CO,
    EC_POLARIZATION_CROSS,
    EC_POLARIZATION_THETA,
    EC_POLARIZATION_PHI
} ec_array_polarization;

#endif
