heptad_process_test(bench/report/report_test)
heptad_process_test(bench/report/report_markup_test ALONE)
if(TARGET bench_report_report_markup_test)
  target_compile_definitions(bench_report_report_markup_test PRIVATE HEPTAD_RESULTS="${PROJECT_SOURCE_DIR}/bench/results")
endif()

# Looked at in a browser, where there is one.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND TARGET heptad_cli AND NOT HEPTAD_SANITIZE)
  add_test(NAME bench/report/browser_test
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/browser_test.py $<TARGET_FILE:heptad_cli>
            ${PROJECT_SOURCE_DIR}/bench/results)
  set_tests_properties(bench/report/browser_test PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS slow)
endif()
