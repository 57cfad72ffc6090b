/* path_moments.h: sums over the paths of a pair of antennas, and what spreads they stand for.
 *
 * A path has the power p = |h|^2 with both antennas' fields, the excess x of its length over the
 * distance of the antennas in sizes of the scene, and the directions in which it leaves and
 * arrives. Sums are sum p, sum p x, sum p x^2 and, for azimuth and elevation at either end, sum p
 * cos and sum p sin; then sum |h|, of all paths and of those near grazing; the peak is the largest
 * p. They are added in bins (path_kernels.h), so a pair's are the same bits however its paths are
 * cut into slices.
 *
 *   K factor       peak / (sum p - peak): the strongest path over all the others (the Ricean K of a
 *                  deterministic channel, where the strongest path is the one that does not fade)
 *   mean delay     sum p t / sum p, and its standard deviation, the delay spread: ITU-R P.1407, 2.2
 *   angular spread sqrt(-2 ln R), R = |sum p e^(j angle)| / sum p: 3GPP TR 38.901, annex A.1, the
 *                  circular standard deviation (Mardia, "Statistics of Directional Data", 1972).
 *                  Azimuth is about z from x; a vertical path has the azimuth 0. Elevation is that
 *                  over the plane of x and y. Departure is away from the transmitter, arrival
 *                  along the ray; the other sense has the same spread.
 *   grazing share  sum |h| of paths near grazing at a curved surface over sum |h|: how much of a
 *                  channel geometrical optics may be wrong about (path.h)
 *
 * Differences of nearly equal sums lose digits: a delay spread is right to about 3e-8 of the
 * largest excess delay, an angular spread to 3e-8 rad, K up to 150 dB. Gains below 1e-36 are not
 * seen. Shared by C17 and CUDA. */
#ifndef EC_PATH_MOMENTS_H
#define EC_PATH_MOMENTS_H

#include "../../core/detmath.h"
#include "path_types.h"

enum {
    EC_MOMENT_POWER,
    EC_MOMENT_EXCESS,
    EC_MOMENT_EXCESS_SQUARE,
    EC_MOMENT_ANGLE, /* cosine and sine of azimuth, then of elevation; at tx, then at rx */
    EC_MOMENT_SIZE = EC_MOMENT_ANGLE + 8, /* |h| */
    EC_MOMENT_GRAZING_SIZE,
    EC_MOMENT_SUMS,
    EC_MOMENT_PEAK = EC_MOMENT_SUMS,
    EC_MOMENTS
};

/* Angular spreads: 0 azimuth, 1 elevation at the transmitter, 2, 3 at the receiver. */
enum { EC_MOMENT_ANGLES = 4 };

/* The moments that something needs, a bit each. */
enum {
    EC_MOMENTS_K = 1 << EC_MOMENT_POWER | 1 << EC_MOMENT_PEAK,
    EC_MOMENTS_GRAZING = 1 << EC_MOMENT_SIZE | 1 << EC_MOMENT_GRAZING_SIZE,
    EC_MOMENTS_DELAY = 1 << EC_MOMENT_POWER | 1 << EC_MOMENT_EXCESS | 1 << EC_MOMENT_EXCESS_SQUARE,
};

EC_FN uint32_t ec_moments_of_angle(int angle)
{
    return (1u << EC_MOMENT_POWER) | (3u << (EC_MOMENT_ANGLE + 2 * angle));
}

/* How many of the moments below `moment` there are in a set. */
EC_FN size_t ec_moments_before(uint32_t set, int moment)
{
    size_t n = 0;
    for (int m = 0; m < moment; m++)
        n += set >> m & 1;
    return n;
}

EC_FN size_t ec_moments_count(uint32_t set)
{
    return ec_moments_before(set, EC_MOMENTS);
}

/* Cosine and sine of azimuth and elevation of a unit vector. */
EC_FN void ec_moment_angles(const double d[3], double to[4])
{
    double across = sqrt(d[0] * d[0] + d[1] * d[1]);
    bool vertical = across < 1e-12;

    to[0] = vertical ? 1 : d[0] / across;
    to[1] = vertical ? 0 : d[1] / across;
    to[2] = across;
    to[3] = d[2];
}

/* What a path's power is multiplied with in each sum: the same for all frequencies. */
EC_FN void ec_moment_weights(double excess, const double leaves[3], const double arrives[3],
                             double weight[EC_MOMENT_SIZE])
{
    weight[EC_MOMENT_POWER] = 1;
    weight[EC_MOMENT_EXCESS] = excess;
    weight[EC_MOMENT_EXCESS_SQUARE] = excess * excess;
    ec_moment_angles(leaves, weight + EC_MOMENT_ANGLE);
    ec_moment_angles(arrives, weight + EC_MOMENT_ANGLE + 4);
}

/* ---- from sums to metrics -------------------------------------------------------------------- */

/* dB within +-150: 150 for one path, -150 for none. */
EC_FN double ec_moment_k_factor_db(double power, double peak)
{
    double others = power - peak, least = 1e-15 * peak;

    if (!(peak > 0))
        return -150;
    return others > least ? 10 * ec_det_log10(peak / others) : 150;
}

/* Mean and standard deviation of the excess; 0 without paths. */
EC_FN double ec_moment_mean(double power, double sum)
{
    return power > 0 ? sum / power : 0;
}

EC_FN double ec_moment_deviation(double power, double sum, double squares)
{
    double mean = ec_moment_mean(power, sum);
    double variance = ec_moment_mean(power, squares) - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

#define EC_MOMENT_SPREAD_MAX 8.6

/* rad, 0 without paths; where directions cancel, ln R is taken at 2^-53, 8.57. */
EC_FN double ec_moment_spread(double power, double cosine, double sine)
{
    double r = ec_moment_mean(power, sqrt(cosine * cosine + sine * sine));

    if (!(power > 0) || r >= 1)
        return 0;
    return sqrt(-2 * ec_det_log(r > 0x1p-53 ? r : 0x1p-53));
}

#endif
