heptad_test(run/symbolic_test heptad_run LABELS slow)
heptad_test(run/deferred_guard_test heptad_run)
