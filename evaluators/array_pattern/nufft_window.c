/* nufft_window.c: the Kaiser-Bessel window, its transform, errors and polynomials. */
#include "nufft_window.h"

#include "../../core/detmath.h"
#include "nufft_types.h"

#include <string.h>

enum { ERROR_ALIASES = 6, FIT_MAX = 32 };

/* I0(x) by its series: all terms are positive. */
static double bessel_i0(double x)
{
    double q = 0.25 * x * x, term = 1.0, sum = 1.0;

    for (int k = 1; term > sum * 1e-18; k++) {
        term *= q / ((double)k * k);
        sum += term;
    }
    return sum;
}

void ec_nufft_window_make(int32_t width, double upsampling, ec_nufft_window *window)
{
    double sigma = upsampling < 4.0 ? upsampling : 4.0;
    double product = width * (1.0 - 0.5 / sigma);

    window->width = width;
    window->beta = EC_PI * sqrt(product * product - (1.05 - 1.4 / width));
    window->scale = 1.0 / bessel_i0(window->beta);
}

double ec_nufft_window_value(const ec_nufft_window *window, double t)
{
    double z = 2.0 * t / window->width;
    double root = 1.0 - z * z;

    return root < 0.0 ? 0.0 : window->scale * bessel_i0(window->beta * sqrt(root));
}

double ec_nufft_window_transform(const ec_nufft_window *window, double f)
{
    double turn = EC_PI * window->width * f;
    double square = window->beta * window->beta - turn * turn;
    double root = sqrt(fabs(square));
    double quotient = 1.0;

    if (root > 1e-6)
        quotient = (square > 0.0 ? ec_det_sinh(root) : ec_det_sin(root)) / root;
    return window->width * window->scale * quotient;
}

void ec_nufft_window_error(const ec_nufft_window *window, double band, int32_t samples,
                           bool lone_edge, ec_nufft_window_quality *q)
{
    double mean = 0.0, square = 0.0, inverse = 0.0, energy = 0.0, count = 0.0, most = 0.0;
    int steps = 16 * window->width;

    for (int32_t i = 0; i <= samples; i++) {
        double f = samples > 0 ? band * i / samples : 0.0, aliases = 0.0;
        double weight = i == 0 || (i == samples && lone_edge) ? 1.0 : 2.0;
        double own = ec_nufft_window_transform(window, f);
        for (int m = 1; m <= ERROR_ALIASES; m++)
            aliases += fabs(ec_nufft_window_transform(window, f + m)) +
                       fabs(ec_nufft_window_transform(window, f - m));
        most = fmax(most, aliases / own);
        mean += weight * aliases / own;
        square += weight * (aliases / own) * (aliases / own);
        inverse += weight / (own * own);
        count += weight;
    }
    for (int i = 0; i < steps; i++) {
        double value = ec_nufft_window_value(window, (i + 0.5) / 16.0 - 0.5 * window->width);
        energy += value * value / 16.0;
    }
    q->mean = mean / count;
    q->rms = sqrt(square / count);
    q->most = most;
    q->gain = sqrt(energy * inverse / count);
    q->most_gain = sqrt(energy) / ec_nufft_window_transform(window, band);
}

/* Powers of z, highest first, of the polynomial through value[i] at the Chebyshev nodes. */
static void fit_powers(const double *value, int32_t count, double *powers, int32_t step)
{
    double series[FIT_MAX], power[FIT_MAX] = {0}, older[FIT_MAX] = {0}, old[FIT_MAX] = {0};

    for (int32_t k = 0; k < count; k++) {
        series[k] = 0.0;
        for (int32_t i = 0; i < count; i++)
            series[k] += value[i] * ec_det_cospi(k * (i + 0.5) / count);
        series[k] *= (k == 0 ? 1.0 : 2.0) / count;
    }
    /* sum of series[k] T_k in powers: T_k = 2 z T_k-1 - T_k-2 */
    for (int32_t k = 0; k < count; k++) {
        double next[FIT_MAX] = {0};
        if (k == 0)
            next[0] = 1.0;
        else
            for (int32_t d = 0; d < k; d++) {
                next[d + 1] += (k == 1 ? 1.0 : 2.0) * old[d];
                next[d] -= older[d];
            }
        for (int32_t d = 0; d <= k; d++)
            power[d] += series[k] * next[d];
        memcpy(older, old, sizeof old);
        memcpy(old, next, sizeof old);
    }
    for (int32_t d = 0; d < count; d++)
        powers[(size_t)(count - 1 - d) * (size_t)step] = power[d];
}

void ec_nufft_window_fit(const ec_nufft_window *window, int32_t count, int32_t padded,
                         double *coefficients)
{
    memset(coefficients, 0, (size_t)count * (size_t)padded * sizeof *coefficients);
    for (int32_t cell = 0; cell < window->width; cell++) {
        double value[FIT_MAX];
        for (int32_t i = 0; i < count; i++) {
            double z = ec_det_cospi((i + 0.5) / count);
            value[i] = ec_nufft_window_value(window, cell + 0.5 * (z + 1.0) - 0.5 * window->width);
        }
        fit_powers(value, count, coefficients + cell, padded);
    }
}

void ec_nufft_window_fit_taper(const ec_nufft_window *window, double band, int32_t count,
                               double *coefficients)
{
    double value[FIT_MAX];

    for (int32_t i = 0; i < count; i++) {
        double z = ec_det_cospi((i + 0.5) / count);
        value[i] = 1.0 / ec_nufft_window_transform(window, band * sqrt(0.5 * (z + 1.0)));
    }
    fit_powers(value, count, coefficients, 1);
}
