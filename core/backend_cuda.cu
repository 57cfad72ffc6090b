/* backend_cuda.cu: the backend "cuda:N": one device, one non-blocking stream, cuFFT.
 *
 * Host memory passes through a ring of pinned pieces, so uploads return as soon as the data are in
 * the ring and copies run at full speed from pageable memory. Every call selects the device first:
 * the backend may move from thread to thread. A CUDA error becomes a status that names the call. */
#include "backend.h"
#include "backend_internal.h"

#include <cuda_runtime.h>
#include <cufft.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING_PIECES = 4 };
static const size_t piece_bytes = (size_t)1 << 20;
static const size_t checked_bytes = (size_t)64 << 20;

typedef struct cuda_backend {
    ec_backend base; /* first: the handle points here */
    cudaStream_t stream;
    int device;
    int next_piece;
    bool capturing;
    char *pieces[RING_PIECES];
    cudaEvent_t done[RING_PIECES]; /* the device has finished with the piece */
} cuda_backend;

struct ec_capture {
    cudaGraphExec_t graph;
};

struct ec_fft {
    cufftHandle plan;
    bool double_precision;
    int sign;
};

static int fail_cuda(const char *call, cudaError_t error)
{
    cudaGetLastError(); /* a reported error must not be seen again by the next launch */
    int status = error == cudaErrorMemoryAllocation ? EC_ERR_MEMORY : EC_ERR_DEVICE;
    return ec_fail(status, "%s: %s", call, cudaGetErrorString(error));
}

/* Runs a CUDA call and leaves the function with a status if it fails. */
#define TRY(name, ...)                                                                             \
    do {                                                                                           \
        cudaError_t try_error = name(__VA_ARGS__);                                                 \
        if (try_error != cudaSuccess)                                                              \
            return fail_cuda(#name, try_error);                                                    \
    } while (0)

static cuda_backend *own(ec_backend *backend)
{
    return (cuda_backend *)backend;
}

static void cuda_destroy(ec_backend *backend)
{
    cuda_backend *cuda = own(backend);

    cudaSetDevice(cuda->device);
    if (cuda->stream)
        cudaStreamSynchronize(cuda->stream);
    for (int i = 0; i < RING_PIECES; i++) {
        if (cuda->done[i])
            cudaEventDestroy(cuda->done[i]);
        cudaFreeHost(cuda->pieces[i]);
    }
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    cudaGetLastError();
    free(cuda);
}

/* ---- memory ---- */

/* Large requests are compared with what is free first: a refusal is then a plain answer and not an
 * error inside CUDA. */
static int cuda_alloc(ec_backend *backend, size_t bytes, void **memory)
{
    void *fresh;

    TRY(cudaSetDevice, own(backend)->device);
    cudaError_t error = cudaSuccess;
    size_t available = SIZE_MAX, total;
    if (bytes >= checked_bytes)
        TRY(cudaMemGetInfo, &available, &total);
    if (bytes <= available)
        error = cudaMalloc(&fresh, bytes ? bytes : 1);
    if (bytes > available || error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return ec_fail(EC_ERR_MEMORY, "cudaMalloc: %.1f MB of memory cannot be had on %s",
                       (double)bytes / 1e6, backend->name);
    }
    if (error != cudaSuccess)
        return fail_cuda("cudaMalloc", error);
    *memory = fresh;
    return EC_OK;
}

static void cuda_release(ec_backend *backend, void *memory)
{
    if (!memory)
        return;
    cudaSetDevice(own(backend)->device);
    cudaFree(memory); /* waits for the work that may still use it */
    cudaGetLastError();
}

static int refuse_in_capture(const cuda_backend *cuda, const char *what)
{
    return cuda->capturing ? ec_fail(EC_ERR_UNSUPPORTED,
                                     "%s cannot be part of a recorded sequence of launches", what)
                           : EC_OK;
}

static int cuda_upload(ec_backend *backend, void *to, const void *host, size_t bytes)
{
    cuda_backend *cuda = own(backend);

    int status = refuse_in_capture(cuda, "an upload");
    if (status < 0)
        return status;
    TRY(cudaSetDevice, cuda->device);
    for (size_t at = 0; at < bytes; at += piece_bytes) {
        size_t count = bytes - at < piece_bytes ? bytes - at : piece_bytes;
        int i = cuda->next_piece;
        cuda->next_piece = (i + 1) % RING_PIECES;
        TRY(cudaEventSynchronize, cuda->done[i]);
        memcpy(cuda->pieces[i], (const char *)host + at, count);
        TRY(cudaMemcpyAsync, (char *)to + at, cuda->pieces[i], count, cudaMemcpyHostToDevice,
            cuda->stream);
        TRY(cudaEventRecord, cuda->done[i], cuda->stream);
    }
    return EC_OK;
}

/* Piece k is on its way while piece k - 1 is copied out of the ring. */
static int cuda_download(ec_backend *backend, void *host, const void *from, size_t bytes)
{
    cuda_backend *cuda = own(backend);

    int status = refuse_in_capture(cuda, "a download");
    if (status < 0)
        return status;
    TRY(cudaSetDevice, cuda->device);
    int pending = -1;
    size_t pending_at = 0, pending_count = 0;
    for (size_t at = 0; at < bytes || pending >= 0; at += piece_bytes) {
        int current = -1;
        size_t count = 0;
        if (at < bytes) {
            count = bytes - at < piece_bytes ? bytes - at : piece_bytes;
            current = cuda->next_piece;
            cuda->next_piece = (current + 1) % RING_PIECES;
            TRY(cudaMemcpyAsync, cuda->pieces[current], (const char *)from + at, count,
                cudaMemcpyDeviceToHost, cuda->stream);
            TRY(cudaEventRecord, cuda->done[current], cuda->stream);
        }
        if (pending >= 0) {
            TRY(cudaEventSynchronize, cuda->done[pending]);
            memcpy((char *)host + pending_at, cuda->pieces[pending], pending_count);
        }
        pending = current;
        pending_at = at;
        pending_count = count;
    }
    return EC_OK;
}

static int cuda_copy(ec_backend *backend, void *to, const void *from, size_t bytes)
{
    TRY(cudaSetDevice, own(backend)->device);
    if (bytes)
        TRY(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDeviceToDevice, own(backend)->stream);
    return EC_OK;
}

static int cuda_copy_2d(ec_backend *backend, void *to, size_t to_pitch, const void *from,
                        size_t from_pitch, size_t width, size_t rows)
{
    cudaStream_t stream = own(backend)->stream;

    TRY(cudaSetDevice, own(backend)->device);
    if (width == 0 || rows == 0)
        return EC_OK;
    if (to_pitch <= INT32_MAX && from_pitch <= INT32_MAX) {
        TRY(cudaMemcpy2DAsync, to, to_pitch, from, from_pitch, width, rows,
            cudaMemcpyDeviceToDevice, stream);
        return EC_OK;
    }
    /* Wider pitches than the copy engine takes. */
    for (size_t row = 0; row < rows; row++)
        TRY(cudaMemcpyAsync, (char *)to + row * to_pitch, (const char *)from + row * from_pitch,
            width, cudaMemcpyDeviceToDevice, stream);
    return EC_OK;
}

static int cuda_fill(ec_backend *backend, void *memory, int byte, size_t bytes)
{
    TRY(cudaSetDevice, own(backend)->device);
    if (bytes)
        TRY(cudaMemsetAsync, memory, byte, bytes, own(backend)->stream);
    return EC_OK;
}

static int cuda_memory(ec_backend *backend, size_t *free_bytes, size_t *total_bytes)
{
    size_t available, total;

    TRY(cudaSetDevice, own(backend)->device);
    TRY(cudaMemGetInfo, &available, &total);
    if (free_bytes)
        *free_bytes = available;
    if (total_bytes)
        *total_bytes = total;
    return EC_OK;
}

/* ---- kernels ---- */

static int cuda_launch(ec_backend *backend, const ec_kernel *kernel, const void *args, size_t lanes,
                       size_t ny)
{
    if (!kernel->cuda)
        return ec_fail(EC_ERR_INTERNAL, "kernel %s has no CUDA version", kernel->name);
    TRY(cudaSetDevice, own(backend)->device);
    int error = kernel->cuda(own(backend)->stream, args, lanes, ny);
    if (error == 0)
        return EC_OK;
    cudaGetLastError();
    return ec_fail(EC_ERR_DEVICE, "cudaLaunchKernel: %s (kernel %s)",
                   cudaGetErrorString((cudaError_t)error), kernel->name);
}

static int cuda_sync(ec_backend *backend)
{
    TRY(cudaSetDevice, own(backend)->device);
    TRY(cudaStreamSynchronize, own(backend)->stream);
    return EC_OK;
}

/* ---- recorded sequences ---- */

static int cuda_capture_begin(ec_backend *backend)
{
    cuda_backend *cuda = own(backend);

    int status = refuse_in_capture(cuda, "another recording");
    if (status < 0)
        return status;
    TRY(cudaSetDevice, cuda->device);
    TRY(cudaStreamBeginCapture, cuda->stream, cudaStreamCaptureModeThreadLocal);
    cuda->capturing = true;
    return EC_OK;
}

static int cuda_capture_end(ec_backend *backend, ec_capture **handle)
{
    cuda_backend *cuda = own(backend);
    cudaGraph_t graph = NULL;

    if (!cuda->capturing)
        return ec_fail(EC_ERR_ARGUMENT, "capture_end without a capture_begin");
    cuda->capturing = false;
    TRY(cudaSetDevice, cuda->device);
    TRY(cudaStreamEndCapture, cuda->stream, &graph);
    ec_capture *capture = (ec_capture *)calloc(1, sizeof *capture);
    if (!capture) {
        cudaGraphDestroy(graph);
        return ec_fail(EC_ERR_MEMORY, "no memory for a recorded sequence of launches");
    }
    cudaError_t error = cudaGraphInstantiate(&capture->graph, graph, 0);
    cudaGraphDestroy(graph);
    if (error != cudaSuccess) {
        free(capture);
        return fail_cuda("cudaGraphInstantiate", error);
    }
    *handle = capture;
    return EC_OK;
}

static int cuda_replay(ec_backend *backend, ec_capture *capture)
{
    TRY(cudaSetDevice, own(backend)->device);
    TRY(cudaGraphLaunch, capture->graph, own(backend)->stream);
    return EC_OK;
}

static void cuda_capture_destroy(ec_backend *backend, ec_capture **handle)
{
    if (!handle || !*handle)
        return;
    cudaSetDevice(own(backend)->device);
    /* The device may still run it. */
    cudaStreamSynchronize(own(backend)->stream);
    cudaGraphExecDestroy((*handle)->graph);
    cudaGetLastError();
    free(*handle);
    *handle = NULL;
}

/* ---- FFT ---- */

static int fail_cufft(const char *call, cufftResult result)
{
    if (result == CUFFT_ALLOC_FAILED)
        return ec_fail(EC_ERR_MEMORY, "%s: no memory on the device for its work area", call);
    if (result == CUFFT_INVALID_SIZE)
        return ec_fail(EC_ERR_UNSUPPORTED, "%s: cuFFT has no plan for this size", call);
    return ec_fail(EC_ERR_DEVICE, "%s: cuFFT result %d", call, (int)result);
}

static int cuda_fft_create(ec_backend *backend, const ec_fft_info *info, ec_fft **handle)
{
    int size[2];

    int status = ec_fft_check(info);
    if (status < 0)
        return status;
    TRY(cudaSetDevice, own(backend)->device);
    size[0] = (int)info->size[0];
    size[1] = info->rank == 2 ? (int)info->size[1] : 1;
    ec_fft *fft = (ec_fft *)calloc(1, sizeof *fft);
    if (!fft)
        return ec_fail(EC_ERR_MEMORY, "fft: no memory for a plan");
    fft->double_precision = info->double_precision;
    fft->sign = info->sign;
    cufftResult result =
        cufftPlanMany(&fft->plan, info->rank, size, NULL, 1, 0, NULL, 1, 0,
                      info->double_precision ? CUFFT_Z2Z : CUFFT_C2C, (int)info->batch);
    if (result != CUFFT_SUCCESS) {
        free(fft);
        return fail_cufft("cufftPlanMany", result);
    }
    result = cufftSetStream(fft->plan, own(backend)->stream);
    if (result != CUFFT_SUCCESS) {
        cufftDestroy(fft->plan);
        free(fft);
        return fail_cufft("cufftSetStream", result);
    }
    *handle = fft;
    return EC_OK;
}

static int cuda_fft_run(ec_backend *backend, ec_fft *fft, void *to, const void *from)
{
    int direction = fft->sign < 0 ? CUFFT_FORWARD : CUFFT_INVERSE;
    void *in = const_cast<void *>(from); /* cuFFT keeps the input of a complex transform */
    cufftResult result;

    TRY(cudaSetDevice, own(backend)->device);
    if (fft->double_precision)
        result =
            cufftExecZ2Z(fft->plan, (cufftDoubleComplex *)in, (cufftDoubleComplex *)to, direction);
    else
        result = cufftExecC2C(fft->plan, (cufftComplex *)in, (cufftComplex *)to, direction);
    return result == CUFFT_SUCCESS ? (int)EC_OK : fail_cufft("cufftExec", result);
}

static void cuda_fft_destroy(ec_backend *backend, ec_fft **handle)
{
    if (!handle || !*handle)
        return;
    cudaSetDevice(own(backend)->device);
    cudaStreamSynchronize(own(backend)->stream);
    cufftDestroy((*handle)->plan);
    cudaGetLastError();
    free(*handle);
    *handle = NULL;
}

/* ---- the backend ---- */

static const ec_backend_ops cuda_ops = {
    cuda_destroy,       cuda_alloc,       cuda_release, cuda_upload,          cuda_download,
    cuda_copy,          cuda_copy_2d,     cuda_fill,    cuda_launch,          cuda_sync,
    cuda_capture_begin, cuda_capture_end, cuda_replay,  cuda_capture_destroy, cuda_fft_create,
    cuda_fft_run,       cuda_fft_destroy, cuda_memory,
};

static int open_device(cuda_backend *cuda)
{
    cudaDeviceProp properties;

    TRY(cudaSetDevice, cuda->device);
    TRY(cudaGetDeviceProperties, &properties, cuda->device);
    snprintf(cuda->base.device, sizeof cuda->base.device, "%.127s", properties.name);
    cuda->base.multiprocessors = properties.multiProcessorCount;
    TRY(cudaStreamCreateWithFlags, &cuda->stream, cudaStreamNonBlocking);
    cuda->base.stream = cuda->stream;
    for (int i = 0; i < RING_PIECES; i++) {
        TRY(cudaMallocHost, (void **)&cuda->pieces[i], piece_bytes);
        TRY(cudaEventCreateWithFlags, &cuda->done[i], cudaEventDisableTiming);
    }
    return EC_OK;
}

extern "C" int ec_backend_cuda_count_impl(void)
{
    int count = 0;

    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return count;
}

extern "C" int ec_backend_cuda_create(int device, ec_log *log, ec_backend **backend)
{
    cuda_backend *fresh = (cuda_backend *)calloc(1, sizeof *fresh);

    if (!fresh)
        return ec_fail(EC_ERR_MEMORY, "backend 'cuda:%d': no memory", device);
    fresh->base.ops = &cuda_ops;
    fresh->base.log = log;
    fresh->base.is_cuda = true;
    fresh->base.threads = 1;
    fresh->device = device;
    snprintf(fresh->base.name, sizeof fresh->base.name, "cuda:%d", device);
    int status = open_device(fresh);
    if (status < 0) {
        cuda_destroy(&fresh->base);
        return status;
    }
    *backend = &fresh->base;
    return EC_OK;
}
