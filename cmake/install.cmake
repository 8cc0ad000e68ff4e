# What `cmake --install` leaves: headers, libheptad.so, heptad, the BLAS drop-in, the CMake package heptad::heptad, heptad.pc and
# those of the drop-in.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What `make build` builds: everything that is installed, heptad-mpi and the ScaLAPACK library where MPI is.
add_custom_target(heptad_programs)
foreach(program heptad_cli heptad_shared heptad_blas heptad_blas_prefixed heptad_mpi heptad_scalapack)
  if(TARGET ${program})
    add_dependencies(heptad_programs ${program})
  endif()
endforeach()

if(TARGET heptad_cli)
  set_target_properties(heptad_cli PROPERTIES OUTPUT_NAME heptad RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  file(RELATIVE_PATH library_from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(heptad_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_program}")
  install(TARGETS heptad_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(TARGET heptad_shared)
  set_target_properties(heptad_shared PROPERTIES
    OUTPUT_NAME heptad
    EXPORT_NAME heptad
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}
    # Users see include/heptad and nothing of src/, in the build folder as after installation.
    INTERFACE_INCLUDE_DIRECTORIES
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>;$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
  add_library(heptad::heptad ALIAS heptad_shared)
  if(NOT HEPTAD_SANITIZE) # whose runtime is undefined in a library until a program brings it
    target_link_options(heptad_shared PRIVATE -Wl,--no-undefined)
  endif()

  install(TARGETS heptad_shared EXPORT heptad_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/heptad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heptad)
  install(EXPORT heptad_targets NAMESPACE heptad:: DESTINATION ${package_dir} FILE heptadTargets.cmake)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heptadConfig.cmake.in
    ${PROJECT_BINARY_DIR}/heptadConfig.cmake INSTALL_DESTINATION ${package_dir})
  # Before 1.0 a minor release may change the interface.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/heptadConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/heptadConfig.cmake ${PROJECT_BINARY_DIR}/heptadConfigVersion.cmake
    DESTINATION ${package_dir})

  # The prefix is found from where heptad.pc lies, so that an installed tree can be moved.
  file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/heptad.pc.in ${PROJECT_BINARY_DIR}/heptad.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/heptad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

  foreach(drop_in heptad_blas heptad_blas_prefixed)
    install(TARGETS ${drop_in} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL) # where it was built
    configure_file(${PROJECT_SOURCE_DIR}/cmake/drop_in.pc.in ${PROJECT_BINARY_DIR}/${drop_in}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${drop_in}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
endif()
