#include "small_matrix_kernels.h"

EC_KERNEL_DECLARE(small_matrix_jacobi, ec_small_matrix_work)
EC_KERNEL_DECLARE(small_matrix_bisection, ec_small_matrix_work)
EC_KERNEL_DECLARE(small_matrix_capacity, ec_small_matrix_work)
EC_KERNEL_DECLARE(small_matrix_capacity_adjoint, ec_small_matrix_work)
EC_KERNEL_DECLARE(small_matrix_singular_adjoint, ec_small_matrix_work)

void ec_small_matrix_bind(const ec_array *array, ec_small_matrix_batch *batch)
{
    batch->data = array->data;
    batch->ld = (int64_t)array->ld;
    batch->lane = array->axes & (EC_AXIS_CANDIDATE | EC_AXIS_GROUP) ? 1 : 0;
    batch->sample = (int64_t)array->sample_stride;
    batch->dtype = array->dtype;
}

size_t ec_small_matrix_scratch(const ec_backend *backend, ec_small_matrix_work *work,
                               ec_small_matrix_task task)
{
    enum { MOST = 256 << 20, BLOCK = 128, LINE = 64 };
    size_t numbers = ec_small_matrix_numbers(task, work->rows, work->cols);
    bool wide = work->wide || task >= EC_SMALL_MATRIX_CAPACITY_ADJOINT;

    if (backend->is_cuda) {
        /* a thread a matrix; numbers of neighbours are side by side */
        size_t each = numbers * (wide ? sizeof(double) : sizeof(float));
        size_t useful = (size_t)(backend->multiprocessors > 0 ? backend->multiprocessors : 1) * 512;
        size_t threads = (size_t)MOST / each / BLOCK * BLOCK;
        threads = threads < BLOCK ? BLOCK : threads > useful ? useful : threads;
        work->scratch_teams = (int32_t)threads;
        work->scratch_bytes = each;
    } else {
        /* as many neighbours together as have 64 bytes */
        work->scratch_teams = backend->threads > 0 ? backend->threads : 1;
        work->scratch_bytes = numbers * LINE;
    }
    return (size_t)work->scratch_teams * work->scratch_bytes;
}

int ec_small_matrix_run(ec_backend *backend, const ec_small_matrix_work *work,
                        ec_small_matrix_task task)
{
    static const ec_kernel *const kernels[] = {
        [EC_SMALL_MATRIX_JACOBI] = &ec_kernel_small_matrix_jacobi,
        [EC_SMALL_MATRIX_BISECTION] = &ec_kernel_small_matrix_bisection,
        [EC_SMALL_MATRIX_CAPACITY] = &ec_kernel_small_matrix_capacity,
        [EC_SMALL_MATRIX_CAPACITY_ADJOINT] = &ec_kernel_small_matrix_capacity_adjoint,
        [EC_SMALL_MATRIX_SINGULAR_ADJOINT] = &ec_kernel_small_matrix_singular_adjoint};

    if (work->rows < 1 || work->cols < 1 || work->rows > EC_SMALL_MATRIX_MAX ||
        work->cols > EC_SMALL_MATRIX_MAX)
        return ec_fail(EC_ERR_SHAPE, "a matrix of %d x %d: from 1 x 1 to %d x %d are allowed",
                       work->rows, work->cols, EC_SMALL_MATRIX_MAX, EC_SMALL_MATRIX_MAX);
    return backend->ops->launch(backend, kernels[task], work, work->lanes,
                                (size_t)work->count * (size_t)work->samples);
}
