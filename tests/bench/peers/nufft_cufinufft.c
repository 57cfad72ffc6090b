/* nufft_cufinufft.c: times cuFINUFFT on the transforms of eciton_bench's arrays on the GPU, "plane
 * 10000 on 512x512 sll_db" and "plane 1000 on 256x256 sll_db": 2-D type 1, float32, points of each
 * candidate's own.
 *
 *   nufft_cufinufft [LIBRARY]
 *
 * LIBRARY is the shared object (default libcufinufft.so); the Python package cufinufft holds it,
 * and it wants a CUDA runtime and a cuFFT of the version that it was built with. Exit status 77: it
 * cannot be loaded. By hand: nvcc -O2 -o nufft_cufinufft nufft_cufinufft.c -ldl -lm
 *
 * The library has no batch of different points, so its plan, made once, takes each candidate's
 * points in turn; points and strengths lie on the GPU, and the host waits once, behind the last
 * candidate. A figure is the least of the passes by CUDA events, and holds the modes alone, where
 * eciton_bench's holds the side-lobe level too. Points fill either the part of the period that the
 * arrays of eciton_bench fill (extent below 1) or all of it. The error is that of the last
 * candidate's modes against a direct sum in float64, relative, root mean square over some modes;
 * the best way of a case is the fastest of those within three times the tolerance. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 200, PASSES = 7, CHECKED_MODES = 100 };

static const double PI = 3.14159265358979323846;
static const float TOLERANCE = 1e-3f;

/* ---- the library's interface, version 2.5 ---------------------------------------------------- */

typedef struct cufinufft_opts {
    double upsampfac; /* 0: chosen by the library */
    int gpu_method;   /* 0: chosen by the library */
    int gpu_sort;
    int gpu_binsizex, gpu_binsizey, gpu_binsizez;
    int gpu_obinsizex, gpu_obinsizey, gpu_obinsizez;
    int gpu_maxsubprobsize;
    int gpu_kerevalmeth;
    int gpu_spreadinterponly;
    int gpu_maxbatchsize;
    int gpu_device_id;
    void *gpu_stream;
    int modeord;
    int gpu_np;
    int debug;
} cufinufft_opts;

typedef struct peer {
    void (*default_opts)(cufinufft_opts *opts);
    int (*makeplan)(int type, int dim, const int64_t *modes, int sign, int transforms,
                    float tolerance, void **plan, const cufinufft_opts *opts);
    int (*setpts)(void *plan, int64_t points, const float *x, const float *y, const float *z,
                  int targets, const float *s, const float *t, const float *u);
    int (*execute)(void *plan, void *strengths, void *modes);
    int (*destroy)(void *plan);
} peer;

/* A way to do a transform, of those that the library offers for type 1. */
typedef struct way {
    const char *name;
    int method;
    int sort;
    double upsampling;
} way;

static const way WAYS[] = {
    {"automatic", 0, 1, 0},
    {"point driven sorted", 1, 1, 2},
    {"point driven sorted", 1, 1, 1.25},
    {"point driven unsorted", 1, 0, 2},
    {"point driven unsorted", 1, 0, 1.25},
    {"shared memory", 2, 1, 2},
    {"shared memory", 2, 1, 1.25},
    {"output driven", 3, 1, 2},
    {"output driven", 3, 1, 1.25},
};
enum { N_WAYS = sizeof WAYS / sizeof *WAYS };

/* ---- inputs ---------------------------------------------------------------------------------- */

typedef struct test_case {
    int elements;
    int modes;     /* a side */
    double extent; /* of the points, over the period */
} test_case;

/* Directions on [-1, 1] with M a side have the period (M - 1) / 2 wavelengths; eciton_bench's
 * apertures are 70 and 22 wavelengths wide. */
static const test_case CASES[] = {
    {10000, 512, 70 / 255.5},
    {10000, 512, 1},
    {1000, 256, 22 / 127.5},
    {1000, 256, 1},
};

/* On the host and on the GPU: x and y of all candidates, their strengths, one candidate's modes. */
typedef struct buffers {
    float *x, *y, *strengths, *modes;
} buffers;

typedef struct measurement {
    double microseconds;
    double error;
} measurement;

static void check(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "nufft_cufinufft: %s\n", cudaGetErrorString(status));
    exit(1);
}

static void *host_memory(size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory)
        return memory;
    fprintf(stderr, "nufft_cufinufft: no memory for %zu bytes\n", bytes);
    exit(1);
}

/* Uniform on [-1, 1). */
static float uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(*state >> 40) * 0x1p-23 - 1);
}

static float *on_device(const float *host, size_t n)
{
    void *device = NULL;

    check(cudaMalloc(&device, n * sizeof *host));
    check(cudaMemcpy(device, host, n * sizeof *host, cudaMemcpyHostToDevice));
    return device;
}

static void make_buffers(const test_case *c, buffers *host, buffers *device)
{
    size_t n = (size_t)CANDIDATES * (size_t)c->elements;
    size_t cells = 2 * (size_t)c->modes * (size_t)c->modes;
    uint64_t state = 1;

    host->x = host_memory(n * sizeof *host->x);
    host->y = host_memory(n * sizeof *host->y);
    host->strengths = host_memory(2 * n * sizeof *host->strengths);
    host->modes = host_memory(cells * sizeof *host->modes);
    for (size_t i = 0; i < n; i++) {
        host->x[i] = (float)(PI * c->extent) * uniform(&state);
        host->y[i] = (float)(PI * c->extent) * uniform(&state);
        host->strengths[2 * i] = uniform(&state);
        host->strengths[2 * i + 1] = uniform(&state);
    }
    memset(host->modes, 0, cells * sizeof *host->modes);
    device->x = on_device(host->x, n);
    device->y = on_device(host->y, n);
    device->strengths = on_device(host->strengths, 2 * n);
    device->modes = on_device(host->modes, cells);
}

static void free_buffers(buffers *host, buffers *device)
{
    free(host->x);
    free(host->y);
    free(host->strengths);
    free(host->modes);
    check(cudaFree(device->x));
    check(cudaFree(device->y));
    check(cudaFree(device->strengths));
    check(cudaFree(device->modes));
}

/* ---- one way of one case --------------------------------------------------------------------- */

static int run_all(const peer *p, void *plan, const test_case *c, const buffers *device)
{
    for (size_t i = 0; i < CANDIDATES; i++) {
        size_t first = i * (size_t)c->elements;
        int status = p->setpts(plan, c->elements, device->x + first, device->y + first, NULL, 0,
                               NULL, NULL, NULL);
        if (!status)
            status = p->execute(plan, device->strengths + 2 * first, device->modes);
        if (status)
            return status;
    }
    return 0;
}

static double relative_error(const test_case *c, const buffers *host)
{
    size_t first = (CANDIDATES - 1) * (size_t)c->elements;
    const float *x = host->x + first, *y = host->y + first, *s = host->strengths + 2 * first;
    double difference = 0, norm = 0;
    uint64_t state = 2;

    for (int m = 0; m < CHECKED_MODES; m++) {
        int kx = (int)floor(0.5 * c->modes * (double)uniform(&state));
        int ky = (int)floor(0.5 * c->modes * (double)uniform(&state));
        double re = 0, im = 0;
        for (int i = 0; i < c->elements; i++) {
            double phase = kx * (double)x[i] + ky * (double)y[i];
            double co = cos(phase), si = sin(phase);
            re += (double)s[2 * i] * co - (double)s[2 * i + 1] * si;
            im += (double)s[2 * i] * si + (double)s[2 * i + 1] * co;
        }
        /* the frequency along x runs fastest, from -modes / 2 */
        size_t row = (size_t)(ky + c->modes / 2), column = (size_t)(kx + c->modes / 2);
        const float *got = host->modes + 2 * (row * (size_t)c->modes + column);
        difference += (re - (double)got[0]) * (re - (double)got[0]) +
                      (im - (double)got[1]) * (im - (double)got[1]);
        norm += re * re + im * im;
    }
    return sqrt(difference / norm);
}

/* 0, or the library's status when it does not offer this way. */
static int measure(const peer *p, const way *w, const test_case *c, buffers *host,
                   const buffers *device, measurement *result)
{
    size_t bytes = 2 * sizeof(float) * (size_t)c->modes * (size_t)c->modes;
    int64_t modes[2] = {c->modes, c->modes};
    cufinufft_opts opts;
    void *plan = NULL;
    cudaEvent_t start, end;

    p->default_opts(&opts);
    opts.gpu_method = w->method;
    opts.gpu_sort = w->sort;
    opts.upsampfac = w->upsampling;
    int status = p->makeplan(1, 2, modes, 1, 1, TOLERANCE, &plan, &opts);
    if (status)
        return status;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&end));
    check(cudaMemset(device->modes, 0xff, bytes)); /* not numbers, unless they are written */
    result->microseconds = INFINITY;
    for (int pass = -1; pass < PASSES && !status; pass++) { /* the first to warm up */
        float milliseconds;
        check(cudaEventRecord(start, NULL));
        status = run_all(p, plan, c, device);
        check(cudaEventRecord(end, NULL));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&milliseconds, start, end));
        if (pass >= 0)
            result->microseconds =
                fmin(result->microseconds, 1e3 * (double)milliseconds / CANDIDATES);
    }
    check(cudaMemcpy(host->modes, device->modes, bytes, cudaMemcpyDeviceToHost));
    result->error = relative_error(c, host);
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(end));
    p->destroy(plan);
    return status;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void run_case(const peer *p, const test_case *c)
{
    measurement results[N_WAYS];
    buffers host, device;
    int best = -1;

    make_buffers(c, &host, &device);
    for (int i = 0; i < N_WAYS; i++) {
        measurement *r = &results[i];
        int status = measure(p, &WAYS[i], c, &host, &device, r);
        if (status) {
            fprintf(stderr, "%s, upsampling %g: status %d\n", WAYS[i].name, WAYS[i].upsampling,
                    status);
            r->microseconds = r->error = NAN;
        }
        if (r->error <= 3 * (double)TOLERANCE &&
            (best < 0 || r->microseconds < results[best].microseconds))
            best = i;
    }
    for (int i = 0; i < N_WAYS; i++)
        printf("%d,%dx%d,%g,%.3f,%s,%g,%.2f,%.1e,%s\n", c->elements, c->modes, c->modes,
               (double)TOLERANCE, c->extent, WAYS[i].name, WAYS[i].upsampling,
               results[i].microseconds, results[i].error, i == best ? "best" : "");
    fflush(stdout);
    free_buffers(&host, &device);
}

static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    if (!symbol) {
        fprintf(stderr, "nufft_cufinufft: %s\n", dlerror());
        exit(1);
    }
    memcpy(function, &symbol, sizeof symbol);
}

/* What the library allocates in stream order stays with the process when the host waits, instead of
 * going back to the driver, which would cost it time in every pass. */
static void keep_memory(void)
{
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;

    check(cudaDeviceGetDefaultMemPool(&pool, 0));
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        fprintf(stderr, "usage: %s [LIBRARY]\n", argv[0]);
        return 2;
    }
    void *library = dlopen(argc > 1 ? argv[1] : "libcufinufft.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "skipped: %s\n", dlerror());
        return 77;
    }
    peer p;
    find(library, "cufinufft_default_opts", &p.default_opts);
    find(library, "cufinufftf_makeplan", &p.makeplan);
    find(library, "cufinufftf_setpts", &p.setpts);
    find(library, "cufinufftf_execute", &p.execute);
    find(library, "cufinufftf_destroy", &p.destroy);

    struct cudaDeviceProp device;
    check(cudaSetDevice(0));
    check(cudaGetDeviceProperties(&device, 0));
    keep_memory();
    printf(
        "# %s, the least of %d passes over %d candidates; upsampling 0 is the library's choice\n",
        device.name, PASSES, CANDIDATES);
    printf(
        "elements,modes,tolerance,extent,method,upsampling,us_per_candidate,relative_error,best\n");
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        run_case(&p, &CASES[i]);
    dlclose(library);
    return 0;
}
