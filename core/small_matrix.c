#include "small_matrix_kernels.h"

EC_KERNEL_DECLARE(small_matrix_jacobi, ec_small_matrix_work)
EC_KERNEL_DECLARE(small_matrix_bisection, ec_small_matrix_work)
EC_KERNEL_DECLARE(small_matrix_capacity, ec_small_matrix_work)
EC_KERNEL_DECLARE(small_matrix_adjoint, ec_small_matrix_work)

void ec_small_matrix_bind(const ec_array *array, ec_small_matrix_batch *batch)
{
    batch->data = array->data;
    batch->ld = (int64_t)array->ld;
    batch->lane = array->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP) ? 1 : 0;
    batch->sample = (int64_t)array->sample_stride;
    batch->dtype = array->dtype;
}

/* Of singular values and capacity; `adjoint` of the latter's adjoint. */
static size_t scratch_for(const ec_backend *backend, ec_small_matrix_work *work, size_t numbers,
                          bool wide)
{
    enum { MOST = 256 << 20, BLOCK = 128 };
    size_t real = wide ? sizeof(double) : sizeof(float);
    if (backend->is_cuda) {
        /* a thread a matrix, all in one piece so that neighbours' numbers are side by side */
        size_t threads = (size_t)MOST / (numbers * real) / BLOCK * BLOCK;
        size_t useful = (size_t)(backend->multiprocessors > 0 ? backend->multiprocessors : 1) * 512;
        threads = threads < BLOCK ? BLOCK : threads > useful ? useful : threads;
        work->scratch_teams = (int32_t)threads;
        work->scratch_bytes = numbers * real;
    } else {
        /* 64 bytes of neighbours together */
        work->scratch_teams = backend->threads > 0 ? backend->threads : 1;
        work->scratch_bytes = numbers * 64;
    }
    return (size_t)work->scratch_teams * work->scratch_bytes;
}

size_t ec_small_matrix_scratch(const ec_backend *backend, ec_small_matrix_work *work,
                               ec_svd_method svd)
{
    size_t singular = ec_small_matrix_numbers(svd == EC_SVD_JACOBI ? EC_SMALL_MATRIX_JACOBI
                                                                   : EC_SMALL_MATRIX_BISECTION,
                                              work->rows, work->cols);
    size_t capacity = ec_small_matrix_numbers(EC_SMALL_MATRIX_CAPACITY, work->rows, work->cols);
    bool adjoint = work->matrix_adjoint.data || work->snr_adjoint.data;
    if (adjoint)
        return scratch_for(backend, work,
                           ec_small_matrix_numbers(EC_SMALL_MATRIX_ADJOINT, work->rows, work->cols),
                           true);
    return scratch_for(backend, work, singular > capacity ? singular : capacity, work->wide);
}

static int check(const ec_small_matrix_work *work)
{
    if (work->rows < 1 || work->cols < 1 || work->rows > EC_SMALL_MATRIX_MAX ||
        work->cols > EC_SMALL_MATRIX_MAX)
        return ec_fail(EC_ERR_SHAPE, "a matrix of %d x %d: from 1 x 1 to %d x %d are allowed",
                       work->rows, work->cols, EC_SMALL_MATRIX_MAX, EC_SMALL_MATRIX_MAX);
    return EC_OK;
}

static int run(ec_backend *backend, const ec_kernel *kernel, const ec_small_matrix_work *work)
{
    int status = check(work);
    return status != EC_OK ? status
                           : backend->ops->launch(backend, kernel, work, work->lanes,
                                                  (size_t)work->count * (size_t)work->samples);
}

int ec_small_matrix_singular_values(ec_backend *backend, const ec_small_matrix_work *work,
                                    ec_svd_method svd)
{
    return run(backend,
               svd == EC_SVD_JACOBI ? &ec_kernel_small_matrix_jacobi
                                    : &ec_kernel_small_matrix_bisection,
               work);
}

int ec_small_matrix_capacity(ec_backend *backend, const ec_small_matrix_work *work)
{
    return run(backend, &ec_kernel_small_matrix_capacity, work);
}

int ec_small_matrix_capacity_adjoint(ec_backend *backend, const ec_small_matrix_work *work)
{
    return run(backend, &ec_kernel_small_matrix_adjoint, work);
}
