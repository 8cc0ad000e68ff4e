heptad_test(api/multiply_test heptad_api)
heptad_test(api/c_api_test heptad_api)
heptad_test(api/out_of_memory_test heptad_api ALONE)
heptad_test(api/batch_test heptad_api)
heptad_test(api/bits_test heptad_api)
heptad_test(api/bits_c_test heptad_api)
heptad_test(api/over_devices_test heptad_api)
if(HEPTAD_HAS_CUDA)
  heptad_test(api/device_pointers_test heptad_api CUDA::toolkit LABELS gpu)
  if(TARGET CUDA::cublas AND TARGET heptad_shared)
    add_executable(api_small_product_time EXCLUDE_FROM_ALL api/small_product_time.cpp) # a measurement, no test
    target_link_libraries(api_small_product_time PRIVATE heptad_shared CUDA::cublas CUDA::cudart)
  endif()
endif()
heptad_test(api/files_test heptad_api)
heptad_test(api/check_test heptad_api)

# psgemm_, pdgemm_, pcgemm_ and pzgemm_ beside those of ScaLAPACK, where it is installed. One thread for each rank and call: there are more
# ranks than cores already.
set(every_size HEPTAD_MIN_SIZE=1 OPENBLAS_NUM_THREADS=1 HEPTAD_THREADS=1)
find_library(HEPTAD_SCALAPACK_LIBRARY NAMES scalapack-openmpi scalapack)
if(HEPTAD_OPEN_MPI AND HEPTAD_SCALAPACK_LIBRARY AND NOT HEPTAD_SANITIZE)
  add_executable(api_scalapack_check api/scalapack_check.cpp)
  target_compile_definitions(api_scalapack_check PRIVATE HEPTAD_SCALAPACK="${HEPTAD_SCALAPACK_LIBRARY}")
  target_link_libraries(api_scalapack_check PRIVATE heptad_scalapack ${HEPTAD_SCALAPACK_LIBRARY} MPI::MPI_CXX dl)
  foreach(grid "1 1 Row" "2 2 Row" "2 3 Col" "1 3 Row")
    string(REPLACE " " ";" words ${grid})
    list(GET words 0 rows)
    list(GET words 1 cols)
    math(EXPR ranks "${rows} * ${cols}")
    add_test(NAME api/scalapack_check.${rows}x${cols} COMMAND ${MPIEXEC_EXECUTABLE} ${HEPTAD_MPI_TEST_WORDS} -n ${ranks}
      $<TARGET_FILE:api_scalapack_check> ${words})
    set_tests_properties(api/scalapack_check.${rows}x${cols} PROPERTIES TIMEOUT 300 RESOURCE_LOCK mpirun
      ENVIRONMENT "${every_size}")
  endforeach()
elseif(NOT HEPTAD_SANITIZE)
  add_test(NAME api/scalapack_check COMMAND ${CMAKE_COMMAND} -E echo "skipped: no ScaLAPACK to compare with")
  set_tests_properties(api/scalapack_check PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: no ScaLAPACK")
endif()

# ScaLAPACK's own testers, as Debian has them, with the library preloaded: level 3 of PBLAS with its error exits, LU,
# orthogonal factorizations and inverses.
find_path(HEPTAD_SCALAPACK_TESTERS PBLAS/dpb3tst PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib
  PATH_SUFFIXES scalapack/openmpi-tests NO_DEFAULT_PATH)
if(HEPTAD_OPEN_MPI AND HEPTAD_SCALAPACK_TESTERS AND NOT HEPTAD_SANITIZE)
  foreach(tester PBLAS/spb3tst PBLAS/dpb3tst PBLAS/cpb3tst PBLAS/zpb3tst xdlu xdqr xdinv)
    get_filename_component(name ${tester} NAME)
    add_test(NAME api/scalapack_testers.${name} COMMAND ${CMAKE_COMMAND}
      "-DMPIRUN=${MPIEXEC_EXECUTABLE};${HEPTAD_MPI_TEST_WORDS}"
      -DTESTER=${HEPTAD_SCALAPACK_TESTERS}/${tester}
      -DLIBRARY=$<TARGET_FILE:heptad_scalapack>
      -P ${CMAKE_CURRENT_LIST_DIR}/scalapack_testers.cmake)
    # Thousands of tiny messages: beside other tests, ranks that share cores wait for each of them.
    set_tests_properties(api/scalapack_testers.${name} PROPERTIES TIMEOUT 600 RUN_SERIAL ON LABELS scalapack
      ENVIRONMENT "${every_size}")
  endforeach()
elseif(NOT HEPTAD_SANITIZE)
  add_test(NAME api/scalapack_testers COMMAND ${CMAKE_COMMAND} -E echo
    "skipped: no testers of ScaLAPACK (Debian's scalapack-mpi-test), or no Open MPI")
  set_tests_properties(api/scalapack_testers PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: no testers" LABELS scalapack)
endif()
