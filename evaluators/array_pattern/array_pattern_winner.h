/* array_pattern_winner.h: the array of a search's best design as tables and files: its elements,
 * its far field, its pattern in other directions and the limits that a mask sets there.
 *
 * Everything is computed at final fidelity; of several samples (ec.over) it is the first one.
 * Functions add nodes to the job's graph.
 */
#ifndef EC_ARRAY_PATTERN_WINNER_H
#define EC_ARRAY_PATTERN_WINNER_H

#include "../../core/solve.h"
#include "array_pattern.h"

EC_C_BEGIN

typedef struct ec_array_winner {
    const ec_job *job;
    const ec_result *result; /* found a design */
    ec_backend *backend;
    ec_call *call; /* of ec_array_call, on the job's graph */
} ec_array_winner;

/* The element table (ec_element_list_write): positions as the script has them; amplitudes; phases
 * from -180 to 180 degrees with those that steer the beam, phase - k (u0 x + v0 y + w0 z); normals
 * unless elements are isotropic. ERR_RANGE when one of them is not finite. */
EC_API int ec_array_winner_write_elements(const ec_array_winner *winner, const char *path);

/* E_theta and E_phi of the array on its own grid, with the script's amplitudes; the frequency is
 * that of the wavelength. Whatever polarization the metrics read, the field is the whole one; an
 * isotropic element has no vector field, its F is E_theta (*scalar, may be NULL) and E_phi is zero.
 * A theta cut becomes two half cuts: each |theta| at its phi and at the opposite one; so does a u cut
 * through v = 0, on directions that are even in theta. ERR_UNSUPPORTED: the array has another grid. ERR_RANGE: the field is not finite. */
EC_API int ec_array_winner_far_field(const ec_array_winner *winner, ec_far_field **field,
                                     bool *scalar);
/* The same to a file, .ffd or .cut by the ending of its name. */
EC_API int ec_array_winner_write_far_field(const ec_array_winner *winner, const char *path);

/* True when two calls have the same elements and grid: their tables and far fields are equal,
 * whatever their polarizations are. */
EC_API bool ec_array_winner_same_field(const ec_call *one, const ec_call *other);

/* |F|^2 over a grid, which differs from the configuration of the call in kind, a, b and fixed;
 * malloc'ed, [na] or [na][nb]. samples may be NULL: how many there were. */
EC_API int ec_array_winner_power(const ec_array_winner *winner, const ec_array_config *grid,
                                 double **power, int32_t *samples);
/* |F|^2 in n directions by the coordinates (a, b) of a u-v or a theta-phi grid; NaN: not visible.
 * theta may be negative. */
EC_API int ec_array_winner_along(const ec_array_winner *winner, int32_t n, const double *a,
                                 const double *b, double *power);

/* Narrows limits in dB (20 log10 |F|; NaN: none yet) in n directions to those of a mask. b is NULL
 * on a cut. `at` are coordinates where the pattern is not zero. A metric that is no mask of this
 * array leaves them as they are. */
EC_API int ec_array_winner_mask(const ec_array_winner *winner, ec_expr metric, const double at[2],
                                int32_t n, const double *a, const double *b, double *max_db,
                                double *min_db);

EC_C_END
#endif
