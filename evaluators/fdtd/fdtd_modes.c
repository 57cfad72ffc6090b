/* fdtd_modes.c: peaks of a windowed spectrum. */
#include "fdtd_modes_internal.h"

#include <stdlib.h>

#include "../../core/status.h"

typedef struct peak {
    double frequency, height;
} peak;

static int by_height(const void *a, const void *b)
{
    const peak *x = a, *y = b;
    return x->height > y->height ? -1 : x->height < y->height;
}

static int by_frequency(const void *a, const void *b)
{
    const peak *x = a, *y = b;
    return x->frequency < y->frequency ? -1 : x->frequency > y->frequency;
}

/* ln |sum of x e^(-jwt)|^2 */
static double level(const double *x, int64_t n, double turns)
{
    /* A turn's phasor is found anew every so often: the product of many has their errors' sum. */
    enum { ANEW = 512 };
    const double wc = cos(2 * EC_PI * turns), ws = -sin(2 * EC_PI * turns);
    double re = 0, im = 0, c = 1, s = 0;

    for (int64_t m = 0; m < n; m++) {
        if (m % ANEW == 0) {
            const double phase = fmod(turns * (double)m, 1);
            c = cos(2 * EC_PI * phase);
            s = -sin(2 * EC_PI * phase);
        }
        re += x[m] * c;
        im += x[m] * s;
        const double next = c * wc - s * ws;
        s = s * wc + c * ws;
        c = next;
    }
    return log(re * re + im * im + 1e-300);
}

/* Of the Blackman-Harris window at sample m of n. */
static double window(int64_t m, int64_t n)
{
    const double t = 2 * EC_PI * ((double)m + 0.5) / (double)n;
    return 0.35875 - 0.48829 * cos(t) + 0.14128 * cos(2 * t) - 0.01168 * cos(3 * t);
}

void ec_fdtd_quality(const double *x, int64_t n, double dt, int32_t count, double *mode)
{
    const int64_t half = n / 2;
    double *windowed = malloc((size_t)(half + 1) * sizeof *windowed);

    for (int32_t i = 0; i < count; i++) {
        double part[2] = {NAN, NAN};
        for (int late = 0; late < 2 && windowed && half > 0; late++) {
            for (int64_t m = 0; m < half; m++)
                windowed[m] = x[late * half + m] * window(m, half);
            part[late] = level(windowed, half, mode[i] * dt);
        }
        /* |x|^2 falls as e^(-w t / Q) */
        const double lost = part[0] - part[1];
        mode[i] = lost > 0      ? 2 * EC_PI * mode[i] * dt * (double)half / lost
                  : isnan(lost) ? NAN
                                : INFINITY;
    }
    free(windowed);
}

int ec_fdtd_modes(const double *x, int64_t n, double dt, double from, double to, int32_t count,
                  double *frequency)
{
    /* Four values a bin, which is 1 / (n dt). */
    const double step = 0.25 / ((double)n * dt);
    const int32_t points = (int32_t)((to - from) / step) + 3;
    double *windowed = malloc((size_t)n * sizeof *windowed);
    double *height = malloc((size_t)points * sizeof *height);
    peak *peaks = malloc((size_t)points * sizeof *peaks);
    int32_t found = 0;

    for (int32_t i = 0; i < count; i++)
        frequency[i] = NAN;
    if (!windowed || !height || !peaks) {
        free(windowed);
        free(height);
        free(peaks);
        return ec_fail(EC_ERR_MEMORY, "no memory for a spectrum of %lld steps", (long long)n);
    }
    for (int64_t m = 0; m < n; m++)
        windowed[m] = x[m] * window(m, n);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < points; i++)
        height[i] = level(windowed, n, (from + (i - 1) * step) * dt);
    double highest = -INFINITY;
    for (int32_t i = 1; i < points - 1; i++)
        highest = height[i] > highest ? height[i] : highest;
    for (int32_t i = 1; i < points - 1; i++) {
        const double a = height[i - 1], b = height[i], c = height[i + 1];
        if (!(b > a && b >= c) || b < highest - 8 * log(10))
            continue;
        const double shift = 0.5 * (a - c) / (a - 2 * b + c);
        peaks[found++] = (peak){from + (i - 1 + shift) * step, b};
    }
    qsort(peaks, (size_t)found, sizeof *peaks, by_height);
    found = found < count ? found : count;
    qsort(peaks, (size_t)found, sizeof *peaks, by_frequency);
    for (int32_t i = 0; i < found; i++)
        frequency[i] = peaks[i].frequency;
    free(windowed);
    free(height);
    free(peaks);
    return found;
}
