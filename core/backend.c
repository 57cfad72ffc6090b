/* backend.c: creates a backend by its name, and a list of them. */
#include "backend.h"
#include "backend_internal.h"
#include "worker_internal.h"

#include <stdio.h>
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

static int threads_of(const ec_backend_info *info)
{
#ifdef _OPENMP
    return info->threads == 0 ? omp_get_max_threads() : info->threads;
#else
    (void)info;
    return 1;
#endif
}

static int create_cpu(const ec_backend_info *info, ec_backend **backend)
{
    int threads = threads_of(info);
    int isa;

    if (info->threads < 0 || info->threads > THREADS_MAX)
        return ec_fail(EC_ERR_ARGUMENT,
                       "threads = %d: allowed are 1 to %d, and 0 for all that there are",
                       info->threads, (int)THREADS_MAX);
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

/* A name between commas, at most as long as names are; moves *list behind it. False: none. */
static bool next_name(const char **list, char *name, size_t size)
{
    size_t length = strcspn(*list, ",");

    if (length == 0 || length >= size)
        return false;
    memcpy(name, *list, length);
    name[length] = '\0';
    *list += length;
    return **list != ',' || *++*list != '\0';
}

/* Whether all names of a list with commas are of one kind: cpu, or CUDA devices. */
static bool is_list(const char *list)
{
    char name[16];
    int n = 0, on_cpu = 0;

    while (*list) {
        if (!next_name(&list, name, sizeof name))
            return false;
        bool cpu = strcmp(name, "cpu") == 0;
        if (!cpu && parse_cuda(name) < 0)
            return false;
        on_cpu += cpu;
        n++;
    }
    return n > 0 && n <= EC_WORKERS_MAX && (on_cpu == 0 || on_cpu == n);
}

bool ec_backend_is_name(const char *name)
{
    return strcmp(name, "auto") == 0 || strcmp(name, "cuda:all") == 0 || is_list(name);
}

static int create_one(const ec_backend_info *info, const char *name, ec_backend **backend)
{
    return strcmp(name, "cpu") == 0 ? create_cpu(info, backend)
                                    : create_cuda(parse_cuda(name), info->log, backend);
}

static int create_auto(const ec_backend_info *info, ec_backend **backend)
{
    if (ec_backend_cuda_count() > 0) {
        if (create_cuda(0, info->log, backend) == EC_OK)
            return EC_OK;
        ec_log_write(info->log, EC_LOG_WARNING, "%s; the CPU is used instead", ec_error_text());
    }
    return create_cpu(info, backend);
}

/* Devices of a list, as one line. */
static void describe_list(ec_backend *first, ec_log *log)
{
    char list[EC_WORKERS_MAX * sizeof first->name], device[sizeof first->device];
    bool alike = true;

    for (int i = 1; i <= first->n_workers; i++)
        alike = alike && strcmp(ec_backend_member(first, i)->device, first->device) == 0;
    ec_backend_list(first, list, sizeof list);
    if (!alike)
        ec_log_write(log, EC_LOG_WARNING,
                     "the cards of %s differ: their results agree to a tolerance, not to the bit",
                     list);
    memcpy(device, first->device, sizeof device);
    snprintf(first->device, sizeof first->device, "%d x %.100s%s", first->n_workers + 1, device,
             alike ? "" : " and others");
    ec_log_write(log, EC_LOG_INFO, "workers: %s (%s)", list, first->device);
}

/* Threads of the CPU are shared: the first has all of them while it works alone. */
static int create_list(const ec_backend_info *info, const char *list, ec_backend **backend)
{
    ec_backend *first = NULL;
    ec_backend_info share = *info;
    char name[16];
    int n = 1;

    for (const char *c = list; *c; c++)
        n += *c == ',';
    next_name(&list, name, sizeof name);
    int status = create_one(info, name, &first);
    share.threads = threads_of(info) > n ? threads_of(info) / n : 1;
    while (status == EC_OK && *list) {
        ec_backend *other = NULL;
        next_name(&list, name, sizeof name);
        status = create_one(&share, name, &other);
        if (status == EC_OK)
            status = ec_worker_create(other, share.threads, &first->worker[first->n_workers]);
        first->n_workers += status == EC_OK;
    }
    if (status < 0) {
        ec_backend_destroy(&first);
        return status;
    }
    if (first->n_workers > 0)
        describe_list(first, info->log);
    *backend = first;
    return EC_OK;
}

static int create_all(const ec_backend_info *info, ec_backend **backend)
{
    char list[EC_WORKERS_MAX * 16] = "cuda:0";
    int count = ec_backend_cuda_count();

    for (int i = 1; i < count && i < EC_WORKERS_MAX; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, ",cuda:%d", i);
    }
    return create_list(info, list, backend);
}

int ec_backend_create(const ec_backend_info *info, ec_backend **backend)
{
    static const ec_backend_info automatic = {"auto", 0, NULL, NULL};

    if (!info)
        info = &automatic;
    const char *name = info->name ? info->name : "auto";

    if (strcmp(name, "auto") == 0)
        return create_auto(info, backend);
    if (strcmp(name, "cuda:all") == 0)
        return create_all(info, backend);
    if (!is_list(name))
        return ec_fail(EC_ERR_BACKEND,
                       "backend '%s' is unknown; allowed are " EC_BACKEND_NAMES " (at most %d)",
                       name, (int)EC_WORKERS_MAX);
    return create_list(info, name, backend);
}

void ec_backend_destroy(ec_backend **backend)
{
    if (!backend || !*backend)
        return;
    for (int i = 0; i < (*backend)->n_workers; i++)
        ec_worker_destroy(&(*backend)->worker[i]);
    (*backend)->ops->destroy(*backend);
    *backend = NULL;
}

ec_backend *ec_backend_member(ec_backend *backend, int i)
{
    if (i < 0 || i > backend->n_workers)
        return NULL;
    return i == 0 ? backend : ec_worker_backend(backend->worker[i - 1]);
}

void ec_backend_list(ec_backend *backend, char *text, size_t size)
{
    size_t used = 0;

    for (int i = 0; i <= backend->n_workers && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "",
                                 ec_backend_member(backend, i)->name);
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
