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
    # The prefix was given at installation, not when the build was configured.
    execute_process(COMMAND pkg-config --cflags --libs eciton
        OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
    execute_process(COMMAND pkg-config --modversion eciton
        OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0 OR NOT found STREQUAL version)
        message(FATAL_ERROR "pkg-config finds eciton '${found}', expected ${version}")
    endif()
    separate_arguments(flags UNIX_COMMAND "${flags}")
    foreach(program consumer consumer_callback)
        run("${c_compiler}" -std=c17 -Wall -Wextra -Werror "${source_dir}/${program}.c"
            -o "${work_dir}/build/${program}" ${flags} "-Wl,-rpath,${prefix}/${libdir}")
    endforeach()
    # The guide's example of an evaluator needs installed headers and public functions alone.
    foreach(file microstrip.h microstrip_kernels.h microstrip.c microstrip_kernels.c)
        file(READ "${source_dir}/../extend/${file}" text)
        string(REPLACE "#include \"core/" "#include \"" text "${text}")
        file(CONFIGURE OUTPUT "${work_dir}/build/${file}" CONTENT "${text}" @ONLY)
    endforeach()
    run("${c_compiler}" -std=c17 -Wall -Wextra -Werror -shared -fPIC -ffp-contract=off
        -DEC_ISA_SUFFIX=v1 -DEC_MULTI_ISA=0 -DEC_HAVE_CUDA=0 "-I${prefix}/include/eciton"
        "${work_dir}/build/microstrip.c" "${work_dir}/build/microstrip_kernels.c"
        -o "${work_dir}/build/microstrip.so" ${flags} "-Wl,-rpath,${prefix}/${libdir}" -Wl,--no-undefined -lm)
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

# The program finds its library and the Lua library from where it lies: in a tree that was moved since it
# was installed, called from another folder by a link and through PATH, with nothing that tells the way.
if(EXISTS "${prefix}/bin/eciton")
    foreach(file share/eciton/lua/eciton.lua share/eciton/examples/chebyshev_check.lua
            share/eciton/lua/eciton.meta.lua share/man/man1/eciton.1
            share/bash-completion/completions/eciton share/zsh/site-functions/_eciton
            share/doc/eciton/LICENSE share/doc/eciton/docs/guide/README.md)
        if(NOT EXISTS "${prefix}/${file}")
            message(FATAL_ERROR "${file} was not installed")
        endif()
    endforeach()
    set(moved "${work_dir}/moved there")
    set(elsewhere "${work_dir}/elsewhere")
    file(RENAME "${prefix}" "${moved}")
    file(MAKE_DIRECTORY "${elsewhere}")
    file(CREATE_LINK "${moved}/bin/eciton" "${elsewhere}/linked" SYMBOLIC)
    file(WRITE "${elsewhere}/script.lua" "print(#require('eciton').taper.uniform{ count = 3 })\n")
    foreach(program ./linked eciton)
        execute_process(
            COMMAND ${CMAKE_COMMAND} -E env "PATH=${moved}/bin:$ENV{PATH}" --unset=LD_LIBRARY_PATH
                ${program} run script.lua
            WORKING_DIRECTORY "${elsewhere}" OUTPUT_VARIABLE said RESULT_VARIABLE status)
        if(NOT status EQUAL 0 OR NOT said MATCHES "^3\n")
            message(FATAL_ERROR "status ${status} from ${program}, which said '${said}'")
        endif()
    endforeach()
endif()
