/* sampling.c: Sobol, Halton, Latin hypercube and random points. */
#include "sampling.h"
#include "random.h"
#include "sobol_directions_internal.h"

#include <stdlib.h>

enum { SOBOL_BITS = 32, HALTON_DIMENSIONS = 256 };

/* What a draw is for; the stream's generation is the dimension. */
enum { PURPOSE_POINT = 1, PURPOSE_PERMUTE, PURPOSE_MATRIX, PURPOSE_SHIFT, PURPOSE_DIGITS };

static ec_random_stream stream_of(const ec_sampling_info *info, int32_t dimension, uint32_t purpose)
{
    return ec_random_make(info->seed, (uint32_t)dimension, purpose, 0);
}

/* ---- Sobol ---- */

/* v[k] of every dimension, the first of which is van der Corput's. */
static void sobol_directions(int32_t dimension, uint32_t v[SOBOL_BITS])
{
    const uint16_t *at = ec_sobol_directions;

    for (int k = 0; dimension == 0 && k < SOBOL_BITS; k++)
        v[k] = 1u << (SOBOL_BITS - 1 - k);
    for (int32_t d = 1; d <= dimension; d++) {
        uint32_t polynomial = *at++;
        int degree = 0;
        while (polynomial >> (degree + 1))
            degree++;
        for (int k = 0; d == dimension && k < SOBOL_BITS; k++) {
            if (k < degree) {
                v[k] = (uint32_t)at[k] << (SOBOL_BITS - 1 - k);
                continue;
            }
            v[k] = v[k - degree] ^ v[k - degree] >> degree;
            for (int j = 1; j < degree; j++)
                if (polynomial >> (degree - j) & 1)
                    v[k] ^= v[k - j];
        }
        at += degree;
    }
}

/* Digit i of v becomes itself plus a random combination of the digits before it. */
static void scramble_directions(const ec_sampling_info *info, int32_t dimension,
                                uint32_t v[SOBOL_BITS])
{
    ec_random_stream stream = stream_of(info, dimension, PURPOSE_MATRIX);
    uint32_t row[SOBOL_BITS];

    for (uint32_t i = 0; i < SOBOL_BITS; i++) {
        uint32_t words[4];
        ec_random_words(&stream, 0, i, words);
        uint32_t before = i ? ~0u << (SOBOL_BITS - i) : 0;
        row[i] = (words[0] & before) | 1u << (SOBOL_BITS - 1 - i);
    }
    for (int k = 0; k < SOBOL_BITS; k++) {
        uint32_t mixed = 0;
        for (uint32_t i = 0; i < SOBOL_BITS; i++)
            mixed |= (uint32_t)__builtin_parity(row[i] & v[k]) << (SOBOL_BITS - 1 - i);
        v[k] = mixed;
    }
}

static void fill_sobol(const ec_sampling_info *info, int32_t dimension, double *to)
{
    uint32_t v[SOBOL_BITS], x = 0, words[4];
    /* the middles of cells, or of the plain sequence their lower ends */
    double middle = info->plain ? 0 : 0.5;

    sobol_directions(dimension, v);
    if (!info->plain) {
        ec_random_stream stream = stream_of(info, dimension, PURPOSE_SHIFT);
        scramble_directions(info, dimension, v);
        ec_random_words(&stream, 0, 0, words);
        x = words[0];
    }
    for (size_t i = 0; i < info->n; i++) {
        to[i] = ((double)x + middle) * 0x1p-32;
        x ^= v[__builtin_ctzll(~(unsigned long long)i)]; /* the digit that Gray code changes */
    }
}

/* ---- Halton ---- */

static uint32_t prime_number(int32_t index)
{
    uint32_t candidate = 2;

    for (;; candidate++) {
        uint32_t divisor = 2;
        while (divisor * divisor <= candidate && candidate % divisor)
            divisor++;
        if (divisor * divisor > candidate && index-- == 0)
            return candidate;
    }
}

/* A random order of 0 ... n - 1; draws: (block, word) from (first, 0) on. */
static void permute(const ec_random_stream *stream, uint32_t candidate, uint32_t n, uint32_t *order)
{
    uint32_t words[4] = {0, 0, 0, 0};

    for (uint32_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            ec_random_words(stream, i / 4, candidate, words);
        uint32_t k = ec_uniform_below(words[i % 4], i + 1);
        order[i] = order[k];
        order[k] = i;
    }
}

static int fill_halton(const ec_sampling_info *info, int32_t dimension, double *to)
{
    uint32_t base = prime_number(dimension);
    ec_random_stream stream = stream_of(info, dimension, PURPOSE_DIGITS);
    int digits = 0; /* as many as a double has */
    for (double unit = 1; unit > 0x1p-53; unit /= base)
        digits++;
    uint32_t *order = (uint32_t *)malloc(sizeof *order * base * (size_t)digits);

    if (!order)
        return ec_fail(EC_ERR_MEMORY, "sampling: no memory");
    for (int k = 0; k < digits; k++) {
        uint32_t *row = order + (size_t)k * base;
        if (!info->plain)
            permute(&stream, (uint32_t)k, base, row);
        for (uint32_t i = 0; info->plain && i < base; i++)
            row[i] = i;
    }
    for (size_t i = 0; i < info->n; i++) {
        double value = 0, unit = 1;
        size_t rest = i;
        /* behind the last digit of i come zeros, which are permuted too */
        for (int k = 0; k < digits && (rest > 0 || !info->plain); k++) {
            unit /= base;
            value += unit * order[(size_t)k * base + rest % base];
            rest /= base;
        }
        to[i] = value < 1 ? value : 1 - 0x1p-53;
    }
    free(order);
    return EC_OK;
}

/* ---- random ---- */

static int fill_random(const ec_sampling_info *info, int32_t dimension, double *to)
{
    ec_random_stream place = stream_of(info, dimension, PURPOSE_POINT);
    bool latin = info->method == EC_SAMPLING_LHS;
    uint32_t *order = latin ? (uint32_t *)malloc(sizeof *order * info->n) : NULL;

    if (latin && !order)
        return ec_fail(EC_ERR_MEMORY, "sampling: no memory for %zu points", info->n);
    if (latin) {
        ec_random_stream cells = stream_of(info, dimension, PURPOSE_PERMUTE);
        permute(&cells, 0, (uint32_t)info->n, order);
    }
    for (size_t i = 0; i < info->n; i++) {
        uint32_t words[4];
        ec_random_words(&place, 0, (uint32_t)i, words);
        to[i] = ec_uniform_52_open(words[0], words[1]);
        if (latin)
            to[i] = fmin((order[i] + to[i]) / (double)info->n, 1 - 0x1p-53);
    }
    free(order);
    return EC_OK;
}

/* ---- all ---- */

int ec_sampling_fill(const ec_sampling_info *info, double *points)
{
    bool sobol = info->method == EC_SAMPLING_SOBOL, halton = info->method == EC_SAMPLING_HALTON;
    int32_t most = sobol ? EC_SOBOL_DIMENSIONS : halton ? HALTON_DIMENSIONS : INT32_MAX;
    int status = EC_OK;

    if (info->dimensions < 1 || info->dimensions > most)
        return ec_fail(EC_ERR_ARGUMENT,
                       "sampling: %d dimensions, method '%s' has 1 to %d; methods 'lhs' and "
                       "'random' have no limit",
                       (int)info->dimensions, sobol ? "sobol" : "halton", (int)most);
    if (info->n < 1 || info->n > UINT32_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "sampling: %zu points, allowed are 1 to 2^32 - 1", info->n);
    for (int32_t d = 0; d < info->dimensions && status == EC_OK; d++) {
        double *to = points + (size_t)d * info->n;
        if (sobol)
            fill_sobol(info, d, to);
        else
            status = halton ? fill_halton(info, d, to) : fill_random(info, d, to);
    }
    return status;
}
