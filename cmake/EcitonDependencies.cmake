# Finds what Eciton builds on, by pkg-config (names as on Debian; other systems' names of Lua too).
# Gives the target eciton_dependencies (what the library links) and PkgConfig::LUA (the program),
# and decides whether there is a CUDA backend: ECITON_HAVE_CUDA.

find_package(PkgConfig REQUIRED)
pkg_check_modules(NLOPT REQUIRED IMPORTED_TARGET nlopt)
pkg_check_modules(FFTW REQUIRED IMPORTED_TARGET fftw3)
pkg_check_modules(FFTWF REQUIRED IMPORTED_TARGET fftw3f)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
# Assimp's own CMake package is broken in Debian 12.
pkg_check_modules(ASSIMP REQUIRED IMPORTED_TARGET assimp)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_search_module(LUA REQUIRED IMPORTED_TARGET lua5.4 lua-5.4 lua54 lua>=5.4)
# The live view of the program, which goes without where it is not there.
pkg_check_modules(MICROHTTPD IMPORTED_TARGET "libmicrohttpd>=0.9.72")
if(ECITON_TESTS)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h)
if(NOT RANDOM123_INCLUDE_DIR)
    message(FATAL_ERROR "Random123/philox.h not found (Debian package librandom123-dev)")
endif()

add_library(eciton_dependencies INTERFACE)
target_include_directories(eciton_dependencies SYSTEM INTERFACE "${RANDOM123_INCLUDE_DIR}")
target_link_libraries(eciton_dependencies INTERFACE
    PkgConfig::NLOPT PkgConfig::FFTW PkgConfig::FFTWF PkgConfig::CJSON
    PkgConfig::ASSIMP PkgConfig::EXPAT PkgConfig::SQLITE m)

# Search methods that are driven by call-backs run on their own thread.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(eciton_dependencies INTERFACE Threads::Threads)

if(ECITON_OPENMP)
    find_package(OpenMP COMPONENTS C)
    if(NOT OpenMP_C_FOUND)
        message(FATAL_ERROR "the C compiler has no OpenMP; configure with -DECITON_OPENMP=OFF")
    endif()
    target_link_libraries(eciton_dependencies INTERFACE OpenMP::OpenMP_C)
endif()

# ---- CUDA --------------------------------------------------------------------------------------

string(TOUPPER "${ECITON_CUDA}" ECITON_CUDA_WISH)
if(NOT ECITON_CUDA_WISH MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|1|0|YES|NO)$")
    message(FATAL_ERROR "ECITON_CUDA is '${ECITON_CUDA}'; allowed are AUTO, ON and OFF")
endif()

set(ECITON_HAVE_CUDA OFF)
set(ECITON_CUDA_SUMMARY "off")
if(ECITON_CUDA_WISH STREQUAL "AUTO" OR ECITON_CUDA_WISH)
    # The toolkit's usual folder is often not in PATH.
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        find_program(ECITON_NVCC nvcc PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
            PATH_SUFFIXES bin)
        mark_as_advanced(ECITON_NVCC)
        if(ECITON_NVCC)
            set(CMAKE_CUDA_COMPILER "${ECITON_NVCC}")
        endif()
    endif()
    # 80 and 90: machine code for A100 and H100, and PTX that every later card can translate. Set
    # here because CMake's own default is a card that current toolkits no longer know.
    if(NOT CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES "80;90" CACHE STRING "Compute capabilities to compile for")
    endif()

    if(ECITON_CUDA_WISH STREQUAL "AUTO")
        if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
            set(CMAKE_REQUIRED_QUIET ON)
            include(CheckLanguage)
            check_language(CUDA)
            unset(CMAKE_REQUIRED_QUIET)
        endif()
        if(CMAKE_CUDA_COMPILER)
            set(ECITON_HAVE_CUDA ON)
        else()
            set(ECITON_CUDA_SUMMARY "off (no working CUDA compiler)")
        endif()
    else()
        set(ECITON_HAVE_CUDA ON)
    endif()
endif()

if(ECITON_HAVE_CUDA)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(ECITON_CUDA_SUMMARY
        "${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
endif()
