/* mimo_metrics_kernels.h: metrics of the paths of pairs, from their moments (path_moments.h). C17
 * and CUDA. */
#ifndef EC_MIMO_METRICS_KERNELS_H
#define EC_MIMO_METRICS_KERNELS_H

#include "mimo_kernels.h"
#include "path_moments.h"

enum {
    EC_MIMO_METRIC_K,
    EC_MIMO_METRIC_MEAN_DELAY,
    EC_MIMO_METRIC_DELAY_SPREAD,
    EC_MIMO_METRIC_SPREAD, /* of the angles of path_moments.h */
    EC_MIMO_METRIC_GRAZING_SHARE = EC_MIMO_METRIC_SPREAD + EC_MOMENT_ANGLES,
    EC_MIMO_METRICS
};

typedef struct ec_mimo_metrics {
    ec_mimo_batch batch;                    /* its pairs, places and sums */
    ec_mimo_result result[EC_MIMO_METRICS]; /* [n_frequencies][n_rx][n_tx] */
    uint32_t moments;                       /* those behind the channels and counts of the sums */
    double size;                            /* m, the unit of their excess */
} ec_mimo_metrics;

EC_FN uint32_t ec_mimo_metric_needs(int metric)
{
    if (metric == EC_MIMO_METRIC_K)
        return EC_MOMENTS_K;
    if (metric == EC_MIMO_METRIC_GRAZING_SHARE)
        return EC_MOMENTS_GRAZING;
    if (metric < EC_MIMO_METRIC_SPREAD)
        return EC_MOMENTS_DELAY;
    return ec_moments_of_angle(metric - EC_MIMO_METRIC_SPREAD);
}

EC_FN double ec_mimo_moment(const ec_mimo_metrics *a, size_t frequency, size_t lane, int moment)
{
    size_t row = 2 * a->batch.sets * (size_t)a->batch.n_frequencies + EC_MIMO_COUNTS +
                 frequency * ec_moments_count(a->moments) + ec_moments_before(a->moments, moment);
    return a->batch.sum[row * a->batch.ld + lane];
}

EC_FN double ec_mimo_distance(const ec_mimo_batch *b, size_t lane)
{
    double tx[3], rx[3];

    for (size_t k = 0; k < 3; k++) {
        tx[k] = b->tx_at[k * b->ld + lane];
        rx[k] = b->rx_at[k * b->ld + lane];
    }
    return ec_path_distance(tx, rx);
}

EC_FN double ec_mimo_metric(const ec_mimo_metrics *a, int metric, size_t f, size_t lane)
{
    if (metric == EC_MIMO_METRIC_GRAZING_SHARE)
        return ec_moment_mean(ec_mimo_moment(a, f, lane, EC_MOMENT_SIZE),
                              ec_mimo_moment(a, f, lane, EC_MOMENT_GRAZING_SIZE));
    double power = ec_mimo_moment(a, f, lane, EC_MOMENT_POWER);

    if (metric == EC_MIMO_METRIC_K)
        return ec_moment_k_factor_db(power, ec_mimo_moment(a, f, lane, EC_MOMENT_PEAK));
    if (metric >= EC_MIMO_METRIC_SPREAD) {
        int cosine = EC_MOMENT_ANGLE + 2 * (metric - EC_MIMO_METRIC_SPREAD);
        return ec_moment_spread(power, ec_mimo_moment(a, f, lane, cosine),
                                ec_mimo_moment(a, f, lane, cosine + 1));
    }
    double sum = ec_mimo_moment(a, f, lane, EC_MOMENT_EXCESS);
    double squares = ec_mimo_moment(a, f, lane, EC_MOMENT_EXCESS_SQUARE);
    if (metric == EC_MIMO_METRIC_DELAY_SPREAD)
        return ec_moment_deviation(power, sum, squares) * a->size / EC_LIGHT_SPEED;
    if (!(power > 0))
        return 0;
    double length = ec_mimo_distance(&a->batch, lane) + ec_moment_mean(power, sum) * a->size;
    return length / EC_LIGHT_SPEED;
}

/* y: a frequency of a sample. */
EC_FN void ec_mimo_metrics_body(const ec_mimo_metrics *a, size_t lane0, size_t y)
{
    const ec_mimo_batch *b = &a->batch;
    size_t all = (size_t)b->n_rx * (size_t)b->n_tx, each = (size_t)b->n_frequencies;

    for (int l = 0; l < EC_LANES; l++) {
        size_t lane = lane0 + (size_t)l, pair = (b->first + lane) / b->n;
        size_t c = (b->first + lane) % b->n;
        if (lane >= b->lanes)
            break;
        for (int m = 0; m < EC_MIMO_METRICS; m++) {
            const ec_mimo_result *r = &a->result[m];
            double *to = (double *)r->data;
            if (to)
                to[ec_mimo_place(r, y % each * all + pair, b->sample + y / each, c)] =
                    ec_mimo_metric(a, m, y, lane);
        }
    }
}

#endif
