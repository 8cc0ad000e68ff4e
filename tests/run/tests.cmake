heptad_test(run/symbolic_test heptad_run LABELS slow)
