/* small_matrix.h: linear algebra of many small complex matrices at once, 1 x 1 to 64 x 64, on every
 * backend: singular values, and the capacity of a channel with equal power at all transmitters.
 *
 * A batch is stored as the graph stores values (array.h): element e of the matrix of lane c at
 * e * ld + c, e = row * cols + column. Several matrices of a lane (receivers, frequencies) follow one
 * another, samples have a stride. A matrix's results depend on nothing but its elements: the same
 * bits in any batch. Its elements are scaled by a power of two before squares are taken, so values
 * from 1e-30 to 1e30 work in float32. A matrix with an element that is not finite, or whose
 * iteration does not end within the limit, gets NaN as result and the status EC_CANDIDATE_EVALUATOR.
 *
 * Singular values: one-sided Jacobi rotations of the columns (Hestenes, "Inversion of matrices by
 * biorthogonalization and related results", J. SIAM 6, 1958), in rounds of disjoint pairs (the circle
 * method of tournaments, as in Brent and Luk, SIAM J. Sci. Stat. Comput. 6, 1985), with rotations
 * that leave the columns' scale to a factor of their own (Gentleman, J. Inst. Maths Applics 12, 1973;
 * Anda and Park, SIAM J. Matrix Anal. Appl. 15, 1994): 8 multiply-adds a row instead of 12, and a
 * rotation by a small angle rounds little. Errors: about 2^-24 (float32) or 2^-53 (float64) times the
 * largest singular value, times a few. EC_SVD_BISECTION is the method of Capozzoli et al. (2015): the
 * bidiagonal form by Householder reflections (Golub and Reinsch, Numer. Math. 14, 1970), T = B^T B,
 * and its eigenvalues by bisection on the number of sign changes in Sturm sequences within
 * Gershgorin's bounds. T has the squares of the singular values, so those below sqrt(eps) of the
 * largest are noise.
 *
 * Capacity: log2 det(I + SNR / cols H H^H) by Cholesky factors (L D L^H) of the smaller Gram matrix.
 * Its error is about SNR rows 2^-24 bit/s/Hz in float32 where H is nearly singular, 2^-53 in float64.
 */
#ifndef EC_SMALL_MATRIX_H
#define EC_SMALL_MATRIX_H

#include "array.h"

EC_C_BEGIN

enum { EC_SMALL_MATRIX_MAX = 64 };

typedef enum ec_svd_method { EC_SVD_JACOBI, EC_SVD_BISECTION } ec_svd_method;

typedef enum ec_small_matrix_task {
    EC_SMALL_MATRIX_JACOBI,    /* singular values, min(rows, cols) a matrix, largest first */
    EC_SMALL_MATRIX_BISECTION, /* the same by bisection */
    EC_SMALL_MATRIX_CAPACITY,  /* bit/s/Hz, one number a matrix */
    /* In float64: matrix_adjoint = seed dC/dH (derivatives by real and by imaginary part, as a complex
     * number), snr_adjoint = seed dC/dSNR; or matrix_adjoint = sum seed_k ds_k/dH. */
    EC_SMALL_MATRIX_CAPACITY_ADJOINT,
    EC_SMALL_MATRIX_SINGULAR_ADJOINT
} ec_small_matrix_task;

/* A batch of matrices, or of their results; strides count elements of dtype. */
typedef struct ec_small_matrix_batch {
    void *data;
    int64_t ld;     /* between elements of a matrix */
    int64_t lane;   /* between lanes: 1, or 0 where all share one matrix */
    int64_t sample; /* between samples: 0 where all share */
    int32_t dtype;  /* matrices: EC_C64, EC_C128 or EC_F64; results: EC_F32 or EC_F64 */
} ec_small_matrix_batch;

/* What a launch works on: lanes x count x samples matrices. */
typedef struct ec_small_matrix_work {
    ec_small_matrix_batch matrix;
    int32_t rows, cols; /* 1 to EC_SMALL_MATRIX_MAX */
    int32_t count;      /* matrices of a lane, one after another in `matrix` */
    int32_t samples;
    bool wide;                 /* computes in float64, else in float32 */
    bool frobenius;            /* capacity: each matrix is scaled to ||H||_F^2 = rows cols before */
    ec_small_matrix_batch snr; /* capacity: one a matrix, EC_F64; ld 0: one for all of a lane */
    ec_small_matrix_batch result;
    size_t lanes;
    uint8_t *status; /* one byte a lane, OR-ed into; may be NULL */
    const int32_t *stop;
    /* from ec_small_matrix_scratch: `scratch_teams` pieces of scratch_bytes */
    char *scratch;
    size_t scratch_bytes;
    int32_t scratch_teams;
    /* adjoints: seeds of the results; with respect to the elements (EC_C128, or EC_F64 for real
     * matrices), and to the SNR (EC_F64); data NULL where it is not wanted */
    ec_small_matrix_batch seed, matrix_adjoint, snr_adjoint;
} ec_small_matrix_work;

/* The batch of an array whose last two axes are the matrix (or whose elements are results). */
EC_API void ec_small_matrix_bind(const ec_array *array, ec_small_matrix_batch *batch);
/* Bytes of scratch memory on the backend that a launch needs, and how they are divided: fills the
 * fields of work and returns their sum. */
EC_API size_t ec_small_matrix_scratch(const ec_backend *backend, ec_small_matrix_work *work,
                                      ec_small_matrix_task task);
/* Enqueues. */
EC_API int ec_small_matrix_run(ec_backend *backend, const ec_small_matrix_work *work,
                               ec_small_matrix_task task);

EC_C_END
#endif
