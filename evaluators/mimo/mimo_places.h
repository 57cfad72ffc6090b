/* mimo_places.h: which places of a scene antennas can be at: outside of solids, inside of rooms, off
 * surfaces; the same test that designs are checked by. */
#ifndef EC_MIMO_PLACES_H
#define EC_MIMO_PLACES_H

#include "mimo.h"

EC_C_BEGIN

/* places[i]: an antenna can be at at[i] (m), and clearance (m, >= 0) to either side of it along x, y
 * and z. threads: 0 is all. ERR_ARGUMENT: the scene has no triangles; ERR_MEMORY. */
EC_API int ec_mimo_places_free(const struct ec_scene *scene, int32_t n, const double (*at)[3],
                               double clearance, int threads, bool *places);

EC_C_END

#endif
