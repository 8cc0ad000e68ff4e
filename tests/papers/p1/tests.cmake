heptad_process_test(papers/p1/bench_p1_test)

heptad_test(papers/p1/p1_algorithm_test heptad_run ALONE)
if(TARGET papers_p1_p1_algorithm_test)
  target_sources(papers_p1_p1_algorithm_test PRIVATE ${PROJECT_SOURCE_DIR}/papers/p1/p1_algorithm.cpp)
  target_include_directories(papers_p1_p1_algorithm_test PRIVATE ${PROJECT_SOURCE_DIR})
endif()

heptad_test(papers/p1/p1_device_test heptad_papers_p1_verbs heptad_product_device ALONE LABELS gpu)
if(TARGET papers_p1_p1_device_test)
  foreach(name p1_algorithm bench_p1_device bench_p1_entries)
    target_sources(papers_p1_p1_device_test PRIVATE ${PROJECT_SOURCE_DIR}/papers/p1/${name}.cpp)
  endforeach()
endif()
