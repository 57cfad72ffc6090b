# How every file is compiled: eciton_compile_settings(target), and the instruction-set levels of
# kernel files: ECITON_ISA_LEVELS, ECITON_ISA_FLAGS_<level>, ECITON_KERNEL_FLAGS.

include(CheckCCompilerFlag)

# Kernels at several levels on x86-64, where the compiler knows the levels by name. With sanitizers
# at one, that of the machine: they look at the source, which is the same at each.
set(ECITON_ISA_LEVELS v1)
set(ECITON_ISA_FLAGS_v1 "")
set(ECITON_MULTI_ISA 0)
if(ECITON_SANITIZE)
    check_c_compiler_flag(-march=native ECITON_C_HAS_MARCH_NATIVE)
    if(ECITON_C_HAS_MARCH_NATIVE)
        set(ECITON_ISA_FLAGS_v1 -march=native)
    endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    check_c_compiler_flag(-march=x86-64-v4 ECITON_C_HAS_X86_64_LEVELS)
    if(ECITON_C_HAS_X86_64_LEVELS)
        set(ECITON_ISA_LEVELS v1 v3 v4)
        set(ECITON_ISA_FLAGS_v1 -march=x86-64)
        set(ECITON_ISA_FLAGS_v3 -march=x86-64-v3)
        set(ECITON_ISA_FLAGS_v4 -march=x86-64-v4)
        set(ECITON_MULTI_ISA 1)
    endif()
endif()

set(ECITON_KERNEL_FLAGS "")
if(NOT ECITON_SANITIZE)
    set(ECITON_KERNEL_FLAGS $<$<NOT:$<CONFIG:Debug>>:-O3>)
endif()

# Same seed, same bits: no contraction of a * b + c unless ec_fma is written. The other two change
# no value; without them a comparison or a square root in a loop keeps it from becoming SIMD.
set(ECITON_C_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math
    -Wall -Wextra -Wshadow -Wundef -Wvla -Wpointer-arith -Wwrite-strings
    -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)
if(NOT ECITON_OPENMP)
    list(APPEND ECITON_C_FLAGS -fopenmp-simd -Wno-unknown-pragmas)
endif()
if(ECITON_WERROR)
    list(APPEND ECITON_C_FLAGS -Werror)
endif()

set(ECITON_CUDA_FLAGS -O3 -Xcompiler=-Wall,-ffp-contract=off)
if(ECITON_WERROR)
    list(APPEND ECITON_CUDA_FLAGS -Werror=all-warnings -Xcompiler=-Werror)
endif()

set(ECITON_LINK_FLAGS LINKER:--as-needed)
if(ECITON_SANITIZE)
    # -O1 and -g1 come after the build type's flags and so win; reports end the program. Their lines
    # are in -g1; -g would say where each variable is, which takes as long as the rest.
    list(APPEND ECITON_C_FLAGS -O1 -g1 -fno-omit-frame-pointer
        -fsanitize=address,undefined -fno-sanitize-recover=all)
    list(APPEND ECITON_LINK_FLAGS -fsanitize=address,undefined)
endif()

# For targets that declare kernels or ask for the CUDA backend. The others, files of kernels above
# all, compile the same with and without it: a build that is configured again keeps their objects.
function(eciton_knows_cuda target)
    target_compile_definitions(${target} PRIVATE EC_HAVE_CUDA=$<BOOL:${ECITON_HAVE_CUDA}>)
endfunction()

function(eciton_compile_settings target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 17
        C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden
        CUDA_STANDARD 17
        CUDA_STANDARD_REQUIRED ON
        CUDA_EXTENSIONS OFF
        CUDA_VISIBILITY_PRESET hidden
        POSITION_INDEPENDENT_CODE ON)
    # core by name alone; a folder's own headers by name alone as well; core never sees the others.
    target_include_directories(${target} PRIVATE
        "${PROJECT_SOURCE_DIR}/core" "${PROJECT_SOURCE_DIR}")
    target_compile_definitions(${target} PRIVATE
        _GNU_SOURCE
        EC_VERSION="${PROJECT_VERSION}"
        EC_MULTI_ISA=${ECITON_MULTI_ISA})
    target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:C>:${ECITON_C_FLAGS}>"
        "$<$<COMPILE_LANGUAGE:CUDA>:${ECITON_CUDA_FLAGS}>")
    target_link_libraries(${target} PRIVATE eciton_dependencies)
endfunction()
