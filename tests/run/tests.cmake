heptad_test(run/symbolic_test heptad_run LABELS slow)
heptad_test(run/p0_products_test heptad_run)
heptad_test(run/p0_kernels_test heptad_run)
heptad_test(run/deferred_guard_test heptad_run)
