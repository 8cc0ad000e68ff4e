# A good citizen of somebody else's process: memory limits, thread limits, fork, exit, failures at every call.
# `make test` runs a seeded sample of each (four minutes at most together), `make soak` the full counts (counts.hpp).
heptad_test(citizen/memory_limits_test heptad_api ALONE LABELS citizen)
heptad_test(citizen/fork_test heptad_api ALONE LABELS citizen)
heptad_test(citizen/exit_test heptad_api ALONE LABELS citizen)
heptad_test(citizen/thread_creation_test heptad_api ALONE LABELS citizen)
heptad_test(citizen/file_threads_test heptad_product_file ALONE LABELS citizen)
foreach(test citizen_thread_creation_test citizen_file_threads_test)
  if(TARGET ${test})
    set_target_properties(${test} PROPERTIES ENABLE_EXPORTS ON) # its pthread_create is for libraries too
  endif()
endforeach()

# Ranks that die: heptad-mpi with failures preloaded.
if((HEPTAD_OPEN_MPI OR HEPTAD_MPICH) AND NOT HEPTAD_SANITIZE)
  add_library(citizen_fail_at_call MODULE citizen/fail_at_call.cpp)
  target_link_libraries(citizen_fail_at_call PRIVATE MPI::MPI_CXX ${CMAKE_DL_LIBS})
  set_target_properties(citizen_fail_at_call PROPERTIES CXX_VISIBILITY_PRESET default) # it stands before libc's
  heptad_test(citizen/rank_death_test heptad_ranks_process ALONE LABELS citizen)
  target_compile_definitions(citizen_rank_death_test PRIVATE HEPTAD_FAIL_AT_CALL="$<TARGET_FILE:citizen_fail_at_call>")
  add_dependencies(citizen_rank_death_test citizen_fail_at_call)
endif()

# Allocation failure: programs whose allocations can be told to fail.
foreach(name pool_allocation_failure_test allocation_failure_test bit_allocation_failure_test first_use_test
        file_allocation_failure_test)
  heptad_test(citizen/${name} heptad_api heptad_product_file ALONE LABELS citizen)
  if(TARGET citizen_${name})
    target_sources(citizen_${name} PRIVATE citizen/failing_memory.cpp)
    target_link_options(citizen_${name} PRIVATE -Wl,--wrap=aligned_alloc -Wl,--wrap=mmap)
  endif()
endforeach()
if(HEPTAD_HAS_CUDA)
  heptad_test(citizen/device_allocation_failure_test heptad_api ALONE LABELS citizen gpu)
  if(TARGET citizen_device_allocation_failure_test)
    target_sources(citizen_device_allocation_failure_test PRIVATE citizen/failing_memory.cpp)
    target_include_directories(citizen_device_allocation_failure_test SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_options(citizen_device_allocation_failure_test PRIVATE -Wl,--wrap=aligned_alloc -Wl,--wrap=mmap
      -Wl,--wrap=cudaMalloc -Wl,--wrap=cudaMallocAsync)
  endif()
endif()
heptad_test(citizen/soak_test heptad_api ALONE LABELS citizen)

# The same for the built programs: a library that is preloaded lets their allocations fail.
if(NOT HEPTAD_SANITIZE)
  add_library(citizen_failing_shim MODULE citizen/failing_shim.cpp)
  target_link_libraries(citizen_failing_shim PRIVATE dl)
  set_target_properties(citizen_failing_shim PROPERTIES CXX_VISIBILITY_PRESET default)
  heptad_test(citizen/command_allocation_failure_test heptad_process ALONE LABELS citizen)
  target_compile_definitions(citizen_command_allocation_failure_test PRIVATE
    HEPTAD_SHIM="$<TARGET_FILE:citizen_failing_shim>")
  add_dependencies(citizen_command_allocation_failure_test citizen_failing_shim)
  if(HEPTAD_OPEN_MPI OR HEPTAD_MPICH)
    heptad_test(citizen/mpi_allocation_failure_test heptad_ranks_process ALONE LABELS citizen)
    target_compile_definitions(citizen_mpi_allocation_failure_test PRIVATE
      HEPTAD_SHIM="$<TARGET_FILE:citizen_failing_shim>")
    add_dependencies(citizen_mpi_allocation_failure_test citizen_failing_shim)
  endif()
endif()
