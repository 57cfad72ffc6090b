/* backend.h: where arrays live and kernels run. A backend is a struct of function pointers;
 * "cpu" is always there, "cuda:0" needs a build with CUDA and a device, "auto" takes CUDA if there
 * is a device and the CPU otherwise. A backend belongs to one thread at a time.
 *
 * A list, "cuda:0,cuda:1", is its first backend with workers beside it: executors (executor.h) split
 * populations over all of them, everything else happens on the first. Results are the same bits as
 * with the first alone, if the cards are alike.
 *
 * All work of a backend is ordered (one stream). launch, copy and fill may return before the work
 * is done; upload and download have finished with the host memory when they return; sync waits.
 * Results on one backend are the same bits for any number of threads.
 */
#ifndef EC_BACKEND_H
#define EC_BACKEND_H

#include "kernel.h"
#include "log.h"
#include "status.h"

EC_C_BEGIN

typedef struct ec_backend ec_backend;
typedef struct ec_capture ec_capture; /* a recorded sequence of launches (a CUDA graph) */
typedef struct ec_fft ec_fft;
typedef struct ec_worker ec_worker; /* a backend with a host thread of its own */

enum { EC_WORKERS_MAX = 16 }; /* backends of a list */
#define EC_BACKEND_NAMES "cpu, cuda, cuda:N, cuda:all, auto and lists like cuda:0,cuda:1"

typedef struct ec_backend_info {
    const char *name; /* "cpu", "cuda", "cuda:N" or "auto"; NULL is "auto". Several, all cpu or all
                         CUDA, with commas between; "cuda:all" is all devices */
    int threads;      /* CPU threads, shared by a list; 0 is all that the process may use
                         (OMP_NUM_THREADS too) */
    const char *isa;  /* "v1", "v3", "v4" or NULL: ECITON_ISA, else the best the CPU has */
    ec_log *log;      /* may be NULL */
} ec_backend_info;

typedef struct ec_fft_info {
    int rank;              /* 1 or 2 */
    size_t size[2];        /* transform sizes, outer first */
    size_t batch;          /* transforms a call, each contiguous, one after another */
    bool double_precision; /* data is ec_c128, else ec_c64 */
    int sign;              /* -1: exp(-j...), +1: exp(+j...); neither is scaled */
} ec_fft_info;

typedef struct ec_backend_ops {
    void (*destroy)(ec_backend *backend);
    /* Memory on the backend, aligned to 256 bytes, content undefined. */
    int (*alloc)(ec_backend *backend, size_t bytes, void **memory);
    void (*release)(ec_backend *backend, void *memory); /* NULL is allowed */
    int (*upload)(ec_backend *backend, void *to, const void *host, size_t bytes);
    int (*download)(ec_backend *backend, void *host, const void *from, size_t bytes);
    int (*copy)(ec_backend *backend, void *to, const void *from, size_t bytes);
    /* rows of `width` bytes, pitches in bytes, both sides on the backend */
    int (*copy_2d)(ec_backend *backend, void *to, size_t to_pitch, const void *from,
                   size_t from_pitch, size_t width, size_t rows);
    int (*fill)(ec_backend *backend, void *memory, int byte, size_t bytes);
    int (*launch)(ec_backend *backend, const ec_kernel *kernel, const void *args, size_t lanes,
                  size_t ny);
    int (*sync)(ec_backend *backend);
    /* Record launches, copies and fills between begin and end, then replay them as one. Both NULL
     * on a backend that runs eagerly at no cost (CPU). */
    int (*capture_begin)(ec_backend *backend);
    int (*capture_end)(ec_backend *backend, ec_capture **capture);
    int (*replay)(ec_backend *backend, ec_capture *capture);
    void (*capture_destroy)(ec_backend *backend, ec_capture **capture);
    int (*fft_create)(ec_backend *backend, const ec_fft_info *info, ec_fft **fft);
    int (*fft_run)(ec_backend *backend, ec_fft *fft, void *to, const void *from);
    void (*fft_destroy)(ec_backend *backend, ec_fft **fft);
    /* Bytes that may still be allocated, and the total. */
    int (*memory)(ec_backend *backend, size_t *free_bytes, size_t *total_bytes);
} ec_backend_ops;

struct ec_backend {
    const ec_backend_ops *ops;
    ec_log *log;
    bool is_cuda;
    bool host_memory;    /* pointers from alloc can be read by the host (CPU) */
    int threads;         /* CPU */
    int isa;             /* EC_ISA_* (CPU) */
    void *stream;        /* cudaStream_t (CUDA) */
    int multiprocessors; /* CUDA */
    char name[16];       /* "cpu", "cuda:0" */
    char device[128];    /* processor or card, as its vendor names it; of a list "2 x ..." */
    ec_worker *worker[EC_WORKERS_MAX]; /* of a list: its second backend and those behind it */
    int n_workers;
};

/* Whether a name is one that create knows: cpu, cuda, cuda:N, cuda:all, auto, or a list. */
EC_API bool ec_backend_is_name(const char *name);
/* ERR_BACKEND with a sentence when there is no such backend, no build support or no device. */
EC_API int ec_backend_create(const ec_backend_info *info, ec_backend **backend);
EC_API void ec_backend_destroy(ec_backend **backend);
/* Backend i of a list, 0 being the handle itself; NULL behind the last one. */
EC_API ec_backend *ec_backend_member(ec_backend *backend, int i);
/* "cuda:0,cuda:1": the name that creates it again. */
EC_API void ec_backend_list(ec_backend *backend, char *text, size_t size);

/* Number of CUDA devices this build can use on this machine (0 without CUDA). */
EC_API int ec_backend_cuda_count(void);
/* "v1", "v3", "v4" (or "plain" off x86-64). */
EC_API const char *ec_isa_name(int isa);
/* The best level this processor and operating system can run. */
EC_API int ec_isa_detect(void);

EC_C_END
#endif
