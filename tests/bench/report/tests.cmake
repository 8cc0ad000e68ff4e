heptad_process_test(bench/report/report_test)
