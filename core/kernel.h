/* kernel.h: a kernel is one piece of work for one strip of lanes, written once.
 *
 * In foo_kernels.h (C17 and CUDA):
 *     typedef struct foo_args { ... } foo_args;                 (plain data, passed by value)
 *     EC_FN void foo_body(const foo_args *a, size_t lane0, size_t y) {
 *         for (int l = 0; l < EC_LANES; l++) { size_t c = lane0 + l; ... }
 *     }
 * In foo_kernels.c, compiled once per ISA level (EC_ISA_SUFFIX is v1, v3 or v4):
 *     EC_KERNEL_CPU(foo, foo_args, foo_body)
 * In foo_kernels.cu:
 *     EC_KERNEL_CUDA(foo, foo_args, foo_body)        (see kernel_cuda.cuh; one thread a lane)
 * In foo.c, compiled once:
 *     EC_KERNEL_DECLARE(foo, foo_args)               -> const ec_kernel ec_kernel_foo
 * and it is run by backend->ops->launch(backend, &ec_kernel_foo, &args, lanes, ny).
 *
 * The grid is lanes x ny. On the CPU the body is called with lane0 a multiple of EC_LANES and may
 * write all EC_LANES lanes (arrays are padded to ec_lane_ld). On the GPU it is called once for each
 * lane < lanes. A kernel flagged EC_KERNEL_SERIAL is one task: the CPU calls it once with
 * lane0 = 0 (on one thread; it may open its own OpenMP region); its CUDA launcher is hand-written
 * (one block, or several launches). It gets `lanes` through its args.
 */
#ifndef EC_KERNEL_H
#define EC_KERNEL_H

#include "base.h"

EC_C_BEGIN

enum { EC_ISA_V1 = 0, EC_ISA_V3 = 1, EC_ISA_V4 = 2, EC_ISA_COUNT = 3 };

typedef void ec_cpu_kernel(const void *args, size_t lane0, size_t y);
/* Enqueues on `stream` (a cudaStream_t); returns 0 or a cudaError_t. */
typedef int ec_cuda_launcher(void *stream, const void *args, size_t lanes, size_t ny);

enum { EC_KERNEL_SERIAL = 1 };

typedef struct ec_kernel {
    const char *name;
    size_t args_size;
    uint32_t flags;
    ec_cpu_kernel *cpu[EC_ISA_COUNT]; /* on other architectures than x86-64 all three are equal */
    ec_cuda_launcher *cuda;           /* NULL in a build without CUDA */
} ec_kernel;

#define EC_CONCAT_(a, b) a##b
#define EC_CONCAT(a, b)  EC_CONCAT_(a, b)

/* EC_ISA_SUFFIX is defined by the build as v1, v3 or v4 for each compilation of a kernel file. */
#define EC_KERNEL_CPU(name, args_type, body)                                                       \
    void EC_CONCAT(ec_cpu_##name##_, EC_ISA_SUFFIX)(const void *args, size_t lane0, size_t y);     \
    void EC_CONCAT(ec_cpu_##name##_, EC_ISA_SUFFIX)(const void *args, size_t lane0, size_t y)      \
    {                                                                                              \
        body((const args_type *)args, lane0, y);                                                   \
    }

/* EC_HAVE_CUDA is 1 in a build with the CUDA backend, else 0. It is looked at where a kernel is
 * declared, so that the compilation of no other file depends on it. */
#define EC_KERNEL_CUDA_PROTOTYPE_0(name)
#define EC_KERNEL_CUDA_PROTOTYPE_1(name)                                                           \
    int ec_cuda_##name(void *stream, const void *args, size_t lanes, size_t ny);
#define EC_KERNEL_CUDA_POINTER_0(name) NULL
#define EC_KERNEL_CUDA_POINTER_1(name) ec_cuda_##name
#define EC_KERNEL_CUDA_PROTOTYPE(name) EC_CONCAT(EC_KERNEL_CUDA_PROTOTYPE_, EC_HAVE_CUDA)(name)
#define EC_KERNEL_CUDA_POINTER(name)   EC_CONCAT(EC_KERNEL_CUDA_POINTER_, EC_HAVE_CUDA)(name)

/* EC_MULTI_ISA is 1 when the build compiles kernel files at three levels (x86-64), else only v1. */
#if EC_MULTI_ISA
#define EC_KERNEL_CPU_POINTERS(name)                                                               \
    {                                                                                              \
        ec_cpu_##name##_v1, ec_cpu_##name##_v3, ec_cpu_##name##_v4                                 \
    }
#define EC_KERNEL_CPU_PROTOTYPES(name)                                                             \
    ec_cpu_kernel ec_cpu_##name##_v1, ec_cpu_##name##_v3, ec_cpu_##name##_v4;
#else
#define EC_KERNEL_CPU_POINTERS(name)                                                               \
    {                                                                                              \
        ec_cpu_##name##_v1, ec_cpu_##name##_v1, ec_cpu_##name##_v1                                 \
    }
#define EC_KERNEL_CPU_PROTOTYPES(name) ec_cpu_kernel ec_cpu_##name##_v1;
#endif

#define EC_KERNEL_DECLARE_FLAGS(kname, args_type, kflags)                                          \
    EC_KERNEL_CPU_PROTOTYPES(kname)                                                                \
    EC_KERNEL_CUDA_PROTOTYPE(kname)                                                                \
    const ec_kernel ec_kernel_##kname = {#kname, sizeof(args_type), kflags,                        \
                                         EC_KERNEL_CPU_POINTERS(kname),                            \
                                         EC_KERNEL_CUDA_POINTER(kname)};
#define EC_KERNEL_DECLARE(name, args_type) EC_KERNEL_DECLARE_FLAGS(name, args_type, 0)

EC_C_END
#endif
