# Installs the build into an empty folder, builds the consumer against it as a stranger would, and
# runs it. way=cmake finds the library by find_package, way=pkgconfig by pkg-config.

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "status ${status} from: ${ARGN}")
    endif()
endfunction()

set(prefix "${work_dir}/prefix")
file(REMOVE_RECURSE "${work_dir}")
file(MAKE_DIRECTORY "${work_dir}/build")
run(${CMAKE_COMMAND} --install "${build_dir}" --prefix "${prefix}" --config "${config}")

if(way STREQUAL "cmake")
    run(${CMAKE_COMMAND} -S "${source_dir}" -B "${work_dir}/build" -G "${generator}"
        "-DCMAKE_C_COMPILER=${c_compiler}" "-DCMAKE_PREFIX_PATH=${prefix}")
    run(${CMAKE_COMMAND} --build "${work_dir}/build")
elseif(way STREQUAL "pkgconfig")
    set(ENV{PKG_CONFIG_PATH} "${prefix}/${libdir}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
    # The file names the prefix of the configuration; this prefix was given at installation.
    set(query pkg-config "--define-variable=prefix=${prefix}")
    execute_process(COMMAND ${query} --cflags --libs eciton
        OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
    execute_process(COMMAND ${query} --modversion eciton
        OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0 OR NOT found STREQUAL version)
        message(FATAL_ERROR "pkg-config finds eciton '${found}', expected ${version}")
    endif()
    separate_arguments(flags UNIX_COMMAND "${flags}")
    foreach(program consumer consumer_callback)
        run("${c_compiler}" -std=c17 -Wall -Wextra -Werror "${source_dir}/${program}.c"
            -o "${work_dir}/build/${program}" ${flags} "-Wl,-rpath,${prefix}/${libdir}")
    endforeach()
    # Each installed header stands on its own.
    file(GLOB headers "${prefix}/include/eciton/*.h")
    foreach(header IN LISTS headers)
        run("${c_compiler}" -std=c17 -Wall -Wextra -Werror -fsyntax-only -x c "${header}")
    endforeach()
else()
    message(FATAL_ERROR "way is '${way}'; allowed are cmake and pkgconfig")
endif()
run("${work_dir}/build/consumer")
run("${work_dir}/build/consumer_callback")

# The installed program finds its Lua library from where it lies, wherever that is.
if(EXISTS "${prefix}/bin/eciton")
    run("${prefix}/bin/eciton" info)
    if(NOT EXISTS "${prefix}/share/eciton/lua/eciton.lua")
        message(FATAL_ERROR "the Lua library was not installed")
    endif()
endif()
