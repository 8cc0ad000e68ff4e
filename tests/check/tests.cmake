heptad_test(check/verify_exact_test heptad_check)
heptad_test(check/verify_float_test heptad_check)
heptad_test(check/error_test heptad_check)
heptad_test(check/verify_bits_test heptad_check)
