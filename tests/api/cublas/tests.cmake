# The cuBLAS drop-in: before a made-up cuBLAS that notes its calls, without any device; and before the real one.
if(NOT HEPTAD_SANITIZE)
  # Under the names of files, and with the symbol versions, that the real ones have.
  foreach(major 11 12)
    add_library(api_made_up_cublas_${major} SHARED api/cublas/made_up_cublas.cpp)
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/cublas_${major}.map CONTENT "libcublas.so.${major} { global: *; };\n")
    set_target_properties(api_made_up_cublas_${major} PROPERTIES OUTPUT_NAME cublas SOVERSION ${major}
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/made_up_cublas_${major})
    target_include_directories(api_made_up_cublas_${major} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_options(api_made_up_cublas_${major} PRIVATE
      -Wl,--version-script,${CMAKE_CURRENT_BINARY_DIR}/cublas_${major}.map)
  endforeach()
  target_compile_definitions(api_made_up_cublas_11 PRIVATE MADE_UP_11)
  add_library(api_cublas_private_caller MODULE api/cublas/private_caller.cpp)
  target_include_directories(api_cublas_private_caller PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(api_cublas_private_caller PRIVATE api_made_up_cublas_11)
  foreach(name drop_in_test knobs_test)
    heptad_test(api/cublas/${name} heptad_cublas api_made_up_cublas_12 ALONE) # in this order
    target_link_options(api_cublas_${name} PRIVATE -Wl,--no-as-needed)
  endforeach()
  target_compile_definitions(api_cublas_drop_in_test PRIVATE
    HEPTAD_PRIVATE_CALLER="$<TARGET_FILE:api_cublas_private_caller>")
  add_dependencies(api_cublas_drop_in_test api_cublas_private_caller)

  heptad_test(api/cublas/gemm_call_test heptad_cublas heptad_product_memory ALONE)
  target_sources(api_cublas_gemm_call_test PRIVATE ${PROJECT_SOURCE_DIR}/src/api/cublas/gemm_call.cpp)
  target_compile_definitions(api_cublas_gemm_call_test PRIVATE HEPTAD_CUBLAS_DROP_IN="$<TARGET_FILE:heptad_cublas>")

  if(HEPTAD_HAS_CUDA)
    heptad_test(api/cublas/abi_test ALONE)
    target_include_directories(api_cublas_abi_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(api_cublas_abi_test SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    if(TARGET CUDA::cublas)
      foreach(name device_drop_in_test device_levels_test)
        heptad_test(api/cublas/${name} heptad_cublas CUDA::cublas CUDA::cublasLt CUDA::cudart ALONE LABELS gpu)
      endforeach()
      add_executable(api_cublas_pass_on_time EXCLUDE_FROM_ALL api/cublas/pass_on_time.cpp) # a measurement, no test
      target_link_libraries(api_cublas_pass_on_time PRIVATE heptad_cublas CUDA::cublas CUDA::cudart)
      foreach(program device_drop_in_test device_levels_test pass_on_time)
        target_link_options(api_cublas_${program} PRIVATE -Wl,--no-as-needed)
      endforeach()
    endif()
  endif()
endif()
