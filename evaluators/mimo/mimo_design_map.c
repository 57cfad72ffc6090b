/* mimo_design_map.c: gain, received power and capacity of each receiver of a design, as a map. */
#include "mimo_design.h"

#include "../../core/output_map.h"
#include "../../core/small_matrix.h"
#include "mimo_internal.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
    return ec_fail(EC_ERR_MEMORY, "mimo: no memory for a map");
}

/* Of a transmitter's power over the mean of all; share: NULL where they are alike. */
static double weight(const ec_mimo_design *d, const double *share, size_t tx)
{
    return share ? share[tx] * d->n_tx : 1;
}

/* 10 log10 of the mean |h|^2 of each receiver, weighed by powers. */
static void gains(const ec_mimo_design *d, const double *share, double *gain)
{
    size_t n_tx = (size_t)d->n_tx, pairs = (size_t)d->n_rx * n_tx;

    for (int32_t r = 0; r < d->receivers; r++) {
        double sum = 0;
        for (int32_t f = 0; f < d->n_frequencies; f++) {
            const ec_c128 *h = d->h + ((size_t)f * (size_t)d->receivers + (size_t)r) * pairs;
            for (size_t i = 0; i < pairs; i++)
                sum += weight(d, share, i % n_tx) * (h[i].re * h[i].re + h[i].im * h[i].im);
        }
        gain[r] = 10 * log10(sum / ((double)pairs * d->n_frequencies));
    }
}

/* One capacity a matrix, on the CPU; matrix m is lane m. */
static int capacities_of(const ec_mimo_design *d, double snr, const double *share, ec_backend *cpu,
                         double *capacity)
{
    size_t lanes = (size_t)d->n_frequencies * (size_t)d->receivers, ld = ec_lane_ld(lanes),
           elements = (size_t)d->n_rx * (size_t)d->n_tx, bytes;
    ec_c128 *h = calloc(elements * ld, sizeof *h);
    double *result = calloc(ld, sizeof *result);
    ec_small_matrix_work work = {.matrix = {h, (int64_t)ld, 1, 0, EC_C128},
                                 .rows = d->n_rx,
                                 .cols = d->n_tx,
                                 .count = 1,
                                 .samples = 1,
                                 .wide = true,
                                 .snr = {&snr, 0, 0, 0, EC_F64},
                                 .result = {result, (int64_t)ld, 1, 0, EC_F64},
                                 .lanes = lanes};
    void *scratch = NULL;
    int status = h && result ? EC_OK : no_memory();

    if (status == EC_OK) {
        for (size_t m = 0; m < lanes; m++)
            for (size_t e = 0; e < elements; e++) {
                double root = sqrt(weight(d, share, e % (size_t)d->n_tx));
                ec_c128 from = d->h[m * elements + e];
                h[e * ld + m] = (ec_c128){root * from.re, root * from.im};
            }
        bytes = ec_small_matrix_scratch(cpu, &work, EC_SMALL_MATRIX_CAPACITY);
        status = cpu->ops->alloc(cpu, bytes > 0 ? bytes : 1, &scratch);
        work.scratch = scratch;
    }
    if (status == EC_OK)
        status = ec_small_matrix_run(cpu, &work, EC_SMALL_MATRIX_CAPACITY);
    if (status == EC_OK)
        status = cpu->ops->sync(cpu);
    for (int32_t r = 0; r < d->receivers && status == EC_OK; r++) {
        capacity[r] = 0;
        for (int32_t f = 0; f < d->n_frequencies; f++)
            capacity[r] += result[f * d->receivers + r] / d->n_frequencies;
    }
    cpu->ops->release(cpu, scratch);
    free(h);
    free(result);
    return status;
}

static int capacities(const ec_mimo_design *d, double snr_db, const double *share, double *capacity)
{
    ec_backend_info info = {.name = "cpu", .threads = d->threads};
    ec_backend *cpu = NULL;
    int status = ec_backend_create(&info, &cpu);

    if (status == EC_OK)
        status = capacities_of(d, pow(10, 0.1 * snr_db), share, cpu, capacity);
    ec_backend_destroy(&cpu);
    return status;
}

static void places(const ec_mimo_design *d, double (*at)[3])
{
    for (int32_t r = 0; r < d->receivers; r++)
        for (int k = 0; k < 3; k++) {
            at[r][k] = 0;
            for (int32_t i = 0; i < d->n_rx; i++)
                at[r][k] += d->rx[r * d->n_rx + i][k] / d->n_rx;
        }
}

enum { OWN_COLUMNS = 3, MOST_COLUMNS = 32 };

typedef struct columns {
    int32_t n;
    const char *name[MOST_COLUMNS];
    double *value[MOST_COLUMNS]; /* malloc'ed */
} columns;

/* A column whose values are for the caller to fill; NULL: no memory. */
static double *add_column(columns *c, const char *name, int32_t n)
{
    double *value = malloc((size_t)n * sizeof *value);

    c->name[c->n] = name;
    c->value[c->n] = value;
    c->n++;
    return value;
}

/* What a design has by itself. */
static int add_own(const ec_mimo_design *d, columns *c)
{
    const ec_mimo_parts p = ec_mimo_parts_of(d->winner.call);
    double *gain = add_column(c, "path_gain_db", d->receivers);
    int status = gain ? EC_OK : no_memory();

    if (gain)
        gains(d, NULL, gain);
    if (status == EC_OK && !isnan(p.power_dbm)) {
        double *power = add_column(c, "received_dbm", d->receivers);
        if (power)
            gains(d, p.power_share, power);
        for (int32_t r = 0; power && r < d->receivers; r++)
            power[r] += p.power_dbm;
        status = power ? EC_OK : no_memory();
    }
    if (status == EC_OK && !isnan(p.power_dbm - p.noise_dbm) && d->n_rx <= EC_SMALL_MATRIX_MAX &&
        d->n_tx <= EC_SMALL_MATRIX_MAX) {
        double *capacity = add_column(c, "capacity_bit_s_hz", d->receivers);
        status = capacity ? capacities(d, p.power_dbm - p.noise_dbm, p.power_share, capacity)
                          : no_memory();
    }
    return status;
}

/* Of which axis of a column's values the receivers are, -1 of none: the first, or behind that of
 * the frequencies the second. */
static int receivers_axis(const ec_mimo_design *d, const ec_node *node)
{
    bool behind = node->rank > 1 && d->n_frequencies > 1 && node->shape[0] == d->n_frequencies &&
                  node->shape[1] == d->receivers;

    return behind ? 1 : node->rank > 0 && node->shape[0] == d->receivers ? 0 : -1;
}

static int add_given(const ec_mimo_design *d, const ec_mimo_map_column *given, columns *c)
{
    const ec_node *node = ec_graph_node(d->winner.graph, given->value);
    bool complex = node && (node->dtype == EC_C64 || node->dtype == EC_C128);
    int axis = node ? receivers_axis(d, node) : -1;
    double *value = NULL;

    for (int32_t i = 0; i < c->n; i++)
        if (strcmp(c->name[i], given->name) == 0)
            return ec_fail(EC_ERR_ARGUMENT,
                           "value '%s': the map has a column of this name by itself; give it "
                           "another one",
                           given->name);
    if (complex || axis < 0)
        return ec_fail(EC_ERR_SHAPE,
                       "value '%s' has %d %selements; a map shows real numbers of each of the "
                       "%d receivers, which are the first axis, or the second behind frequencies",
                       given->name, node ? (int)node->elements : 0, complex ? "complex " : "",
                       (int)d->receivers);
    int32_t outer = axis > 0 ? node->shape[0] : 1, n = node->elements / (d->receivers * outer);
    int status = ec_mimo_evaluate(&d->winner, given->value, &value);
    if (status < 0)
        return status;
    double *mean = add_column(c, given->name, d->receivers);
    for (int32_t r = 0; mean && r < d->receivers; r++) {
        double sum = 0;
        for (int32_t o = 0; o < outer; o++)
            for (int32_t i = 0; i < n; i++)
                sum += value[(o * d->receivers + r) * n + i];
        mean[r] = sum / (outer * n);
    }
    free(value);
    return mean ? EC_OK : no_memory();
}

int ec_mimo_design_map(const ec_mimo_design *design, const char *title, int32_t n_columns,
                       const ec_mimo_map_column *column, const char *folder, const char *name,
                       ec_log *log)
{
    const ec_mimo_design *d = design;
    columns c = {.n = 0};

    if (n_columns > MOST_COLUMNS - OWN_COLUMNS)
        return ec_fail(EC_ERR_ARGUMENT, "a map shows %d further values, at most %d are possible",
                       (int)n_columns, MOST_COLUMNS - OWN_COLUMNS);
    double(*at)[3] = malloc((size_t)d->receivers * sizeof *at);
    int status = at ? add_own(d, &c) : no_memory();
    for (int32_t i = 0; i < n_columns && status == EC_OK; i++)
        status = add_given(d, &column[i], &c);
    if (status == EC_OK) {
        places(d, at);
        ec_output_map map = {.name = name,
                             .title = title,
                             .place = "receiver",
                             .n = d->receivers,
                             .at = (const double(*)[3])at,
                             .n_values = c.n,
                             .value = c.name,
                             .values = (const double *const *)c.value,
                             .n_marks = d->n_tx,
                             .mark = (const double(*)[3])d->tx};
        status = ec_output_map_write(&map, folder, log);
    }
    for (int32_t i = 0; i < c.n; i++)
        free(c.value[i]);
    free(at);
    return status;
}
