/* wall_clock.h: seconds of a clock that only goes forward, from an arbitrary start. For time limits
 * and progress; no result depends on it but where a time limit ends a run. */
#ifndef EC_WALL_CLOCK_H
#define EC_WALL_CLOCK_H

#include "base.h"

EC_C_BEGIN

EC_API double ec_wall_seconds(void);

EC_C_END
#endif
