/* fdtd_metal.c: the surface of a good conductor as poles. */
#include "fdtd_metal_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fdtd_domain_internal.h"

static const double margin = 3;     /* of the band, on both sides */
static const double distance = 1.5; /* of ln(gamma) of neighbours, at most */

/* Weights x of the terms 1 / (jw + g) that are least squares of the relative error over the band; false:
 * some would be below 0, so the medium would gain. */
static bool fit(const ec_fdtd_config *config, int32_t n, const double *g, double *matrix, double *x)
{
    enum { SPOTS = 45 };
    const double low = 2 * EC_PI * config->frequency[0];
    const double high = 2 * EC_PI * config->frequency[config->n_frequencies - 1];

    memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);
    memset(x, 0, (size_t)n * sizeof *x);
    for (int k = 0; k < SPOTS; k++) {
        const double w = low * pow(high / low, k / (SPOTS - 1.0)), root = sqrt(0.5 * w);
        for (int32_t i = 0; i < n; i++) {
            /* sqrt(jw) / (jw + g) */
            const double size = w * w + g[i] * g[i];
            const double re = root * (g[i] + w) / size, im = root * (g[i] - w) / size;
            x[i] += re;
            for (int32_t j = 0; j < n; j++) {
                const double other = w * w + g[j] * g[j];
                matrix[i * n + j] +=
                    re * root * (g[j] + w) / other + im * root * (g[j] - w) / other;
            }
        }
    }
    for (int32_t i = 0; i < n; i++) /* a narrow band does not tell all of them apart */
        matrix[i * n + i] *= 1 + 1e-12;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n; j++) {
            const double factor = matrix[j * n + i] / matrix[i * n + i];
            for (int32_t k = i; k < n; k++)
                matrix[j * n + k] -= factor * matrix[i * n + k];
            x[j] -= factor * x[i];
        }
    bool positive = true;
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++)
            x[i] -= matrix[i * n + k] * x[k];
        x[i] /= matrix[i * n + i];
        positive = positive && x[i] > 0;
    }
    return positive;
}

/* Of a term r / (s + g) of 1 / sqrt(s): Drude's wp^2 is its part of the admittance over eps_0. */
static ec_fdtd_pole pole_of(double r, double g)
{
    const ec_fdtd_number none = {0, -1};

    return (ec_fdtd_pole){.kind = EC_FDTD_DRUDE,
                          .strength = {sqrt(r / (EC_FDTD_EPS0 * sqrt(EC_FDTD_MU0))), -1},
                          .time = none,
                          .resonance = none,
                          .damping = {g, -1}};
}

int ec_fdtd_metal_poles(const ec_fdtd_config *config, ec_fdtd_pole **poles, int32_t *n)
{
    const double low = 2 * EC_PI * config->frequency[0] / margin;
    const double high = 2 * EC_PI * config->frequency[config->n_frequencies - 1] * margin;
    const int32_t inner = (int32_t)ceil(log(high / low) / distance);
    const double step = log(high / low) / inner;
    const int32_t count = inner + 2;
    ec_fdtd_pole *p = malloc((size_t)count * sizeof *p);
    double *work = malloc((size_t)count * (size_t)(count + 3) * sizeof *work);

    if (!p || !work) {
        free(p);
        free(work);
        return ec_fail(EC_ERR_MEMORY, "no memory for the surface of a metal");
    }
    double *g = work, *r = g + count, *fitted = r + count, *matrix = fitted + count;
    g[0] = low / 3;
    r[0] = 2 / EC_PI * sqrt(low);
    for (int32_t i = 1; i <= inner; i++) {
        g[i] = low * exp((i - 0.5) * step);
        r[i] = step / EC_PI * sqrt(g[i]);
    }
    g[inner + 1] = 3 * high;
    r[inner + 1] = 6 / EC_PI * sqrt(high);
    const bool good = fit(config, count, g, matrix, fitted);
    for (int32_t i = 0; i < count; i++)
        p[i] = pole_of(good ? fitted[i] : r[i], g[i]);
    free(work);
    *poles = p;
    *n = count;
    return EC_OK;
}

double ec_fdtd_metal_scale(double conductivity)
{
    return sqrt(sqrt(conductivity));
}
