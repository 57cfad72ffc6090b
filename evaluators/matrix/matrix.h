/* matrix.h: what a channel matrix is good for: singular values, capacity and what follows from them,
 * as expressions.
 *
 * H is a value whose last two axes are N_rx x N_tx (1 to 64 each), complex or real; axes before them
 * are receivers, frequencies, users' positions, ...: the results have those. Everything here has a
 * gradient (of singular values as long as they are distinct and above 0).
 *
 * Conventions: C = sum log2(1 + SNR s_k^2 / N_tx) with equal power at all transmitters (Foschini and
 * Gans, Wireless Personal Commun. 6, 1998), and sum log2(1 + p_k s_k^2), sum p_k = SNR, by
 * water-filling over the singular values s_k of H. Normalisation: `frobenius` scales each matrix to
 * ||H||_F^2 = N_rx N_tx, so that SNR is that of the mean receiver; `mean` scales all matrices of the
 * value by one factor to that in the mean; `none` takes H as it is, and SNR is the transmitted power
 * over the noise power at a receiver.
 */
#ifndef EC_MATRIX_H
#define EC_MATRIX_H

#include "core/evaluator.h"
#include "core/small_matrix.h"

EC_C_BEGIN

typedef enum ec_matrix_normalize {
    EC_MATRIX_FROBENIUS,
    EC_MATRIX_MEAN,
    EC_MATRIX_NONE
} ec_matrix_normalize;

typedef enum ec_matrix_power { EC_MATRIX_EQUAL, EC_MATRIX_WATER_FILLING } ec_matrix_power;

typedef enum ec_matrix_combining {
    EC_MATRIX_ALONE,
    EC_MATRIX_MMSE,
    EC_MATRIX_ZERO_FORCING
} ec_matrix_combining;

typedef struct ec_matrix_config {
    ec_matrix_normalize normalize;
    ec_matrix_power power; /* of capacities */
    ec_svd_method svd;     /* where singular values are needed */
    bool single;           /* computes in float32; gradients are in float64 always */
} ec_matrix_config;

/* frobenius, equal, Jacobi, float64. */
EC_API void ec_matrix_config_default(ec_matrix_config *config);

/* Each returns an expression, or a negative status with a sentence. Singular values: [...][min(N_rx,
 * N_tx)], largest first. */
EC_API ec_expr ec_matrix_singular_values(ec_graph *graph, ec_expr h,
                                         const ec_matrix_config *config);
/* bit/s/Hz; snr is a power ratio, one number or one for each matrix. */
EC_API ec_expr ec_matrix_capacity(ec_graph *graph, ec_expr h, ec_expr snr,
                                  const ec_matrix_config *config);
/* Largest over smallest singular value; infinite for a singular matrix, which fails the design. */
EC_API ec_expr ec_matrix_condition(ec_graph *graph, ec_expr h, const ec_matrix_config *config);
/* (sum s_k^2)^2 / sum s_k^4, from 1 to min(N_rx, N_tx): how many equal channels would have the same
 * spread of power (Muharemovic, Sabharwal and Aazhang, IEEE Trans. Inf. Theory 54, 2008). */
EC_API ec_expr ec_matrix_degrees_of_freedom(ec_graph *graph, ec_expr h);
/* exp of the entropy of s_k / sum s (Roy and Vetterli, EUSIPCO 2007), 1 to min(N_rx, N_tx). */
EC_API ec_expr ec_matrix_effective_rank(ec_graph *graph, ec_expr h, const ec_matrix_config *config);
/* SINR of users, a column of H each, [...][users], with the SNR of each transmitter. ALONE: every user
 * has a receiving antenna of its own, row k, and no precoding: |h_kk|^2 / (sum_j |h_kj|^2 + 1 / SNR), j
 * not k; H is square. MMSE: all rows are antennas of one receiver, which separates the users by
 * linear combining with the least mean square error: 1 / [(I + SNR H^H H)^-1]_kk - 1. ZERO_FORCING:
 * the same without any of the others' signals, SNR / [(H^H H)^-1]_kk, at least as many rows as
 * columns; 0, but for rounding, where a user's column is a sum of the others'. */
EC_API ec_expr ec_matrix_sinr(ec_graph *graph, ec_expr h, ec_expr snr,
                              ec_matrix_normalize normalize, ec_matrix_combining combining);
/* sum over users of log2(1 + SINR), bit/s/Hz. */
EC_API ec_expr ec_matrix_sum_rate(ec_graph *graph, ec_expr h, ec_expr snr,
                                  ec_matrix_normalize normalize, ec_matrix_combining combining);

EC_API extern const ec_evaluator_def ec_evaluator_matrix;

EC_C_END
#endif
