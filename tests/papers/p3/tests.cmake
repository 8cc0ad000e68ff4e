heptad_process_test(papers/p3/bench_p3_test)
