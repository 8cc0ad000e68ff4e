# Debian packages, one for each component of install.cmake: `cpack` in a build folder makes them, `make package` from a
# build that is laid out for /usr (preset `package`). What a package depends on is read from its binaries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heptad)
set(CPACK_PACKAGE_VENDOR "The Heptad authors")
set(CPACK_PACKAGE_CONTACT "The Heptad authors <heptad@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL "")

# heptad_package(component name section description): of what `component` installs, with the licence.
macro(heptad_package component name section description)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} RENAME copyright
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()
set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(ldconfig_trigger ${PROJECT_SOURCE_DIR}/packaging/triggers)

heptad_package(library libheptad libs
  "The library. Multiplies large matrices faster than a classical BLAS, within an\nerror bound that the caller sets. With the BLAS drop-in for LD_PRELOAD.")
# The fastest leaf for small products is a BLAS that is found at run time.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS libopenblas0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${ldconfig_trigger})

heptad_package(dev libheptad-dev libdevel
  "Headers for C++20 and C, a CMake package and files for pkg-config.")
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libheptad ${same_version}")

heptad_package(program heptad math
  "The program. Multiplies, plans, verifies and generates matrices in files, and\ncompares Heptad with the BLAS of this machine.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS libopenblas0)

if(TARGET heptad_blas_alternative)
  heptad_package(blas libheptad-blas libs
    "An alternative for libblas.so.3. Heptad carries out large gemm and syrk calls,\nand OpenBLAS does everything else.")
  set(CPACK_DEBIAN_BLAS_PACKAGE_PROVIDES libblas.so.3)
  set(blas_link /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libblas.so.3)
  set(blas_alternative libblas.so.3-${CMAKE_LIBRARY_ARCHITECTURE})
  set(blas_path /usr/${CMAKE_INSTALL_LIBDIR}/heptad/libblas.so.3)
  set(blas_priority 110) # OpenBLAS has 100: who installs this package wants it
  foreach(script postinst prerm)
    configure_file(${PROJECT_SOURCE_DIR}/packaging/${script}.in ${PROJECT_BINARY_DIR}/packaging/${script} @ONLY)
  endforeach()
  set(CPACK_DEBIAN_BLAS_PACKAGE_CONTROL_EXTRA
    "${PROJECT_BINARY_DIR}/packaging/postinst;${PROJECT_BINARY_DIR}/packaging/prerm;${ldconfig_trigger}")
endif()

# By itself, so that nothing else depends on MPI.
if(TARGET heptad_mpi)
  heptad_package(mpi heptad-mpi math
    "On a cluster: heptad-mpi, and psgemm_ to pzgemm_ in the place of ScaLAPACK's.")
  # The library of MPI alone starts nothing, not even one rank: that takes the launcher and its daemon.
  if(HEPTAD_OPEN_MPI)
    set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS openmpi-bin)
  elseif(HEPTAD_MPICH)
    set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS mpich)
  endif()
  set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "libheptad-dev ${same_version}") # whose CMake package it extends
  set(CPACK_DEBIAN_MPI_PACKAGE_CONTROL_EXTRA ${ldconfig_trigger})
endif()

include(CPack)
