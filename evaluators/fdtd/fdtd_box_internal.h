/* fdtd_box_internal.h: a closed box of the grid around all objects, for waves that come in and for fields
 * that go out.
 *
 * On a face lie pairs of a tangential E, on the plane of nodes that is the box's end, and of the H
 * across it half a cell further out, at the same place of the face. The box's inside is what lies up to
 * the nodes. What passes from E to H and back through a pair is all that the outside knows of the
 * inside, so on the grid these hold without an error (summation by parts):
 *   - currents J = n x H at the places of E and M = -n x E at those of H radiate the outside's fields;
 *   - 1/2 Re sum area E H* is the power that leaves the box;
 *   - an incident field that is inside only is added to E by its H and taken from H by its E (total
 *     field, scattered field: K. R. Umashankar and A. Taflove, IEEE Trans. Electromagn. Compat. 24, 1982).
 * A face is missing at an electric or a magnetic wall, where the box ends at the wall. */
#ifndef EC_FDTD_BOX_INTERNAL_H
#define EC_FDTD_BOX_INTERNAL_H

#include "fdtd_build_internal.h"

EC_C_BEGIN

/* Cells from the absorbing layers to the box of outgoing and to that of incident fields. */
enum { EC_FDTD_FAR_INSET = 2, EC_FDTD_WAVE_INSET = 4 };

typedef struct ec_fdtd_box {
    int32_t lo[3], hi[3]; /* nodes */
    bool face[3][2];
} ec_fdtd_box;

typedef struct ec_fdtd_pair {
    int64_t e, h;      /* in the fields */
    int32_t place[3];  /* of E */
    int32_t cell;      /* of H along the axis; along the others it is at E's place */
    int8_t axis, side; /* of the face; 0 low, 1 high */
    int8_t e_c, h_c;   /* components of E and of H */
    int8_t turn;       /* J = turn H along e_c, M = turn E along h_c, power -turn E H* */
} ec_fdtd_pair;

/* The same for all candidates of a call. */
ec_fdtd_box ec_fdtd_box_of(const ec_fdtd_setup *setup, int32_t inset);
/* Pairs on the faces: 0 for a box without cells inside. */
int64_t ec_fdtd_box_count(const ec_fdtd_box *box);
/* pair: [count]. */
void ec_fdtd_box_pairs(const ec_fdtd_setup *setup, const ec_fdtd_box *box, ec_fdtd_pair *pair);
/* Whether a candidate's objects and ports are inside with at least a cell of air; what: what wants it so,
 * for the sentence. */
int ec_fdtd_box_check(const ec_fdtd_setup *setup, const ec_fdtd_build *build,
                      const ec_fdtd_box *box, const double *values, const char *what);
/* Area of a pair, m^2. */
static inline double ec_fdtd_pair_area(const ec_fdtd_build *b, const ec_fdtd_pair *p)
{
    return 1 / (b->id_h[p->e_c][p->place[p->e_c]] * b->id_e[p->h_c][p->place[p->h_c]]);
}

EC_C_END
#endif
