heptad_test(papers/p0/device_counts_test heptad_papers_p0_plan)
heptad_test(papers/p0/c1060_test heptad_papers_p0_plan)
heptad_test(papers/p0/p0_plan_test heptad_papers_p0_plan)
heptad_test(papers/p0/p0_products_test heptad_papers_p0_plan heptad_run)
heptad_test(papers/p0/p0_kernels_test heptad_papers_p0_plan heptad_run)
heptad_test(papers/p0/p0_device_test heptad_papers_p0_plan heptad_product_device LABELS gpu)
heptad_process_test(papers/p0/plan_c1060_test)
heptad_process_test(papers/p0/bench_p0_test)

heptad_test(papers/p0/bench_p0_record_test heptad_papers_p0_plan heptad_api heptad_check heptad_product_device heptad_product_file
            nlohmann_json::nlohmann_json ALONE)
if(TARGET papers_p0_bench_p0_record_test)
  foreach(source papers/p0/bench_p0_record bench/suites/bench_product bench/suites/bench_contest bench/suites/blocked_loop
          bench/suites/measured_error cli/interrupt cli/progress cli/text)
    target_sources(papers_p0_bench_p0_record_test PRIVATE ${PROJECT_SOURCE_DIR}/${source}.cpp)
  endforeach()
endif()
