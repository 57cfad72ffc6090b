/* isa.c: which x86-64 level the processor and the operating system can run.
 *
 * The levels are those of the x86-64 psABI: v1 is the baseline, v3 has AVX2 and FMA, v4 has the
 * five AVX-512 subsets F, BW, CD, DQ and VL. __builtin_cpu_supports also asks the operating system
 * (XGETBV) for the AVX registers. */
#include "backend.h"
#include "backend_internal.h"

#include <string.h>

#if defined(__x86_64__)
static const char *const isa_names[EC_ISA_COUNT] = {"v1", "v3", "v4"};
#else
static const char *const isa_names[EC_ISA_COUNT] = {"plain", "plain", "plain"};
#endif

const char *ec_isa_name(int isa)
{
    return isa >= 0 && isa < EC_ISA_COUNT ? isa_names[isa] : "unknown";
}

int ec_isa_detect(void)
{
#if defined(__x86_64__) && EC_MULTI_ISA
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("f16c") || !__builtin_cpu_supports("lzcnt") ||
        !__builtin_cpu_supports("movbe"))
        return EC_ISA_V1;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return EC_ISA_V3;
    return EC_ISA_V4;
#else
    return EC_ISA_V1;
#endif
}

int ec_isa_choose(const char *word, int *isa)
{
    int best = ec_isa_detect();

    if (!word || !*word) {
        *isa = best;
        return EC_OK;
    }
    for (int level = 0; level < EC_ISA_COUNT; level++) {
        if (strcmp(word, isa_names[level]) != 0)
            continue;
        if (level > best)
            return ec_fail(
                EC_ERR_BACKEND,
                "ISA level '%s' (ECITON_ISA): this processor or this build has none above %s", word,
                isa_names[best]);
        *isa = level;
        return EC_OK;
    }
#if defined(__x86_64__)
    return ec_fail(EC_ERR_ARGUMENT,
                   "ISA level '%s' (ECITON_ISA) is unknown; allowed are v1, v3 and v4", word);
#else
    return ec_fail(EC_ERR_ARGUMENT, "ISA level '%s' (ECITON_ISA) is unknown; allowed is plain",
                   word);
#endif
}
