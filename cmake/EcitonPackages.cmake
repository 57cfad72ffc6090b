# Packages of a build, made by `cpack` in its folder: a .deb, and a .tar.gz that runs where it is unpacked
# (it brings Eciton alone: the libraries that the .deb depends on have to be there).

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME eciton)
set(CPACK_PACKAGE_VENDOR "The Eciton authors")
# A .deb has to have an address. The project has none, and says so: .invalid is reserved for names that are none.
set(CPACK_PACKAGE_CONTACT "Eciton developers <no-reply@eciton.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Designs are described in Lua scripts and evaluated in whole populations, on the \
cores of a CPU or on a GPU: antenna arrays, MIMO antennas in scenes by ray tracing, microwave structures by FDTD.
 This package has the program eciton, its library with headers, examples and documentation.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_RESOURCE_FILE_README "${PROJECT_SOURCE_DIR}/README.md")
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot") # which draws the plots
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The program links the package's own library, which no other package has.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # and ldconfig is run

include(CPack)
