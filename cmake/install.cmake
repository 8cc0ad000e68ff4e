# What `cmake --install` leaves: headers, libheptad.so, heptad, the drop-ins, the CMake package heptad::heptad and
# heptad.pc. Where they were built also heptad-mpi, and libheptad_scalapack.so with heptad::scalapack.
#
# Components, each a Debian package (package.cmake): library, dev, program, blas, mpi.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What `make build` builds: everything that is installed, heptad-mpi and the ScaLAPACK library where MPI is.
add_custom_target(heptad_programs)
foreach(program heptad_cli heptad_shared heptad_blas heptad_blas_prefixed heptad_blas_alternative heptad_cublas heptad_mpi
                heptad_scalapack)
  if(TARGET ${program})
    add_dependencies(heptad_programs ${program})
  endif()
endforeach()

if(TARGET heptad_cli)
  set_target_properties(heptad_cli PROPERTIES OUTPUT_NAME heptad RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  file(RELATIVE_PATH library_from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(heptad_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_program}")
  install(TARGETS heptad_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heptad)

# heptad::NAME, of which users see include/heptad and nothing of src/, in the build folder as after installation.
function(heptad_public_library target name)
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}
    INTERFACE_INCLUDE_DIRECTORIES
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>;$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
  add_library(heptad::${name} ALIAS ${target})
endfunction()

# NAME.pc with these link flags. The prefix is found from where it lies, so that an installed tree can be moved.
function(heptad_pkg_config pc_name pc_flags pc_description)
  file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/heptad.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
endfunction()

if(TARGET heptad_shared)
  set_target_properties(heptad_shared PROPERTIES OUTPUT_NAME heptad)
  heptad_public_library(heptad_shared heptad)
  if(NOT HEPTAD_SANITIZE) # whose runtime is undefined in a library until a program brings it
    target_link_options(heptad_shared PRIVATE -Wl,--no-undefined)
  endif()

  install(TARGETS heptad_shared EXPORT heptad_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/heptad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)

  install(EXPORT heptad_targets NAMESPACE heptad:: DESTINATION ${package_dir} FILE heptadTargets.cmake COMPONENT dev)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heptadConfig.cmake.in
    ${PROJECT_BINARY_DIR}/heptadConfig.cmake INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
  # Before 1.0 a minor release may change the interface.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/heptadConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/heptadConfig.cmake ${PROJECT_BINARY_DIR}/heptadConfigVersion.cmake
    DESTINATION ${package_dir} COMPONENT dev)

  heptad_pkg_config(heptad -lheptad "${PROJECT_DESCRIPTION}; from C, or from C++20 (compile with -std=c++20 or later)")
  install(FILES ${PROJECT_BINARY_DIR}/heptad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

  install(TARGETS heptad_cublas # is preloaded, never linked
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL COMPONENT library NAMELINK_COMPONENT library)
  foreach(drop_in heptad_blas heptad_blas_prefixed)
    install(TARGETS ${drop_in} # where it was built
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL COMPONENT library NAMELINK_COMPONENT dev)
    # Nothing is said about what follows: the BLAS, which --as-needed would drop where all that is called is ours.
    heptad_pkg_config(${drop_in} "-Wl,--push-state,--no-as-needed -l${drop_in} -Wl,--pop-state"
      "large gemm and syrk calls by Heptad; link it before the BLAS")
    install(FILES ${PROJECT_BINARY_DIR}/${drop_in}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
  endforeach()
  if(TARGET heptad_blas_alternative)
    install(TARGETS heptad_blas_alternative
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heptad OPTIONAL COMPONENT blas NAMELINK_SKIP)
  endif()
endif()

if(TARGET heptad_scalapack)
  heptad_public_library(heptad_scalapack scalapack)
  install(TARGETS heptad_scalapack EXPORT heptad_scalapack_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL COMPONENT mpi)
  install(EXPORT heptad_scalapack_targets NAMESPACE heptad:: DESTINATION ${package_dir} FILE heptadScalapackTargets.cmake
    COMPONENT mpi)
  heptad_pkg_config(heptad-scalapack -lheptad_scalapack
    "psgemm_, pdgemm_, pcgemm_ and pzgemm_ in the place of ScaLAPACK's: link it before ScaLAPACK, or preload it")
  install(CODE "if(EXISTS $<TARGET_FILE:heptad_scalapack>)
  file(INSTALL ${PROJECT_BINARY_DIR}/heptad-scalapack.pc DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()" COMPONENT mpi)
endif()
