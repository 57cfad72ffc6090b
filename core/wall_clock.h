/* wall_clock.h: seconds of a clock that only goes forward, from an arbitrary start. For time limits
 * and progress; no result depends on it but where a time limit ends a run. */
#ifndef EC_WALL_CLOCK_H
#define EC_WALL_CLOCK_H

#include <time.h>

static inline double ec_wall_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
