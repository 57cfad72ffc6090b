/* ray_numbers.h: numbers for tests of rays: complex ones as C's own, and random ones that repeat. */
#ifndef RAY_NUMBERS_H
#define RAY_NUMBERS_H

#include "core/base.h"
#include "core/array.h"

#include <complex.h>
#include <math.h>
#include <stdint.h>

static inline double complex of_c(ec_c128 z)
{
    return z.re + z.im * I;
}

/* Splitmix64, in [0, 1): the seed is fixed, so a failure repeats. */
static inline double next_unit(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline void random_unit(uint64_t *seed, double v[3])
{
    for (int i = 0; i < 3; i++)
        v[i] = next_unit(seed) + next_unit(seed) + next_unit(seed) - 1.5;
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

#endif
