/* backend.c: creates a backend by its name. */
#include "backend.h"
#include "backend_internal.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { THREADS_MAX = 4096 };

int ec_backend_cuda_count(void)
{
#if EC_HAVE_CUDA
    return ec_backend_cuda_count_impl();
#else
    return 0;
#endif
}

static int create_cpu(const ec_backend_info *info, ec_backend **backend)
{
    int threads = info->threads;
    int isa;

    if (threads < 0 || threads > THREADS_MAX)
        return ec_fail(EC_ERR_ARGUMENT,
                       "threads = %d: allowed are 1 to %d, and 0 for all that there are", threads,
                       (int)THREADS_MAX);
#ifdef _OPENMP
    if (threads == 0)
        threads = omp_get_max_threads();
#else
    threads = 1;
#endif
    int status = ec_isa_choose(info->isa ? info->isa : getenv("ECITON_ISA"), &isa);
    if (status < 0)
        return status;
    return ec_backend_cpu_create(threads, isa, info->log, backend);
}

#if EC_HAVE_CUDA
static int create_cuda(int device, ec_log *log, ec_backend **backend)
{
    int count = ec_backend_cuda_count_impl();

    if (count == 0)
        return ec_fail(EC_ERR_BACKEND, "backend 'cuda': no CUDA device on this machine (or no "
                                       "driver for it); use backend 'cpu'");
    if (device >= count)
        return ec_fail(EC_ERR_BACKEND,
                       "backend 'cuda:%d': this machine has %d CUDA device%s "
                       "(cuda:0%s)",
                       device, count, count == 1 ? "" : "s", count == 1 ? "" : ", ...");
    return ec_backend_cuda_create(device, log, backend);
}
#else
static int create_cuda(int device, ec_log *log, ec_backend **backend)
{
    (void)device;
    (void)log;
    (void)backend;
    return ec_fail(EC_ERR_BACKEND, "backend 'cuda': Eciton was built without CUDA (build with "
                                   "-DECITON_CUDA=ON); use backend 'cpu'");
}
#endif

/* Device number behind "cuda" or "cuda:N"; -1 when the name is neither. */
static int parse_cuda(const char *name)
{
    if (strcmp(name, "cuda") == 0)
        return 0;
    if (strncmp(name, "cuda:", 5) != 0)
        return -1;
    const char *digits = name + 5;
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || length > 4 || digits[length] != '\0')
        return -1;
    return atoi(digits);
}

bool ec_backend_is_name(const char *name)
{
    return strcmp(name, "cpu") == 0 || strcmp(name, "auto") == 0 || parse_cuda(name) >= 0;
}

int ec_backend_create(const ec_backend_info *info, ec_backend **backend)
{
    static const ec_backend_info automatic = {"auto", 0, NULL, NULL};

    if (!info)
        info = &automatic;
    const char *name = info->name ? info->name : "auto";

    if (strcmp(name, "cpu") == 0)
        return create_cpu(info, backend);
    int device = parse_cuda(name);
    if (device >= 0)
        return create_cuda(device, info->log, backend);
    if (strcmp(name, "auto") != 0)
        return ec_fail(EC_ERR_BACKEND,
                       "backend '%s' is unknown; allowed are cpu, cuda, cuda:N and auto", name);
    if (ec_backend_cuda_count() > 0) {
        if (create_cuda(0, info->log, backend) == EC_OK)
            return EC_OK;
        ec_log_write(info->log, EC_LOG_WARNING, "%s; the CPU is used instead", ec_error_text());
    }
    return create_cpu(info, backend);
}

void ec_backend_destroy(ec_backend **backend)
{
    if (!backend || !*backend)
        return;
    (*backend)->ops->destroy(*backend);
    *backend = NULL;
}

int ec_fft_check(const ec_fft_info *info)
{
    if (info->rank != 1 && info->rank != 2)
        return ec_fail(EC_ERR_ARGUMENT, "fft: rank %d is not 1 or 2", info->rank);
    if (info->sign != -1 && info->sign != 1)
        return ec_fail(EC_ERR_ARGUMENT, "fft: sign %d is not -1 or +1", info->sign);
    for (int i = 0; i < info->rank; i++)
        if (info->size[i] < 1 || info->size[i] > INT32_MAX)
            return ec_fail(EC_ERR_ARGUMENT, "fft: size %zu is not between 1 and 2147483647",
                           info->size[i]);
    if (info->batch < 1 || info->batch > INT32_MAX)
        return ec_fail(EC_ERR_ARGUMENT, "fft: batch %zu is not between 1 and 2147483647",
                       info->batch);
    return EC_OK;
}
