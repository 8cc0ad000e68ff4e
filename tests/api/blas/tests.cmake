# The BLAS drop-in: before a BLAS of plain loops, under netlib's and LAPACK's own testers, and inside of interpreters.
if(NOT HEPTAD_SANITIZE)
  add_library(api_made_up_blas SHARED api/blas/made_up_blas.cpp)
  target_include_directories(api_made_up_blas PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  add_library(api_private_blas MODULE api/blas/private_blas.cpp)
  foreach(name drop_in_test complex_drop_in_test float_exceptions_test knobs_test short_of_memory_test)
    heptad_test(api/blas/${name} heptad_blas api_made_up_blas ALONE) # in this order
    target_link_options(api_blas_${name} PRIVATE -Wl,--no-as-needed)
  endforeach()
  target_compile_definitions(api_blas_drop_in_test PRIVATE HEPTAD_PRIVATE_BLAS="$<TARGET_FILE:api_private_blas>")
  add_dependencies(api_blas_drop_in_test api_private_blas)

  heptad_test(api/blas/link_line_test ALONE)
  target_compile_definitions(api_blas_link_line_test PRIVATE HEPTAD_BLAS_LIBRARY="$<TARGET_FILE:heptad_blas>"
    HEPTAD_BUILD="${PROJECT_BINARY_DIR}" HEPTAD_CC="${CMAKE_C_COMPILER}"
    HEPTAD_DROP_IN_PAGE="${PROJECT_SOURCE_DIR}/docs/drop-in.md" HEPTAD_MADE_UP_BLAS="$<TARGET_FILE:api_made_up_blas>")
  add_dependencies(api_blas_link_line_test heptad_blas heptad_blas_prefixed api_made_up_blas)

  if(HEPTAD_HAS_CUDA)
    heptad_test(api/blas/device_test heptad_blas api_made_up_blas ALONE LABELS gpu)
    target_link_options(api_blas_device_test PRIVATE -Wl,--no-as-needed)
  endif()

  foreach(name netlib_testers_test interpreters_test)
    heptad_test(api/blas/${name} ALONE)
    target_compile_definitions(api_blas_${name} PRIVATE HEPTAD_BLAS_LIBRARY="$<TARGET_FILE:heptad_blas>"
      HEPTAD_LIBRARY_FOLDER="/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}" HEPTAD_WHEELS="${CMAKE_CURRENT_BINARY_DIR}/wheels")
    add_dependencies(api_blas_${name} heptad_blas)
  endforeach()

  # A library as docs/drop-in.md makes it for Julia and FlexiBLAS: nothing but its dependencies.
  find_library(HEPTAD_SYSTEM_BLAS NAMES libblas.so.3 libopenblas.so.0)
  if(HEPTAD_SYSTEM_BLAS)
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/backend.cpp CONTENT "")
    add_library(api_blas_backend MODULE ${CMAKE_CURRENT_BINARY_DIR}/backend.cpp)
    target_link_options(api_blas_backend PRIVATE -Wl,--no-as-needed)
    target_link_libraries(api_blas_backend PRIVATE heptad_blas ${HEPTAD_SYSTEM_BLAS})
    heptad_test(api/blas/backend_loader_test ALONE)
    target_compile_definitions(api_blas_backend_loader_test PRIVATE HEPTAD_BACKEND="$<TARGET_FILE:api_blas_backend>"
      HEPTAD_PREFIXED="$<TARGET_FILE:heptad_blas_prefixed>")
    add_dependencies(api_blas_backend_loader_test api_blas_backend heptad_blas_prefixed)
  endif()
endif()
