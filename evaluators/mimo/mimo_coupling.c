/* mimo_coupling.c: scattering matrices of antennas checked and brought to the frequencies of a call. */
#include "mimo_coupling_internal.h"

#include "mimo_coupling_kernels.h"

#include <math.h>
#include <stdlib.h>

EC_KERNEL_DECLARE(mimo_couple, ec_mimo_coupling_args)

static int check_matrix(const char *name, const ec_touchstone *data, int32_t k)
{
    size_t n = (size_t)data->n_ports;
    const ec_c128 *s = data->s + (size_t)k * n * n;

    for (size_t j = 0; j < n; j++) {
        double power = 0;
        for (size_t i = 0; i < n; i++) {
            ec_c128 a = s[i * n + j], b = s[j * n + i];
            power += a.re * a.re + a.im * a.im;
            if (!(hypot(a.re - b.re, a.im - b.im) <= 0.01))
                return ec_fail(EC_ERR_ARGUMENT,
                               "%s: the coupling is not reciprocal: S(%zu, %zu) is %.4g%+.4gj, "
                               "S(%zu, %zu) is %.4g%+.4gj at %.6g Hz",
                               name, i + 1, j + 1, a.re, a.im, j + 1, i + 1, b.re, b.im,
                               data->frequency[k]);
        }
        if (!(power <= 1.02))
            return ec_fail(EC_ERR_ARGUMENT,
                           "%s: of a wave into port %zu the coupling gives back %.4g of the power "
                           "at %.6g Hz; S of antennas gives back 1 at most",
                           name, j + 1, power, data->frequency[k]);
    }
    return EC_OK;
}

static int check(const char *name, const ec_touchstone *s, int32_t ports, int32_t n_frequencies,
                 const double *frequency)
{
    double low = s->frequency[0], high = s->frequency[s->n_frequencies - 1];

    if (ports % s->n_ports != 0 || ports > EC_MIMO_COUPLED_MAX)
        return ec_fail(EC_ERR_SHAPE,
                       "%s: the coupling has %d ports for %d antennas; it has one for each, or for "
                       "each of equal groups, and there are at most %d",
                       name, (int)s->n_ports, (int)ports, EC_MIMO_COUPLED_MAX);
    for (int32_t f = 0; f < n_frequencies && high > 0; f++)
        if (!(frequency[f] >= low * (1 - 1e-9) && frequency[f] <= high * (1 + 1e-9)))
            return ec_fail(
                EC_ERR_RANGE,
                "%s: the coupling has %.10g to %.10g Hz, the link's frequency is %.10g Hz", name,
                low, high, frequency[f]);
    int status = EC_OK;
    for (int32_t k = 0; k < s->n_frequencies && status >= 0; k++)
        status = check_matrix(name, s, k);
    return status;
}

/* I - S at a frequency, once for each group of antennas. */
static void matrix_at(const ec_touchstone *s, double frequency, size_t ports, ec_c128 *to)
{
    size_t n = (size_t)s->n_ports;
    int32_t k = 0;

    while (k + 2 < s->n_frequencies && s->frequency[k + 1] <= frequency)
        k++;
    const ec_c128 *a = s->s + (size_t)k * n * n, *b = s->n_frequencies > 1 ? a + n * n : a;
    double step = s->n_frequencies > 1 ? s->frequency[k + 1] - s->frequency[k] : 1;
    double share = s->n_frequencies > 1 ? (frequency - s->frequency[k]) / step : 0;
    for (size_t i = 0; i < ports; i++)
        for (size_t j = 0; j < ports; j++) {
            size_t from = i % n * n + j % n;
            ec_c128 one = {i == j ? 1 : 0, 0};
            if (i / n == j / n) {
                one.re -= a[from].re + share * (b[from].re - a[from].re);
                one.im -= a[from].im + share * (b[from].im - a[from].im);
            }
            to[i * ports + j] = one;
        }
}

int ec_mimo_coupling_create(const char *name, const ec_touchstone *s, int32_t ports,
                            int32_t n_frequencies, const double *frequency, ec_c128 **matrix)
{
    int status = check(name, s, ports, n_frequencies, frequency);
    size_t size = (size_t)ports * (size_t)ports;

    if (status < 0)
        return status;
    *matrix = malloc((size_t)n_frequencies * size * sizeof **matrix);
    if (!*matrix)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory for the coupling of %d ports", name,
                       (int)ports);
    for (int32_t f = 0; f < n_frequencies; f++)
        matrix_at(s, frequency[f], (size_t)ports, *matrix + (size_t)f * size);
    return EC_OK;
}

int ec_mimo_coupling_run(ec_backend *backend, const ec_mimo_result *h, const ec_c128 *tx,
                         const ec_c128 *rx, int32_t n_tx, int32_t n_rx, int32_t receivers,
                         int32_t n_frequencies, size_t samples, size_t n)
{
    const ec_mimo_coupling_args a = {.h = *h,
                                     .n_tx = n_tx,
                                     .n_rx = n_rx,
                                     .receivers = receivers,
                                     .tx = tx,
                                     .rx = rx,
                                     .samples = samples,
                                     .lanes = h->varies ? n : 1};
    return backend->ops->launch(backend, &ec_kernel_mimo_couple, &a, a.lanes,
                                (size_t)n_frequencies * (size_t)receivers);
}
