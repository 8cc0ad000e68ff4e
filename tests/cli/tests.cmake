# The built heptad, run as a user would; and the parsers of its words.
find_package(nlohmann_json REQUIRED)

function(heptad_process_test name)
  heptad_test(cli/${name} nlohmann_json::nlohmann_json ${ARGN})
  if(TARGET cli_${name})
    target_sources(cli_${name} PRIVATE cli/heptad_process.cpp)
    target_compile_definitions(cli_${name} PRIVATE HEPTAD_BINARY="$<TARGET_FILE:heptad_cli>")
    add_dependencies(cli_${name} heptad_cli)
  endif()
endfunction()

heptad_process_test(mul_test)
heptad_process_test(failures_test)
heptad_process_test(bits_test)
heptad_process_test(formats_test)
heptad_process_test(report_test)
heptad_process_test(commands_test)
heptad_process_test(plan_options_test)
heptad_process_test(plan_c1060_test)
heptad_process_test(plan_cluster_test)
heptad_process_test(device_test)
heptad_process_test(over_devices_test)
heptad_process_test(bit_device_test)
heptad_process_test(files_test)
heptad_process_test(file_kills_test LABELS slow)
heptad_process_test(bench_test LABELS timing)
heptad_process_test(interrupt_test LABELS timing)

heptad_test(cli/text_test heptad_base)
if(TARGET cli_text_test)
  target_sources(cli_text_test PRIVATE ${PROJECT_SOURCE_DIR}/cli/text.cpp ${PROJECT_SOURCE_DIR}/cli/bench_contest.cpp)
  target_include_directories(cli_text_test PRIVATE ${PROJECT_SOURCE_DIR})
endif()

heptad_test(cli/bench_p0_record_test heptad_api heptad_check heptad_place_devices heptad_place_file
            nlohmann_json::nlohmann_json)
if(TARGET cli_bench_p0_record_test)
  foreach(name bench_p0_record bench_product bench_contest blocked_loop interrupt operands progress text)
    target_sources(cli_bench_p0_record_test PRIVATE ${PROJECT_SOURCE_DIR}/cli/${name}.cpp)
  endforeach()
  target_include_directories(cli_bench_p0_record_test PRIVATE ${PROJECT_SOURCE_DIR})
endif()

heptad_test(cli/bench_model_test heptad_place_memory nlohmann_json::nlohmann_json)
if(TARGET cli_bench_model_test)
  target_sources(cli_bench_model_test PRIVATE ${PROJECT_SOURCE_DIR}/cli/bench_model_cases.cpp
                                              ${PROJECT_SOURCE_DIR}/cli/bench_model_summary.cpp)
  target_include_directories(cli_bench_model_test PRIVATE ${PROJECT_SOURCE_DIR})
endif()

heptad_test(cli/host_energy_test heptad_base)
if(TARGET cli_host_energy_test)
  target_sources(cli_host_energy_test PRIVATE ${PROJECT_SOURCE_DIR}/cli/host_energy.cpp)
  target_include_directories(cli_host_energy_test PRIVATE ${PROJECT_SOURCE_DIR})
endif()

heptad_test(cli/p1_algorithm_test heptad_run)
if(TARGET cli_p1_algorithm_test)
  target_sources(cli_p1_algorithm_test PRIVATE ${PROJECT_SOURCE_DIR}/cli/p1_algorithm.cpp)
  target_include_directories(cli_p1_algorithm_test PRIVATE ${PROJECT_SOURCE_DIR})
endif()

heptad_test(cli/p1_device_test heptad_place_devices LABELS gpu)
if(TARGET cli_p1_device_test)
  target_sources(
    cli_p1_device_test
    PRIVATE ${PROJECT_SOURCE_DIR}/cli/p1_algorithm.cpp ${PROJECT_SOURCE_DIR}/cli/bench_p1_device.cpp
            ${PROJECT_SOURCE_DIR}/cli/bench_p1_entries.cpp)
  target_include_directories(cli_p1_device_test PRIVATE ${PROJECT_SOURCE_DIR})
endif()

# heptad-mpi, several ranks on this machine. Where there is no MPI whose mpirun is known, that is said, not passed over.
foreach(name mpi_test mpi_resume_test mpi_verify_test mpi_device_test)
  if((HEPTAD_OPEN_MPI OR HEPTAD_MPICH) AND NOT HEPTAD_SANITIZE)
    if(name STREQUAL mpi_device_test)
      heptad_test(cli/${name} heptad_backend_cuda nlohmann_json::nlohmann_json LABELS gpu)
    else()
      heptad_test(cli/${name} nlohmann_json::nlohmann_json LABELS slow)
    endif()
    target_sources(cli_${name} PRIVATE cli/heptad_process.cpp)
    target_compile_definitions(cli_${name} PRIVATE HEPTAD_BINARY="${MPIEXEC_EXECUTABLE}"
      HEPTAD_MPI_BINARY="$<TARGET_FILE:heptad_mpi>" HEPTAD_OPEN_MPI=$<BOOL:${HEPTAD_OPEN_MPI}>)
    add_dependencies(cli_${name} heptad_mpi)
  elseif(NOT HEPTAD_SANITIZE)
    add_test(NAME cli/${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: no MPI was found when this was configured")
    set_tests_properties(cli/${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: no MPI")
  endif()
endforeach()
