/* backend_cpu.c: the backend "cpu": host memory, OpenMP over strips of lanes, FFTW.
 *
 * Every call has finished when it returns. A strip is always computed whole by one thread and no
 * strip reads what another writes, so the number of threads does not change a bit. */
#define _POSIX_C_SOURCE 200809L /* pthread, uname */
#include "backend.h"
#include "backend_internal.h"

#include <fftw3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    ALIGNMENT = 256,
    /* Below this many strips a parallel region costs more than it saves. */
    SERIAL_STRIPS = 8,
    /* Allocations from this size on are compared with the memory that is free: Linux promises
     * memory that it does not have and kills the process later. */
    CHECKED_BYTES = 64 << 20
};

struct ec_fft {
    bool double_precision;
    bool always_staged; /* a transform's bytes are no multiple of FFTW's alignment */
    size_t batch;
    size_t points;             /* of one transform */
    size_t bytes;              /* of one transform */
    void *separate, *in_place; /* fftw_plan or fftwf_plan */
    char *scratch;             /* two transforms a thread */
    size_t scratch_bytes;      /* of one of the two */
};

/* FFTW's planner is not reentrant and has state of its own for the whole process. */
static pthread_mutex_t planner_lock = PTHREAD_MUTEX_INITIALIZER;

static void cpu_destroy(ec_backend *backend)
{
    free(backend);
}

/* ---- memory ---- */

/* First number in a small text file; false for a missing file or a word such as "max". */
static bool read_number(const char *path, unsigned long long *value)
{
    FILE *file = fopen(path, "r");

    if (!file)
        return false;
    bool found = fscanf(file, "%llu", value) == 1;
    fclose(file);
    return found;
}

/* The value behind `key` in a file of "key value" lines. */
static bool read_key(const char *path, const char *key, unsigned long long *value)
{
    char line[256];
    size_t length = strlen(key);
    bool found = false;
    FILE *file = fopen(path, "r");

    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file))
        found = strncmp(line, key, length) == 0 && sscanf(line + length, " %llu", value) == 1;
    fclose(file);
    return found;
}

/* Lowers free and total to what one control group still allows. Page cache that the kernel can
 * drop counts as free. */
static void apply_limit(const char *folder, const char *limit_file, const char *used_file,
                        const char *cache_key, unsigned long long *free_bytes,
                        unsigned long long *total_bytes)
{
    char path[1024];
    unsigned long long limit, used, cache;

    snprintf(path, sizeof path, "%s/%s", folder, limit_file);
    if (!read_number(path, &limit))
        return;
    snprintf(path, sizeof path, "%s/%s", folder, used_file);
    if (!read_number(path, &used))
        return;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    if (read_key(path, cache_key, &cache))
        used -= cache < used ? cache : used;
    unsigned long long left = limit > used ? limit - used : 0;
    if (left < *free_bytes)
        *free_bytes = left;
    if (limit < *total_bytes)
        *total_bytes = limit;
}

/* Every control group from the process's own up to the root may hold the limit (version 2); a
 * container sees its own group at the root of the mount (versions 1 and 2). */
static void apply_control_groups(unsigned long long *free_bytes, unsigned long long *total_bytes)
{
    char line[512], folder[600];
    FILE *file = fopen("/proc/self/cgroup", "r");

    apply_limit("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file ", free_bytes,
                total_bytes);
    apply_limit("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                "total_inactive_file ", free_bytes, total_bytes);
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::/", 4) != 0)
            continue;
        char *group = line + 3;
        while (group[0] == '/' && group[1] != '\0') {
            snprintf(folder, sizeof folder, "/sys/fs/cgroup%s", group);
            apply_limit(folder, "memory.max", "memory.current", "inactive_file ", free_bytes,
                        total_bytes);
            *strrchr(group, '/') = '\0';
        }
    }
    fclose(file);
}

static int cpu_memory(ec_backend *backend, size_t *free_bytes, size_t *total_bytes)
{
    unsigned long long available, total;

    (void)backend;
    if (!read_key("/proc/meminfo", "MemAvailable:", &available) ||
        !read_key("/proc/meminfo", "MemTotal:", &total))
        return ec_fail(EC_ERR_FILE, "cannot read MemAvailable and MemTotal from /proc/meminfo");
    available *= 1024;
    total *= 1024;
    apply_control_groups(&available, &total);
    if (free_bytes)
        *free_bytes = (size_t)available;
    if (total_bytes)
        *total_bytes = (size_t)total;
    return EC_OK;
}

static int cpu_alloc(ec_backend *backend, size_t bytes, void **memory)
{
    size_t available = 0;

    if (bytes >= CHECKED_BYTES && cpu_memory(backend, &available, NULL) == EC_OK &&
        bytes > available)
        return ec_fail(EC_ERR_MEMORY, "%.1f MB asked for, %.1f MB of memory are free",
                       (double)bytes / 1e6, (double)available / 1e6);
    if (bytes > SIZE_MAX - ALIGNMENT)
        return ec_fail(EC_ERR_MEMORY, "%zu bytes do not fit in the address space", bytes);
    void *fresh = aligned_alloc(ALIGNMENT, ec_round_up(bytes ? bytes : 1, ALIGNMENT));
    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "%.1f MB of memory cannot be had", (double)bytes / 1e6);
    *memory = fresh;
    return EC_OK;
}

static void cpu_release(ec_backend *backend, void *memory)
{
    (void)backend;
    free(memory);
}

static int cpu_copy(ec_backend *backend, void *to, const void *from, size_t bytes)
{
    (void)backend;
    if (bytes)
        memmove(to, from, bytes);
    return EC_OK;
}

static int cpu_copy_2d(ec_backend *backend, void *to, size_t to_pitch, const void *from,
                       size_t from_pitch, size_t width, size_t rows)
{
    (void)backend;
    for (size_t row = 0; row < rows && width; row++)
        memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
    return EC_OK;
}

static int cpu_fill(ec_backend *backend, void *memory, int byte, size_t bytes)
{
    (void)backend;
    if (bytes)
        memset(memory, byte, bytes);
    return EC_OK;
}

static int cpu_sync(ec_backend *backend)
{
    (void)backend;
    return EC_OK;
}

/* ---- kernels ---- */

/* A serial kernel may open a parallel region of its own: it gets this backend's threads. */
static void run_serial(const ec_backend *backend, ec_cpu_kernel *body, const void *args)
{
#ifdef _OPENMP
    int before = omp_get_max_threads();

    omp_set_num_threads(backend->threads);
    body(args, 0, 0);
    omp_set_num_threads(before);
#else
    (void)backend;
    body(args, 0, 0);
#endif
}

static int cpu_launch(ec_backend *backend, const ec_kernel *kernel, const void *args, size_t lanes,
                      size_t ny)
{
    ec_cpu_kernel *body = kernel->cpu[backend->isa];

    if (!body)
        return ec_fail(EC_ERR_INTERNAL, "kernel %s has no CPU version for ISA level %s",
                       kernel->name, ec_isa_name(backend->isa));
    if (kernel->flags & EC_KERNEL_SERIAL) {
        run_serial(backend, body, args);
        return EC_OK;
    }
    size_t strips = (lanes + EC_LANES - 1) / EC_LANES;
    size_t tasks = strips * ny;

    if (tasks < SERIAL_STRIPS || backend->threads == 1) {
        for (size_t y = 0; y < ny; y++)
            for (size_t strip = 0; strip < strips; strip++)
                body(args, strip * EC_LANES, y);
        return EC_OK;
    }
#ifdef _OPENMP
    /* Neighbours stay together, but a slow core does not hold up the others. */
    size_t chunk = tasks / ((size_t)backend->threads * 8);
    if (chunk < 1)
        chunk = 1;
#pragma omp parallel for schedule(dynamic, chunk) num_threads(backend->threads)
#endif
    for (size_t task = 0; task < tasks; task++)
        body(args, task % strips * EC_LANES, task / strips);
    return EC_OK;
}

/* ---- FFT ---- */

static void cpu_fft_destroy(ec_backend *backend, ec_fft **handle)
{
    (void)backend;
    ec_fft *fft = handle ? *handle : NULL;

    if (!fft)
        return;
    pthread_mutex_lock(&planner_lock);
    if (fft->double_precision) {
        if (fft->separate)
            fftw_destroy_plan((fftw_plan)fft->separate);
        if (fft->in_place)
            fftw_destroy_plan((fftw_plan)fft->in_place);
    } else {
        if (fft->separate)
            fftwf_destroy_plan((fftwf_plan)fft->separate);
        if (fft->in_place)
            fftwf_destroy_plan((fftwf_plan)fft->in_place);
    }
    pthread_mutex_unlock(&planner_lock);
    free(fft->scratch);
    free(fft);
    *handle = NULL;
}

/* ESTIMATE chooses by size alone, never by timing: the same plan, the same bits, each time. */
static void make_plans(ec_fft *fft, const ec_fft_info *info)
{
    int size[2] = {(int)info->size[0], info->rank == 2 ? (int)info->size[1] : 1};
    void *a = fft->scratch, *b = fft->scratch + fft->scratch_bytes;

    pthread_mutex_lock(&planner_lock);
    if (info->double_precision) {
        fft->separate = fftw_plan_dft(info->rank, size, (fftw_complex *)a, (fftw_complex *)b,
                                      info->sign, FFTW_ESTIMATE);
        fft->in_place = fftw_plan_dft(info->rank, size, (fftw_complex *)a, (fftw_complex *)a,
                                      info->sign, FFTW_ESTIMATE);
    } else {
        fft->separate = fftwf_plan_dft(info->rank, size, (fftwf_complex *)a, (fftwf_complex *)b,
                                       info->sign, FFTW_ESTIMATE);
        fft->in_place = fftwf_plan_dft(info->rank, size, (fftwf_complex *)a, (fftwf_complex *)a,
                                       info->sign, FFTW_ESTIMATE);
    }
    pthread_mutex_unlock(&planner_lock);
}

static int cpu_fft_create(ec_backend *backend, const ec_fft_info *info, ec_fft **handle)
{
    int status = ec_fft_check(info);
    if (status < 0)
        return status;

    size_t inner = info->rank == 2 ? info->size[1] : 1;
    size_t point_bytes = info->double_precision ? sizeof(ec_c128) : sizeof(ec_c64);
    if (info->size[0] > SIZE_MAX / 4 / point_bytes / inner / (size_t)backend->threads)
        return ec_fail(EC_ERR_MEMORY, "fft: %zu x %zu points do not fit in the address space",
                       info->size[0], inner);
    ec_fft *fft = (ec_fft *)calloc(1, sizeof *fft);
    if (!fft)
        return ec_fail(EC_ERR_MEMORY, "fft: no memory for a plan");
    fft->double_precision = info->double_precision;
    fft->batch = info->batch;
    fft->points = info->size[0] * inner;
    fft->bytes = fft->points * point_bytes;
    fft->scratch_bytes = ec_round_up(fft->bytes, ALIGNMENT);
    void *scratch;
    status = cpu_alloc(backend, 2 * fft->scratch_bytes * (size_t)backend->threads, &scratch);
    if (status < 0) {
        free(fft);
        return status;
    }
    fft->scratch = (char *)scratch;
    fft->always_staged = fft->bytes % 16 != 0 && fft->batch > 1;
    make_plans(fft, info);
    if (!fft->separate || !fft->in_place) {
        cpu_fft_destroy(backend, &fft);
        return ec_fail(EC_ERR_UNSUPPORTED, "fft: FFTW has no plan for %zu x %zu points",
                       info->size[0], inner);
    }
    *handle = fft;
    return EC_OK;
}

static bool is_aligned(const ec_fft *fft, const void *memory)
{
    /* FFTW's prototypes take the pointer to its real parts and do not read it. */
    return fft->double_precision ? fftw_alignment_of((double *)(uintptr_t)memory) == 0
                                 : fftwf_alignment_of((float *)(uintptr_t)memory) == 0;
}

static void execute(const ec_fft *fft, void *to, const void *from)
{
    void *plan = to == from ? fft->in_place : fft->separate;
    void *in = (void *)(uintptr_t)from; /* FFTW keeps the input of a complex transform */

    if (fft->double_precision)
        fftw_execute_dft((fftw_plan)plan, (fftw_complex *)in, (fftw_complex *)to);
    else
        fftwf_execute_dft((fftwf_plan)plan, (fftwf_complex *)in, (fftwf_complex *)to);
}

/* One transform. Staged ones run on aligned scratch memory: all of a batch take the same way, so
 * that the place in the batch does not change the bits. */
static void run_one(const ec_fft *fft, bool staged, size_t index, int thread, char *to,
                    const char *from)
{
    to += index * fft->bytes;
    from += index * fft->bytes;
    if (!staged) {
        execute(fft, to, from);
        return;
    }
    char *a = fft->scratch + 2 * (size_t)thread * fft->scratch_bytes;
    char *b = a + fft->scratch_bytes;
    memcpy(a, from, fft->bytes);
    if (to == from) {
        execute(fft, a, a);
        memcpy(to, a, fft->bytes);
    } else {
        execute(fft, b, a);
        memcpy(to, b, fft->bytes);
    }
}

static int cpu_fft_run(ec_backend *backend, ec_fft *fft, void *to, const void *from)
{
    bool staged = fft->always_staged || !is_aligned(fft, to) || !is_aligned(fft, from);

#ifdef _OPENMP
    if (backend->threads > 1 && fft->batch > 1) {
#pragma omp parallel for schedule(static) num_threads(backend->threads)
        for (size_t i = 0; i < fft->batch; i++)
            run_one(fft, staged, i, omp_get_thread_num(), (char *)to, (const char *)from);
        return EC_OK;
    }
#else
    (void)backend;
#endif
    for (size_t i = 0; i < fft->batch; i++)
        run_one(fft, staged, i, 0, (char *)to, (const char *)from);
    return EC_OK;
}

/* ---- the backend ---- */

static const ec_backend_ops cpu_ops = {
    .destroy = cpu_destroy,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .upload = cpu_copy,
    .download = cpu_copy,
    .copy = cpu_copy,
    .copy_2d = cpu_copy_2d,
    .fill = cpu_fill,
    .launch = cpu_launch,
    .sync = cpu_sync,
    .fft_create = cpu_fft_create,
    .fft_run = cpu_fft_run,
    .fft_destroy = cpu_fft_destroy,
    .memory = cpu_memory,
};

/* The processor as /proc/cpuinfo names it; the architecture where it names none. */
static void read_processor(char *name, size_t size)
{
    char line[256];
    struct utsname system;
    FILE *file = fopen("/proc/cpuinfo", "r");

    snprintf(name, size, "%s processor", uname(&system) == 0 ? system.machine : "unknown");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, size, "%s", value);
        break;
    }
    fclose(file);
}

int ec_backend_cpu_create(int threads, int isa, ec_log *log, ec_backend **backend)
{
    ec_backend *fresh = (ec_backend *)calloc(1, sizeof *fresh);

    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "backend 'cpu': no memory");
    fresh->ops = &cpu_ops;
    fresh->log = log;
    fresh->host_memory = true;
    fresh->threads = threads;
    fresh->isa = isa;
    snprintf(fresh->name, sizeof fresh->name, "cpu");
    read_processor(fresh->device, sizeof fresh->device);
    *backend = fresh;
    return EC_OK;
}
